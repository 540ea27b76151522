// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;

/// The header in front of every message of a node: refused, or within the limit and written back as it was.
public final class FrameFuzz implements FuzzTarget {

    private static final long MOST_HEAP = 16 << 10;

    private final ByteBuf back = Unpooled.buffer(Frame.BYTES, Frame.BYTES);

    /// A target.
    public FrameFuzz() {}

    @Override
    public String name() {
        return "Frame";
    }

    @Override
    public void run(FuzzInput input) {
        // the reader hands over whole headers only
        ByteBuffer header = ByteBuffer.allocate(Frame.BYTES);
        header.put(0, input.bytes(), FuzzInput.HEADER, Math.min(input.length(), Frame.BYTES));
        long limit = 1L << input.choice(1, Long.SIZE - 1);
        Frame frame;
        long heap = Heap.allocated();
        try {
            frame = Frame.read(header, limit);
        } catch (IOException refused) {
            return;
        } finally {
            Heap.claim(heap, MOST_HEAP);
        }
        int most = frame.local() ? Frame.MAX_LOCAL : Frame.MAX_BODY;
        FuzzTarget.claim(frame.length() >= 0 && frame.length() <= most, "length over the limit", frame, limit);
        FuzzTarget.claim(frame.bodyBytes() <= Frame.MAX_BODY, "body over the limit", frame, limit);
        FuzzTarget.claim(
                !frame.kind().isSequenced()
                        || frame.offset() >= 0
                                && frame.offset() + frame.length() <= frame.total()
                                && (frame.total() <= limit || frame.lane() == Lane.CONTROL),
                "fragment outside of its message",
                frame,
                limit);
        frame.writeTo(back.clear());
        FuzzTarget.claim(back.nioBuffer().equals(header), "header differs", frame);
    }
}
