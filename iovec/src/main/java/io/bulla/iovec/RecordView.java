// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import io.bulla.iovec.internal.BigEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A part of a vector, of a size that its reader knows: the fields of a record, each at its offset.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.iovec.RecordView;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory).putInt(7).putLong(42).putShort((short) 1);
///             SealedBuffer message = builder.seal()) {
///         RecordView order = message.iovec().record(0, 14);
///         IO.println(order.getInt(0) + " " + order.getLong(4) + " " + order.getShort(12));
///     }
/// }
/// ```
///
/// ```text
/// 7 42 1
/// ```
///
/// It is for many reads at offsets that the compiler knows: where the size is a constant, the bounds of each read are
/// known too, and behind the look at a stamp no field of a vector is read again.
///
/// Guarantees, as the vector's: immutable, thread-safe, the memory is borrowed and no byte moves. A record that lies
/// across two regions is the exception: it is put together in an array once, not counted in [CopyTally], as no read
/// of a value is. Each read looks at the stamp when it is over; a run of values looks once. [#lent()] looks at none,
/// for a reader that takes the whole record and calls [#verify()] before it uses what it read.
///
/// Offsets count from the record's first byte. Whole numbers are big-endian unless a read is given an order.
public final class RecordView {

    private final MemorySegment bytes;
    // usually the only one, and apart from the others, so that each read's look is as short as it can be
    private final @Nullable Generation stamp;
    private final Generation @Nullable [] others;
    // never looked at
    private final @Nullable Object keeper;

    /// A record of a segment, behind no stamp.
    ///
    /// @param bytes borrowed, and not written to while the view is read
    /// @return a view of all of them
    /// @throws IllegalArgumentException if they are more than an `int` counts
    public static RecordView of(MemorySegment bytes) {
        if (bytes.byteSize() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a record of so many bytes: byteSize=" + bytes.byteSize());
        }
        return new RecordView(bytes, null);
    }

    /// A record behind at most one stamp.
    RecordView(MemorySegment bytes, @Nullable Generation stamp) {
        this(bytes, stamp, null, null);
    }

    private RecordView(
            MemorySegment bytes, @Nullable Generation stamp, Generation @Nullable [] others, @Nullable Object keeper) {
        this.bytes = bytes;
        this.stamp = stamp;
        this.others = others;
        this.keeper = keeper;
    }

    /// The same record, which has no stamp yet, behind all of these.
    RecordView guarded(@Nullable Object holder, Generation... stamps) {
        Generation[] behind = stamps.length < 2 ? null : Arrays.copyOfRange(stamps, 1, stamps.length);
        return new RecordView(bytes, stamps.length == 0 ? null : stamps[0], behind, holder);
    }

    /// Size of the record.
    ///
    /// @return bytes, at least 0
    public int byteSize() {
        return (int) bytes.byteSize();
    }

    /// The same record, whose reads look at no stamp: for a reader that calls [#verify()] on this one before it uses
    /// what it read. As [IoVec#lent()].
    ///
    /// @return a view of the same bytes
    /// @throws IllegalStateException if a stamp has ended
    public RecordView lent() {
        verify();
        return new RecordView(bytes, null, null, keeper);
    }

    /// Vouches for what was read from [#lent()]: passes if the memory was not given back before the end of the read.
    ///
    /// @throws IllegalStateException if a stamp has ended: what was read may be another buffer's
    public void verify() {
        if (stamp != null) {
            // acquire: Generation 1, the read that is vouched for is above this line
            VarHandle.acquireFence();
            if (stamp.isEnded() || others != null && isEnded(others)) {
                throw stale();
            }
        }
        Reference.reachabilityFence(this);
    }

    /// Reads a byte.
    ///
    /// @param at offset in the record
    /// @return the value
    /// @throws IndexOutOfBoundsException if it is not inside the record
    /// @throws IllegalStateException if the memory was given back
    public byte getByte(int at) {
        byte value = bytes.get(ValueLayout.JAVA_BYTE, at);
        verify();
        return value;
    }

    /// Reads two bytes.
    ///
    /// @param at offset in the record
    /// @return the value
    /// @throws IndexOutOfBoundsException if they are not all inside the record
    /// @throws IllegalStateException if the memory was given back
    public short getShort(int at) {
        short value = bytes.get(BigEndian.SHORT, at);
        verify();
        return value;
    }

    /// Reads four bytes.
    ///
    /// @param at offset in the record
    /// @return the value
    /// @throws IndexOutOfBoundsException if they are not all inside the record
    /// @throws IllegalStateException if the memory was given back
    public int getInt(int at) {
        int value = bytes.get(BigEndian.INT, at);
        verify();
        return value;
    }

    /// Reads eight bytes.
    ///
    /// @param at offset in the record
    /// @return the value
    /// @throws IndexOutOfBoundsException if they are not all inside the record
    /// @throws IllegalStateException if the memory was given back
    public long getLong(int at) {
        long value = bytes.get(BigEndian.LONG, at);
        verify();
        return value;
    }

    /// Reads two bytes in the order given, as [#getShort(int)].
    ///
    /// @param at offset in the record
    /// @param order which byte comes first
    /// @return the value
    public short getShort(int at, ByteOrder order) {
        return BigEndian.is(order) ? getShort(at) : Short.reverseBytes(getShort(at));
    }

    /// Reads four bytes in the order given, as [#getInt(int)].
    ///
    /// @param at offset in the record
    /// @param order which byte comes first
    /// @return the value
    public int getInt(int at, ByteOrder order) {
        return BigEndian.is(order) ? getInt(at) : Integer.reverseBytes(getInt(at));
    }

    /// Reads eight bytes in the order given, as [#getLong(int)].
    ///
    /// @param at offset in the record
    /// @param order which byte comes first
    /// @return the value
    public long getLong(int at, ByteOrder order) {
        return BigEndian.is(order) ? getLong(at) : Long.reverseBytes(getLong(at));
    }

    /// Reads four bytes as a `float`, as [#getInt(int)].
    ///
    /// @param at offset in the record
    /// @return the value
    public float getFloat(int at) {
        return Float.intBitsToFloat(getInt(at));
    }

    /// Reads eight bytes as a `double`, as [#getLong(int)].
    ///
    /// @param at offset in the record
    /// @return the value
    public double getDouble(int at) {
        return Double.longBitsToDouble(getLong(at));
    }

    /// Reads a run of bytes: a copy, counted in [CopyTally].
    ///
    /// @param at offset in the record
    /// @param to where they go
    /// @param from index of the first
    /// @param count how many
    /// @throws IndexOutOfBoundsException if there are fewer on either side; nothing is written
    /// @throws IllegalStateException if the memory was given back; then `to` may hold bytes of another buffer
    public void getBytes(int at, byte[] to, int from, int count) {
        check(at, count, Byte.BYTES, from, to.length);
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, to, from, count);
        CopyTally.add(count);
        verify();
    }

    /// Reads a run of values of two bytes, with one look at the stamp, as [#getBytes].
    ///
    /// @param at offset in the record
    /// @param to where they go
    /// @param from index of the first
    /// @param count how many
    public void getShorts(int at, short[] to, int from, int count) {
        check(at, count, Short.BYTES, from, to.length);
        BigEndian.get(bytes, at, to, from, count);
        verify();
    }

    /// Reads a run of values of four bytes, with one look at the stamp, as [#getBytes].
    ///
    /// @param at offset in the record
    /// @param to where they go
    /// @param from index of the first
    /// @param count how many
    public void getInts(int at, int[] to, int from, int count) {
        check(at, count, Integer.BYTES, from, to.length);
        BigEndian.get(bytes, at, to, from, count);
        verify();
    }

    /// Reads a run of values of eight bytes, with one look at the stamp, as [#getBytes].
    ///
    /// @param at offset in the record
    /// @param to where they go
    /// @param from index of the first
    /// @param count how many
    public void getLongs(int at, long[] to, int from, int count) {
        check(at, count, Long.BYTES, from, to.length);
        BigEndian.get(bytes, at, to, from, count);
        verify();
    }

    @Override
    public String toString() {
        return "RecordView[byteSize=" + byteSize() + "]";
    }

    private void check(int at, int count, int width, int from, int length) {
        Objects.checkFromIndexSize(from, count, length);
        Objects.checkFromIndexSize(at, (long) count * width, bytes.byteSize());
    }

    private static boolean isEnded(Generation... stamps) {
        for (Generation each : stamps) {
            if (each.isEnded()) {
                return true;
            }
        }
        return false;
    }

    private IllegalStateException stale() {
        return new IllegalStateException("stale view: its memory was given back: byteSize=" + byteSize());
    }
}
