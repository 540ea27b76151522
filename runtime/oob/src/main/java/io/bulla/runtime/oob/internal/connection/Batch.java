// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Short messages that are written in one go: their headers and copies of their bytes, behind the header of a
/// batch. The peer lands all of them at once. One alone goes without that header.
final class Batch {

    private static final int SIZE = 32 << 10;

    private final ByteBuf out;
    private final ByteBuffer view;
    private final MemorySegment memory;
    private @Nullable List<PendingSend> tell;
    private int end = Frame.BYTES;
    private int messages;

    /// @param bytes of the first message, with its header
    /// @param likely how many of that size there may be
    Batch(ByteBufAllocator alloc, int bytes, int likely) {
        int capacity = Frame.BYTES + (int) Math.max(bytes, Math.min(SIZE, (long) bytes * likely));
        out = alloc.directBuffer(capacity, capacity);
        // each call on a buffer of Netty's asks more than these do
        view = out.nioBuffer(0, capacity);
        memory = MemorySegment.ofBuffer(view);
    }

    boolean hasRoom(int bytes) {
        return view.capacity() - end >= bytes;
    }

    void add(PendingSend send, Lane lane) {
        int body = end + Frame.BYTES;
        header(view, end, lane, send, (int) send.bytes);
        if (send.bytes > 0) {
            Objects.requireNonNull(send.handle, "handle")
                    .iovec()
                    .copyTo(0, memory.asSlice(body, send.bytes), send.bytes);
        }
        end = body + (int) send.bytes;
        messages++;
        if (send.options.level() == Delivery.Status.WRITTEN) {
            tell = tell == null ? new ArrayList<>() : tell;
            tell.add(send);
        }
    }

    /// The header of the next piece of a message.
    static void header(ByteBuffer out, int at, Lane lane, PendingSend send, int length) {
        Frame.write(
                out,
                at,
                send.kind,
                send.mark(),
                send.tag,
                send.origin(),
                send.sequence,
                send.offset,
                send.bytes,
                send.session(),
                send.number(),
                length,
                lane.code);
    }

    /// Nothing of it is written.
    void release() {
        out.release();
    }

    void writeTo(Channel channel, int rank, Environment clock) {
        if (messages == 0) {
            out.release();
            return;
        }
        boolean whole = false;
        try {
            if (messages == 1) {
                out.setIndex(Frame.BYTES, end);
            } else {
                Frame.control(Frame.Kind.BATCH, 0, rank, end - Frame.BYTES).writeTo(out);
                out.writerIndex(end);
            }
            whole = true;
        } finally {
            if (!whole) {
                out.release();
            }
        }
        ChannelFuture written = channel.write(out);
        List<PendingSend> all = tell;
        if (all != null) {
            written.addListener(done -> {
                if (done.isSuccess()) {
                    long now = clock.now();
                    all.forEach(send -> send.reached(Delivery.Status.WRITTEN, now));
                }
            });
        }
    }
}
