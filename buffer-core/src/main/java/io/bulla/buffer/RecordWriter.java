// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.internal.BigEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/// Writes a part of a known size: room is asked for once, and where each field goes is known to the compiler.
///
/// ```java
/// import io.bulla.buffer.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         builder.record(14).putInt(7).putLong(42).putShort((short) 1).end().putByte((byte) 9);
///         try (SealedBuffer message = builder.seal()) {
///             IO.print(message.hexDump());
///         }
///     }
/// }
/// ```
///
/// ```text
/// 00000000: 0000 0007 0000 0000 0000 002a 0001 09    ...........*...
/// ```
///
/// ```
/// open --all bytes written, end()--> ended           the builder goes on
/// open --the builder is truncated or closed--> over   no byte of it stays
/// ```
///
/// While a record is open its builder refuses every other write, and the seal: bytes that were asked for and not
/// written could be another buffer's. Each put looks whether its record is still the open one, so that none can write
/// after the end. As its builder, a record belongs to one thread at a time.
public final class RecordWriter {

    private final BufferBuilder builder;
    private final MemorySegment memory;
    private final long number;
    private int written;

    RecordWriter(BufferBuilder builder, MemorySegment memory, long number) {
        this.builder = builder;
        this.memory = memory;
        this.number = number;
    }

    /// Bytes that are still to be written.
    ///
    /// @return at least 0
    public int remaining() {
        return (int) memory.byteSize() - written;
    }

    /// Writes a byte.
    ///
    /// @param value the byte
    /// @return this record
    /// @throws IndexOutOfBoundsException if the record has no room left; nothing is written
    /// @throws IllegalStateException if the record is over
    public RecordWriter putByte(byte value) {
        int at = next(Byte.BYTES);
        memory.set(ValueLayout.JAVA_BYTE, at, value);
        written = at + Byte.BYTES;
        return this;
    }

    /// Writes two bytes, as [#putByte].
    ///
    /// @param value the value
    /// @return this record
    public RecordWriter putShort(short value) {
        int at = next(Short.BYTES);
        memory.set(BigEndian.SHORT, at, value);
        written = at + Short.BYTES;
        return this;
    }

    /// Writes four bytes, as [#putByte].
    ///
    /// @param value the value
    /// @return this record
    public RecordWriter putInt(int value) {
        int at = next(Integer.BYTES);
        memory.set(BigEndian.INT, at, value);
        written = at + Integer.BYTES;
        return this;
    }

    /// Writes eight bytes, as [#putByte].
    ///
    /// @param value the value
    /// @return this record
    public RecordWriter putLong(long value) {
        int at = next(Long.BYTES);
        memory.set(BigEndian.LONG, at, value);
        written = at + Long.BYTES;
        return this;
    }

    /// Writes two bytes in the order given, as [#putByte].
    ///
    /// @param value the value
    /// @param order which byte comes first
    /// @return this record
    public RecordWriter putShort(short value, ByteOrder order) {
        return putShort(BigEndian.is(order) ? value : Short.reverseBytes(value));
    }

    /// Writes four bytes in the order given, as [#putByte].
    ///
    /// @param value the value
    /// @param order which byte comes first
    /// @return this record
    public RecordWriter putInt(int value, ByteOrder order) {
        return putInt(BigEndian.is(order) ? value : Integer.reverseBytes(value));
    }

    /// Writes eight bytes in the order given, as [#putByte].
    ///
    /// @param value the value
    /// @param order which byte comes first
    /// @return this record
    public RecordWriter putLong(long value, ByteOrder order) {
        return putLong(BigEndian.is(order) ? value : Long.reverseBytes(value));
    }

    /// Writes the four bytes of a `float`, as [#putByte].
    ///
    /// @param value the value; not a number is written as it is
    /// @return this record
    public RecordWriter putFloat(float value) {
        return putInt(Float.floatToRawIntBits(value));
    }

    /// Writes the eight bytes of a `double`, as [#putByte].
    ///
    /// @param value the value; not a number is written as it is
    /// @return this record
    public RecordWriter putDouble(double value) {
        return putLong(Double.doubleToRawLongBits(value));
    }

    /// Writes bytes out of an array, as [#putByte].
    ///
    /// @param bytes some of them are written
    /// @param from index of the first
    /// @param count how many
    /// @return this record
    public RecordWriter put(byte[] bytes, int from, int count) {
        Objects.checkFromIndexSize(from, count, bytes.length);
        int at = next(count);
        MemorySegment.copy(bytes, from, memory, ValueLayout.JAVA_BYTE, at, count);
        written = at + count;
        return this;
    }

    /// Ends the record: its builder writes on behind it.
    ///
    /// @return the builder
    /// @throws IllegalStateException if bytes are still to be written, which may come, or the record is over
    public BufferBuilder end() {
        checkOpen();
        if (written != memory.byteSize()) {
            throw new IllegalStateException("record unfinished: written=" + written + " byteSize=" + memory.byteSize());
        }
        builder.endRecord();
        return builder;
    }

    @Override
    public String toString() {
        return "RecordWriter[written=" + written + " byteSize=" + memory.byteSize()
                + (builder.isOpenRecord(number) ? "]" : " over]");
    }

    private int next(int width) {
        checkOpen();
        int at = written;
        if (memory.byteSize() - at < width) {
            throw new IndexOutOfBoundsException("write past the record's end: written=" + at + " width=" + width
                    + " byteSize=" + memory.byteSize());
        }
        return at;
    }

    private void checkOpen() {
        if (!builder.isOpenRecord(number)) {
            throw new IllegalStateException(
                    "record already over: written=" + written + " byteSize=" + memory.byteSize());
        }
    }
}
