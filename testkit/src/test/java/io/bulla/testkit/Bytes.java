// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Test bytes, sealed and read back.
public final class Bytes {

    private Bytes() {}

    /// `size` bytes that differ from their neighbours and depend on `seed`.
    public static byte[] numbered(int seed, int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) ((seed + i) % 101);
        }
        return bytes;
    }

    public static SealedBuffer seal(MemorySource source, byte... bytes) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            return builder.put(bytes).seal();
        }
    }

    public static byte[] of(SealedBuffer buffer) {
        return of(buffer.iovec());
    }

    public static byte[] of(IoVec vector) {
        byte[] bytes = new byte[(int) vector.byteSize()];
        vector.copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
        return bytes;
    }

    /// What a reader of memory that was given back finds.
    public static byte[] poison(int size) {
        byte[] poison = new byte[size];
        Arrays.fill(poison, PoisoningSource.POISON);
        return poison;
    }
}
