// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.util.Objects;

/// A message as gRPC reads it: a handle of its own, closed with the stream, and a position.
///
/// A close waits for a read that is under way, so that memory is not given back beneath it; afterwards every read
/// is a `ReleasedBufferException`.
final class SealedStream extends InputStream implements KnownLength, Drainable {

    private final SealedBuffer handle;
    private final int size;
    private int position;
    private int mark;

    /// @param handle closed by the stream
    /// @param size of the message, in bytes
    SealedStream(SealedBuffer handle, int size) {
        this.handle = handle;
        this.size = size;
    }

    @Override
    public synchronized int drainTo(OutputStream target) throws IOException {
        IoVec bytes = handle.iovec();
        int start = position;
        try (Step step = Step.take()) {
            while (position < size) {
                int length = Math.min(step.bytes().length, size - position);
                bytes.copyTo(position, MemorySegment.ofArray(step.bytes()), length);
                target.write(step.bytes(), 0, length);
                position += length;
            }
        }
        return position - start;
    }

    @Override
    public synchronized int read() {
        IoVec bytes = handle.iovec();
        return position == size ? -1 : bytes.get(ValueLayout.JAVA_BYTE, position++) & 0xff;
    }

    @Override
    public synchronized int read(byte[] target, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, target.length);
        IoVec bytes = handle.iovec();
        int step = Math.min(length, size - position);
        if (step == 0) {
            return length == 0 ? 0 : -1;
        }
        bytes.copyTo(position, MemorySegment.ofArray(target).asSlice(offset, step), step);
        position += step;
        return step;
    }

    @Override
    public synchronized long skip(long bytes) {
        int skipped = Math.clamp(bytes, 0, size - position);
        position += skipped;
        return skipped;
    }

    /// What is left to be read, exactly, as `KnownLength` asks.
    @Override
    public synchronized int available() {
        return size - position;
    }

    @Override
    public boolean markSupported() {
        return true;
    }

    @Override
    public synchronized void mark(int limit) {
        mark = position;
    }

    @Override
    public synchronized void reset() {
        position = mark;
    }

    /// What is left to be read, for a receiver in the same process: no byte moves.
    ///
    /// @return a handle that its holder closes
    synchronized SealedBuffer rest() {
        SealedBuffer rest = position == 0 ? handle.share() : handle.slice(position, size - position);
        position = size;
        return rest;
    }

    /// For one that may be lost: its handle is closed once that is known.
    void closeWhenForgotten(Cleaner cleaner, CallTotals totals) {
        // not of this: the action must not keep it
        SealedBuffer own = handle;
        cleaner.register(this, () -> {
            if (own.isOpen()) {
                try {
                    totals.forgot(1);
                } finally {
                    own.close();
                }
            }
        });
    }

    boolean isOpen() {
        return handle.isOpen();
    }

    @Override
    public synchronized void close() {
        handle.close();
    }
}
