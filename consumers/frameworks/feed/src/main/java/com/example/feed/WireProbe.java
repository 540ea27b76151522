// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** Next to the sockets: whether what goes out is the memory of the message itself, or a copy for this client. */
@Sharable
final class WireProbe extends ChannelOutboundHandlerAdapter {

    // longer than a header, a close frame and a ping
    private static final int SHORTEST = 40;

    // each region's address, and the one behind it
    private final NavigableMap<Long, Long> regions = new ConcurrentSkipListMap<>();
    private final LongAdder shared = new LongAdder();
    private final LongAdder copied = new LongAdder();

    /** What is published from now on. */
    void expect(SealedBuffer message) {
        IoVec bytes = message.iovec();
        for (int i = 0; i < bytes.regionCount(); i++) {
            MemorySegment region = bytes.region(i);
            regions.merge(region.address(), region.address() + region.byteSize(), Math::max);
        }
    }

    @Override
    public void write(ChannelHandlerContext to, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes && bytes.refCnt() > 0 && bytes.readableBytes() > SHORTEST) {
            (isShared(bytes) ? shared : copied).increment();
        }
        to.write(message, promise);
    }

    private boolean isShared(ByteBuf bytes) {
        if (!bytes.isDirect()) {
            return false;
        }
        for (ByteBuffer each : bytes.nioBuffers()) {
            MemorySegment segment = MemorySegment.ofBuffer(each);
            Map.Entry<Long, Long> region = regions.floorEntry(segment.address());
            if (region == null || segment.address() + segment.byteSize() > region.getValue()) {
                return false;
            }
        }
        return true;
    }

    long shared() {
        return shared.sum();
    }

    long copied() {
        return copied.sum();
    }
}
