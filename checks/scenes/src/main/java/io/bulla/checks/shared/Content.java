// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Bytes that say what they have to be: a seed, and numbers that follow from it.
final class Content {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long STEP = 0x9e3779b97f4a7c15L;

    private Content() {}

    static SealedBuffer of(MemorySource memory, long seed, int words) {
        long[] values = new long[words];
        for (int i = 0; i < words; i++) {
            values[i] = word(seed, i);
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, 8L * (words + 1))) {
            return builder.putLong(seed).putLongs(values, 0, words).seal();
        }
    }

    /// What its bytes say that they follow from: to be kept by what looks at them again.
    static long seed(SealedBuffer buffer) {
        return BufferReader.of(buffer).getLong();
    }

    /// Looks at every byte.
    ///
    /// @param seed that it had when it came: another message that follows from its own seed is none of its bytes
    static boolean isRight(SealedBuffer buffer, long seed) {
        BufferReader reader = BufferReader.of(buffer);
        if (reader.getLong() != seed) {
            return false;
        }
        long[] values = new long[(int) (reader.remaining() / 8)];
        reader.getLongs(values, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            if (values[i] != word(seed, i)) {
                return false;
            }
        }
        return reader.remaining() == 0;
    }

    /// The same, by the JDK's means.
    ///
    /// @throws IllegalStateException if the memory's end comes first
    static boolean isRight(MemorySegment view, long seed) {
        if (view.get(LONG, 0) != seed) {
            return false;
        }
        for (long i = 0; i < view.byteSize() / 8 - 1; i++) {
            if (view.get(LONG, 8 * (i + 1)) != word(seed, (int) i)) {
                return false;
            }
        }
        return true;
    }

    private static long word(long seed, int index) {
        long mixed = (seed + index) * STEP;
        return mixed ^ mixed >>> 29;
    }
}
