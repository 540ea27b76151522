// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/// Runs of values into a region and out of it, big-endian. The loops count in `int`: with a `long` index the compiler
/// would not turn them into vector instructions.
final class BigEndian {

    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BigEndian() {}

    static boolean is(ByteOrder order) {
        return Objects.requireNonNull(order, "order") == ByteOrder.BIG_ENDIAN;
    }

    static void put(MemorySegment memory, long at, short[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(SHORT, at + (long) i * Short.BYTES, values[from + i]);
        }
    }

    static void put(MemorySegment memory, long at, int[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(INT, at + (long) i * Integer.BYTES, values[from + i]);
        }
    }

    static void put(MemorySegment memory, long at, long[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(LONG, at + (long) i * Long.BYTES, values[from + i]);
        }
    }

    static void get(MemorySegment memory, long at, short[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            values[from + i] = memory.get(SHORT, at + (long) i * Short.BYTES);
        }
    }

    static void get(MemorySegment memory, long at, int[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            values[from + i] = memory.get(INT, at + (long) i * Integer.BYTES);
        }
    }

    static void get(MemorySegment memory, long at, long[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            values[from + i] = memory.get(LONG, at + (long) i * Long.BYTES);
        }
    }
}
