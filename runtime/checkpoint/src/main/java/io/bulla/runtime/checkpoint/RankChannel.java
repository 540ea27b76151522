// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.BufferBuilder;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;

/// A file of a rank that is read, and where in it that is.
final class RankChannel implements ReadableByteChannel {

    private final ReadableByteChannel in;
    private long position;

    RankChannel(ReadableByteChannel in) {
        this.in = in;
    }

    long position() {
        return position;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int read = in.read(into);
        position += Math.max(0, read);
        return read;
    }

    /// How long the file is, or -1: the store does not say.
    long size() throws IOException {
        return switch (in) {
            case SeekableByteChannel sized -> sized.size();
            case RankReader.Mapped mapped -> mapped.size();
            default -> -1;
        };
    }

    /// Reads into a builder, from the store's channel itself: one of the JDK's fills the builder's memory in place,
    /// and any other, as this is, a buffer of which the bytes are copied.
    void readInto(BufferBuilder into, long bytes) throws IOException {
        into.readFully(in, bytes);
        passed(bytes);
    }

    /// Bytes of the file were taken by another way.
    void passed(long bytes) {
        position += bytes;
    }

    /// @return bytes to read
    ByteBuffer readFully(int bytes) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(bytes);
        while (all.hasRemaining()) {
            if (read(all) < 0) {
                throw new EOFException("file ends early");
            }
        }
        return all.flip();
    }

    boolean isAtEnd() throws IOException {
        return read(ByteBuffer.allocate(1)) < 0;
    }

    @Override
    public boolean isOpen() {
        return in.isOpen();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
