// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;

/// A stream and a channel that append to a builder, and die with it. Closing ends the sink, not the builder.
final class BuilderSink extends OutputStream implements WritableByteChannel {

    private final BufferBuilder builder;
    private boolean closed;

    BuilderSink(BufferBuilder builder) {
        this.builder = builder;
    }

    @Override
    public void write(int value) throws ClosedChannelException {
        checkOpen();
        builder.putByte((byte) value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws ClosedChannelException {
        checkOpen();
        builder.put(bytes, offset, length);
    }

    @Override
    public int write(ByteBuffer source) throws ClosedChannelException {
        checkOpen();
        int length = source.remaining();
        builder.put(MemorySegment.ofBuffer(source));
        source.position(source.limit());
        return length;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        closed = true;
    }

    private void checkOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }
}
