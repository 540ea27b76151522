// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.zip.CRC32C;

/// A rank's file in memory that shows it: bodies are parts of that memory, and nothing is copied for long.
///
/// Each byte is read by a copy into a small array, which the JVM guards: if the file is cut short meanwhile, that is
/// an [InternalError] here, and a damaged file for the caller. A checksum over the mapping itself would end the
/// process.
final class MappedFile implements ReadableByteChannel, RankReader.Bodies {

    private static final int CHUNK = 1 << 14;

    private final MemorySegment memory;
    private final SealedBuffer whole;
    private final byte[] chunk = new byte[CHUNK];
    private long position;

    /// @param memory of the whole file, accessible by any thread; it is let go by the garbage collector, once no body
    ///     is left
    /// @throws IllegalArgumentException if only some threads may access the memory
    MappedFile(MemorySegment memory) {
        this.memory = memory.asReadOnly();
        this.whole = SealedBuffer.adopt(this.memory, () -> {});
    }

    long size() {
        return memory.byteSize();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int bytes = (int) Math.min(Math.min(into.remaining(), CHUNK), size() - position);
        if (bytes == 0 && into.hasRemaining()) {
            return -1;
        }
        copy(position, bytes);
        into.put(chunk, 0, bytes);
        position += bytes;
        return bytes;
    }

    @Override
    public SealedBuffer next(RankChannel in, long bytes) throws IOException {
        if (bytes > size() - position) {
            throw new EOFException("file ends early");
        }
        SealedBuffer body = whole.slice(position, bytes);
        position += bytes;
        in.passed(bytes);
        return body;
    }

    /// Of the bytes before the position, and of what stands before those.
    @Override
    public int crc(ByteBuffer first, SealedBuffer body) throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(first.duplicate());
        for (long left = body.byteSize(); left > 0; ) {
            int bytes = (int) Math.min(left, CHUNK);
            copy(position - left, bytes);
            crc.update(chunk, 0, bytes);
            left -= bytes;
        }
        return (int) crc.getValue();
    }

    private void copy(long from, int bytes) throws IOException {
        try {
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, chunk, 0, bytes);
        } catch (InternalError gone) {
            // what the JVM throws where the medium has no byte
            throw new EOFException("file was cut short: offset=" + from);
        }
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    /// The bodies that were given out stay.
    @Override
    public void close() {
        whole.close();
    }
}
