// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// What a message of a measurement says, and what a receiver reads of it: its first and last word, or all by a CRC
/// that the processor computes.
///
/// @param bytes of the message, a multiple of 8
/// @param all whether all is read
/// @param crc of all
record Look(int bytes, boolean all, long crc) {

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    static Look of(int bytes, boolean all) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.wrap(content(bytes)));
        return new Look(bytes, all, crc.getValue());
    }

    SealedBuffer message(MemorySource source) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes)) {
            return builder.put(content(bytes)).seal();
        }
    }

    /// Where a message lies that is there before it is said.
    ///
    /// @param socket over which it is said
    Path file(Path socket) {
        return socket.resolveSibling(socket.getFileName() + "-" + bytes);
    }

    void write(Path socket) throws IOException {
        Files.write(file(socket), content(bytes));
    }

    /// @throws IllegalStateException if it is another message
    void at(SealedBuffer message) {
        try {
            at(message.iovec().lent().region(0));
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    void at(MemorySegment message) {
        if (message.byteSize() != bytes
                || message.get(WORD, 0) != word(0)
                || message.get(WORD, bytes - Long.BYTES) != word(bytes / Long.BYTES - 1)) {
            throw new IllegalStateException("another message: bytes=" + message.byteSize() + " wanted=" + bytes);
        }
        if (all) {
            CRC32C found = new CRC32C();
            found.update(message.asByteBuffer());
            if (found.getValue() != crc) {
                throw new IllegalStateException("bytes differ: bytes=" + bytes);
            }
        }
    }

    private long word(int index) {
        return bytes + index * SPREAD;
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        MemorySegment words = MemorySegment.ofArray(content);
        for (int i = 0; i < bytes / Long.BYTES; i++) {
            words.set(WORD, (long) i * Long.BYTES, bytes + i * SPREAD);
        }
        return content;
    }
}
