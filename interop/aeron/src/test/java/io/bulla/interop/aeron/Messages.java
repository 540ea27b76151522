// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

/// Buffers whose bytes follow from their size.
final class Messages {

    private Messages() {}

    static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    static SealedBuffer sealed(MemorySource source, byte[] bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, bytes.length))) {
            return builder.put(bytes).seal();
        }
    }

    /// The same bytes in `regions` pieces of about the same size, some of them perhaps empty.
    static SealedBuffer sealed(MemorySource source, byte[] bytes, int regions) {
        SealedBuffer[] parts = new SealedBuffer[regions];
        for (int i = 0; i < regions; i++) {
            int from = (int) ((long) bytes.length * i / regions);
            int to = (int) ((long) bytes.length * (i + 1) / regions);
            parts[i] = sealed(source, Arrays.copyOfRange(bytes, from, to));
        }
        try {
            return SealedBuffer.concat(parts);
        } finally {
            for (SealedBuffer part : parts) {
                part.close();
            }
        }
    }

    static byte[] take(SealedBuffer message) {
        try (message;
                Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(message.byteSize());
            message.iovec().copyTo(0, copy, copy.byteSize());
            return copy.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
