// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// What NIO takes a buffer's regions by, for a buffer that goes to many channels: made once, where else each write
/// makes its own.
///
/// ```java
/// NioViews views = NioViews.of(message);
/// for (Channel each : channels) {
///     each.writeAndFlush(new BinaryWebSocketFrame(SealedByteBuf.share(message, views)));
/// }
/// ```
///
/// It holds no memory: a `ByteBuf` that was shared with it does, by its own handle. Thread-safe.
public final class NioViews {

    // never shown: each write gets a copy, which has a position of its own
    private final MemorySegment[] regions;
    private final ByteBuffer[] views;

    private NioViews(MemorySegment[] regions, ByteBuffer[] views) {
        this.regions = regions;
        this.views = views;
    }

    /// Views of a buffer's regions.
    ///
    /// @param buffer open; it may be closed before they are used
    /// @return for shares of this buffer; with another one they are of no use, and do no harm
    /// @throws io.bulla.buffer.ReleasedBufferException if the buffer is closed
    /// @throws IllegalArgumentException if there are more than 2 GiB - 1 bytes
    public static NioViews of(SealedBuffer buffer) {
        IoVec bytes = buffer.iovec().lent();
        SealedByteBuf.checkSize(bytes.byteSize());
        MemorySegment[] regions = new MemorySegment[bytes.regionCount()];
        ByteBuffer[] views = new ByteBuffer[regions.length];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = bytes.region(i);
            views[i] = regions[i].asByteBuffer();
        }
        return new NioViews(regions, views);
    }

    /// @return of all of the region; `null` if it is another buffer's
    @Nullable
    ByteBuffer of(int number, MemorySegment region) {
        return number < regions.length && regions[number] == region ? views[number] : null;
    }
}
