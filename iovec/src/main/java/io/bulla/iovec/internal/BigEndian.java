// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/// Whole numbers in the order that is the default, and runs of them into a region and out of it. The loops count in
/// `int`: with a `long` index the compiler would not turn them into vector instructions.
public final class BigEndian {

    /// Two bytes, at any address.
    public static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    /// Four bytes, at any address.
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    /// Eight bytes, at any address.
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BigEndian() {}

    /// Tells whether an order is the default.
    ///
    /// @param order not null
    /// @return whether the first byte is the highest
    public static boolean is(ByteOrder order) {
        return Objects.requireNonNull(order, "order") == ByteOrder.BIG_ENDIAN;
    }

    /// Writes a run of values; the caller checked that there is room.
    ///
    /// @param memory where they go
    /// @param at offset of the first
    /// @param values some of them are written
    /// @param from index of the first
    /// @param count how many
    public static void put(MemorySegment memory, long at, short[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(SHORT, at + (long) i * Short.BYTES, values[from + i]);
        }
    }

    /// Writes a run of values; the caller checked that there is room.
    ///
    /// @param memory where they go
    /// @param at offset of the first
    /// @param values some of them are written
    /// @param from index of the first
    /// @param count how many
    public static void put(MemorySegment memory, long at, int[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(INT, at + (long) i * Integer.BYTES, values[from + i]);
        }
    }

    /// Writes a run of values; the caller checked that there is room.
    ///
    /// @param memory where they go
    /// @param at offset of the first
    /// @param values some of them are written
    /// @param from index of the first
    /// @param count how many
    public static void put(MemorySegment memory, long at, long[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            memory.set(LONG, at + (long) i * Long.BYTES, values[from + i]);
        }
    }

    /// Reads a run of values; the caller checked that they are there.
    ///
    /// @param memory where they are
    /// @param at offset of the first
    /// @param values where they go
    /// @param from index of the first
    /// @param count how many
    public static void get(MemorySegment memory, long at, short[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            values[from + i] = memory.get(SHORT, at + (long) i * Short.BYTES);
        }
    }

    /// Reads a run of values; the caller checked that they are there.
    ///
    /// @param memory where they are
    /// @param at offset of the first
    /// @param values where they go
    /// @param from index of the first
    /// @param count how many
    public static void get(MemorySegment memory, long at, int[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            values[from + i] = memory.get(INT, at + (long) i * Integer.BYTES);
        }
    }

    /// Reads a run of values; the caller checked that they are there.
    ///
    /// @param memory where they are
    /// @param at offset of the first
    /// @param values where they go
    /// @param from index of the first
    /// @param count how many
    public static void get(MemorySegment memory, long at, long[] values, int from, int count) {
        for (int i = 0; i < count; i++) {
            values[from + i] = memory.get(LONG, at + (long) i * Long.BYTES);
        }
    }
}
