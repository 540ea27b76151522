// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.grpc.Detachable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Makes a sealed buffer of a received gRPC message: left where the transport put it, or copied once.
final class Landing {

    private static final int LEAST_CAPACITY = 256;

    private final MemorySource source;
    private final LongAdder kept = new LongAdder();
    private final LongAdder released = new LongAdder();
    private final LongAdder copied = new LongAdder();
    private final LongAdder copiedBytes = new LongAdder();
    private final LongAdder shared = new LongAdder();

    Landing(MemorySource source) {
        this.source = source;
    }

    MarshallerFigures figures() {
        // first: never more given back than kept
        long givenBack = released.sum();
        long all = kept.sum();
        return new MarshallerFigures(all, all - givenBack, copied.sum(), copiedBytes.sum(), shared.sum());
    }

    SealedBuffer land(InputStream stream) throws IOException {
        if (stream instanceof SealedStream local) {
            SealedBuffer message = local.rest();
            try {
                // as below
                shared.increment();
                return message;
            } catch (Throwable noHeap) {
                message.close();
                throw noHeap;
            }
        }
        return canBeKept(stream) ? keep(((Detachable) stream).detach()) : copy(stream);
    }

    private static boolean canBeKept(InputStream stream) throws IOException {
        return stream instanceof Detachable
                && stream instanceof KnownLength
                && stream instanceof HasByteBuffer buffers
                && stream.available() > 0
                && stream.markSupported()
                && buffers.byteBufferSupported();
    }

    private SealedBuffer keep(InputStream owned) throws IOException {
        List<ByteBuffer> parts;
        MemorySegment first;
        Runnable giveBack;
        try {
            // what is skipped stays the stream's: it might be asked to go back
            owned.mark(owned.available());
            parts = parts(owned);
            if (parts.isEmpty() || !parts.stream().allMatch(ByteBuffer::isDirect)) {
                owned.reset();
                return copyThenClose(owned);
            }
            // all that takes heap, before the stream is another's to close
            first = MemorySegment.ofBuffer(parts.getFirst());
            giveBack = () -> giveBack(owned);
            kept.increment();
        } catch (Throwable failure) {
            closeAfter(failure, owned);
            throw failure;
        }
        return parts.size() == 1 ? SealedBuffer.adopt(first, giveBack) : joined(parts, giveBack);
    }

    /// @return none if the stream does not show its parts, as where a peer has sent an empty one among them (an
    ///     HTTP/2 frame of no bytes): gRPC shows nothing then, and nothing behind it
    private static List<ByteBuffer> parts(InputStream owned) throws IOException {
        List<ByteBuffer> parts = new ArrayList<>(2);
        while (owned.available() > 0) {
            @Nullable ByteBuffer part = ((HasByteBuffer) owned).getByteBuffer();
            if (part != null && !part.hasRemaining()) {
                return List.of();
            }
            if (part == null || owned.skip(part.remaining()) <= 0) {
                throw new IOException("message ends before its length: missing=" + owned.available());
            }
            parts.add(part);
        }
        return parts;
    }

    /// One buffer of many parts. All of them are given back as the last one is let go: none is in use then.
    private static SealedBuffer joined(List<ByteBuffer> parts, Runnable giveBack) {
        SealedBuffer[] held = new SealedBuffer[parts.size()];
        int taken = 0;
        boolean given = false;
        try {
            for (; taken < held.length - 1; taken++) {
                held[taken] = SealedBuffer.adopt(MemorySegment.ofBuffer(parts.get(taken)), () -> {});
            }
            MemorySegment last = MemorySegment.ofBuffer(parts.get(taken));
            // from here on it is called, also if this fails
            given = true;
            held[taken] = SealedBuffer.adopt(last, giveBack);
            taken++;
            return SealedBuffer.concat(held);
        } finally {
            for (int i = 0; i < taken; i++) {
                held[i].close();
            }
            if (!given) {
                giveBack.run();
            }
        }
    }

    private void giveBack(InputStream owned) {
        try {
            owned.close();
        } catch (IOException impossible) {
            throw new AssertionError("a stream of buffers has nothing to fail with", impossible);
        } finally {
            // last: a counter that is contended takes heap
            released.increment();
        }
    }

    private static void closeAfter(Throwable failure, InputStream owned) {
        try {
            owned.close();
        } catch (Throwable another) {
            failure.addSuppressed(another);
        }
    }

    private SealedBuffer copyThenClose(InputStream owned) throws IOException {
        SealedBuffer message = copy(owned);
        try {
            owned.close();
        } catch (Throwable failure) {
            message.close();
            throw failure;
        }
        return message;
    }

    private SealedBuffer copy(InputStream stream) throws IOException {
        SealedBuffer message = copyOf(stream);
        try {
            // a counter that is contended takes heap
            copied.increment();
            copiedBytes.add(message.byteSize());
            return message;
        } catch (Throwable noHeap) {
            message.close();
            throw noHeap;
        }
    }

    private SealedBuffer copyOf(InputStream stream) throws IOException {
        int known = stream instanceof KnownLength ? stream.available() : LEAST_CAPACITY;
        if (known == 0) {
            // needs no memory, so none can be missing
            return SealedBuffer.concat();
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, known)) {
            fill(builder, stream);
            return builder.seal();
        }
    }

    static void fill(BufferBuilder builder, InputStream stream) throws IOException {
        try (Step step = Step.take()) {
            for (int read; (read = stream.read(step.bytes())) >= 0; ) {
                builder.put(step.bytes(), 0, read);
            }
        }
    }
}
