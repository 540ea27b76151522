// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Takes a batch apart into its messages: each is a slice of it, or has memory of its own where it would pin too
/// much. One event loop's.
public final class BatchReader {

    private final LoopContext context;
    private final BooleanSupplier isOpen;

    /// @param isOpen whether the connection still takes messages
    BatchReader(LoopContext context, BooleanSupplier isOpen) {
        this.context = context;
        this.isOpen = isOpen;
    }

    /// All are cut before the first one is handed on: from then on another thread closes them, and the two would
    /// fight for the batch's count.
    ///
    /// @return false if one was not taken: it comes again, and what is behind it
    boolean read(SealedBuffer batch, FrameSink to) throws IOException {
        List<Frame> frames = framesOf(batch.iovec());
        SealedBuffer[] bodies = new SealedBuffer[frames.size()];
        int taken = 0;
        try {
            cut(batch, frames, bodies);
            compact(batch, frames, bodies, to);
            while (taken < bodies.length && isOpen.getAsBoolean()) {
                Frame inner = frames.get(taken);
                to.check(inner);
                if (to.owesTooMany(inner)) {
                    return false;
                }
                to.onFrame(inner, bodies[taken++]);
            }
            return true;
        } finally {
            for (; taken < bodies.length && bodies[taken] != null; taken++) {
                context.close(bodies[taken]);
            }
        }
    }

    private static void cut(SealedBuffer batch, List<Frame> frames, SealedBuffer[] bodies) {
        long at = 0;
        for (int i = 0; i < bodies.length; i++) {
            int length = frames.get(i).length();
            bodies[i] = batch.slice(at + Frame.BYTES, length);
            at += Frame.BYTES + length;
        }
    }

    /// What is less than half of its batch gets memory of its own: direct messages wait for handlers, and broadcasts
    /// for the nodes below, long after their neighbours are gone or were dropped at once.
    private void compact(SealedBuffer batch, List<Frame> frames, SealedBuffer[] bodies, FrameSink to) {
        long direct = 0;
        long broadcast = 0;
        for (Frame frame : frames) {
            long bytes = to.isNew(frame) ? Frame.BYTES + frame.length() : 0;
            if (frame.kind() == Frame.Kind.DIRECT) {
                direct += bytes;
            } else if (frame.kind() == Frame.Kind.BROADCAST) {
                broadcast += bytes;
            }
        }
        long half = batch.byteSize() / 2;
        compact(direct, half, Frame.Kind.DIRECT, frames, bodies, to);
        compact(broadcast, half, Frame.Kind.BROADCAST, frames, bodies, to);
    }

    private void compact(
            long bytes, long half, Frame.Kind kind, List<Frame> frames, SealedBuffer[] bodies, FrameSink to) {
        if (bytes == 0 || bytes >= half) {
            return;
        }
        for (int i = 0; i < bodies.length; i++) {
            if (frames.get(i).kind() == kind && to.isNew(frames.get(i))) {
                bodies[i] = ownOf(bodies[i], to);
            }
        }
    }

    private SealedBuffer ownOf(SealedBuffer slice, FrameSink of) {
        SealedBuffer own;
        try {
            own = tagged(slice.copy(context.settings().source()), of.tag());
        } catch (RuntimeException noMemory) {
            return slice;
        }
        context.close(slice);
        return own;
    }

    /// A handle that says whose message it is, in the place of the given one.
    ///
    /// @param tag of the holder, or `null`: the given handle stays
    public static SealedBuffer tagged(SealedBuffer body, @Nullable Object tag) {
        if (tag == null) {
            return body;
        }
        // a move that fails leaves the handle open
        try (body) {
            return body.move(tag);
        }
    }

    private List<Frame> framesOf(IoVec batch) throws IOException {
        ByteBuffer view = batch.regionCount() == 1
                ? batch.lent().asByteBuffers()[0]
                : batch.toSegment(Arena.ofAuto()).asByteBuffer().order(ByteOrder.BIG_ENDIAN);
        List<Frame> frames = new ArrayList<>();
        for (int at = 0; at < view.limit(); ) {
            int left = view.limit() - at - Frame.BYTES;
            if (left < 0) {
                throw new IOException("batch ends inside a header: at=" + at + " length=" + view.limit());
            }
            Frame inner = Frame.read(view, at, context.settings().limit());
            if (!inner.kind().isSequenced() || inner.local() || inner.length() > left) {
                throw new IOException("not a message of a batch: kind=" + inner.kind() + " length=" + inner.length()
                        + " left=" + left);
            }
            frames.add(inner);
            at += Frame.BYTES + inner.length();
        }
        return frames;
    }
}
