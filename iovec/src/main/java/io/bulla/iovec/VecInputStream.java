// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ReadableByteChannel;
import java.util.Objects;

/// A stream and a channel over a vector, with a position of its own. Closing it gives nothing back.
final class VecInputStream extends InputStream implements ReadableByteChannel {

    private static final int STEP = 8192;

    private final IoVec vec;
    private long position;
    private long mark;
    private boolean closed;

    VecInputStream(IoVec vec) {
        this.vec = vec;
    }

    @Override
    public int read() {
        return position == vec.byteSize() ? -1 : vec.get(ValueLayout.JAVA_BYTE, position++) & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        return read(MemorySegment.ofArray(target).asSlice(offset, length));
    }

    @Override
    public int read(ByteBuffer target) throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("read into a read-only buffer: remaining=" + target.remaining());
        }
        int read = read(MemorySegment.ofBuffer(target));
        if (read > 0) {
            target.position(target.position() + read);
        }
        return read;
    }

    @Override
    public long transferTo(OutputStream out) throws IOException {
        Objects.requireNonNull(out, "out");
        byte[] step = new byte[(int) Math.min(STEP, remaining())];
        long start = position;
        while (remaining() > 0) {
            out.write(step, 0, read(step, 0, step.length));
        }
        return position - start;
    }

    @Override
    public long skip(long bytes) {
        long skipped = Math.clamp(bytes, 0, remaining());
        position += skipped;
        return skipped;
    }

    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, remaining());
    }

    @Override
    public boolean markSupported() {
        return true;
    }

    @Override
    public void mark(int limit) {
        mark = position;
    }

    @Override
    public void reset() {
        position = mark;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        closed = true;
    }

    private long remaining() {
        return vec.byteSize() - position;
    }

    private int read(MemorySegment target) {
        long length = Math.min(target.byteSize(), remaining());
        if (length == 0) {
            return target.byteSize() == 0 ? 0 : -1;
        }
        vec.copyTo(position, target, length);
        position += length;
        return (int) length;
    }
}
