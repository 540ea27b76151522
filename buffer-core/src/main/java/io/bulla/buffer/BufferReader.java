// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import io.bulla.iovec.RecordView;
import io.bulla.iovec.internal.BigEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.util.Objects;

/// A cursor over a sealed buffer, with a get for each put of [BufferBuilder].
///
/// ```java
/// import io.bulla.buffer.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         builder.putInt(5).putDouble(0.5).putString("tokens", StandardCharsets.UTF_8);
///         try (SealedBuffer message = builder.seal()) {
///             BufferReader reader = BufferReader.of(message);
///             int count = reader.getInt();
///             double share = reader.getDouble();
///             String what = reader.getString(reader.remaining(), StandardCharsets.UTF_8);
///             IO.println(count + " " + what + ", " + share + " each");
///         }
///     }
/// }
/// ```
///
/// ```text
/// 5 tokens, 0.5 each
/// ```
///
/// A reader belongs to one thread at a time. The buffer stays shared: any number of readers may read it at once. A
/// reader borrows the handle: it keeps the handle reachable and never closes it, and a read after its close throws.
/// Positions count from 0, the reader's start, to the limit. A value may lie across two regions. A get that fails
/// leaves the position unchanged.
public final class BufferReader extends ReadableRegions {

    private long mark;

    private BufferReader(SealedBuffer buffer, long start, IoVec bytes) {
        super(buffer, start, bytes);
    }

    /// A reader of all bytes.
    ///
    /// @param buffer an open handle, which stays its holder's
    /// @return a reader at position 0
    /// @throws ReleasedBufferException if the handle is closed
    public static BufferReader of(SealedBuffer buffer) {
        return new BufferReader(buffer, 0, buffer.iovec());
    }

    /// Bytes between the position and the limit.
    ///
    /// @return at least 0
    public long remaining() {
        return end() - here();
    }

    /// Tells whether the limit is not reached.
    ///
    /// @return whether there is a byte to be read
    public boolean hasRemaining() {
        return remaining() > 0;
    }

    /// Where the next byte is read.
    ///
    /// @return from 0 to [#limit()]
    public long position() {
        return here();
    }

    /// Goes on elsewhere.
    ///
    /// @param position from 0 to [#limit()]
    /// @return this reader
    /// @throws IllegalArgumentException if it is outside
    /// @throws ReleasedBufferException if it lies in another region and the handle is closed
    public BufferReader position(long position) {
        goTo(position);
        return this;
    }

    /// Where reading ends.
    ///
    /// @return the number of bytes from where this reader began, unless [#limit(long)] says less
    public long limit() {
        return end();
    }

    /// Makes reading end elsewhere, so that a part cannot be read past its end.
    ///
    /// @param limit from [#position()] to the number of bytes that this reader began with
    /// @return this reader
    /// @throws IllegalArgumentException if it is outside
    public BufferReader limit(long limit) {
        end(limit);
        return this;
    }

    /// Passes bytes over.
    ///
    /// @param length in bytes
    /// @return this reader
    /// @throws IndexOutOfBoundsException if the limit comes first, or `length` is negative; the position stays
    /// @throws ReleasedBufferException if the handle is closed
    public BufferReader skip(long length) {
        need(length);
        goTo(here() + length);
        return this;
    }

    /// Remembers the position for [#reset()], in the place of one that was remembered before.
    ///
    /// @return this reader
    public BufferReader mark() {
        mark = here();
        return this;
    }

    /// Goes back to the position that was remembered last, or to 0.
    ///
    /// @return this reader
    /// @throws IllegalArgumentException if the limit has become less
    /// @throws ReleasedBufferException if it lies in another region and the handle is closed
    public BufferReader reset() {
        return position(mark);
    }

    /// Reads a byte.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException if the limit comes first; the position stays
    /// @throws ReleasedBufferException if the handle is closed
    public byte getByte() {
        MemorySegment here = memory;
        long from = at;
        long ends = here.byteSize() - Byte.BYTES + 1;
        if (ends <= 0 || Long.compareUnsigned(from, ends) >= 0 || !buffer.isReadable()) {
            return (byte) gathered(Byte.BYTES);
        }
        byte value = here.get(ValueLayout.JAVA_BYTE, from);
        at = from + Byte.BYTES;
        Reference.reachabilityFence(this);
        return value;
    }

    /// Reads a byte as a number from 0 to 255.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public int getUnsignedByte() {
        return getByte() & 0xff;
    }

    /// Reads two bytes, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException if the limit comes first; the position stays
    /// @throws ReleasedBufferException if the handle is closed
    public short getShort() {
        MemorySegment here = memory;
        long from = at;
        long ends = here.byteSize() - Short.BYTES + 1;
        if (ends <= 0 || Long.compareUnsigned(from, ends) >= 0 || !buffer.isReadable()) {
            return (short) gathered(Short.BYTES);
        }
        short value = here.get(BigEndian.SHORT, from);
        at = from + Short.BYTES;
        Reference.reachabilityFence(this);
        return value;
    }

    /// Reads two bytes in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public short getShort(ByteOrder order) {
        boolean asItIs = BigEndian.is(order);
        short value = getShort();
        return asItIs ? value : Short.reverseBytes(value);
    }

    /// Reads two bytes as a number from 0 to 65,535, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public int getUnsignedShort() {
        return getShort() & 0xffff;
    }

    /// Reads two bytes as a number from 0 to 65,535 in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public int getUnsignedShort(ByteOrder order) {
        return getShort(order) & 0xffff;
    }

    /// Reads four bytes, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException if the limit comes first; the position stays
    /// @throws ReleasedBufferException if the handle is closed
    public int getInt() {
        MemorySegment here = memory;
        long from = at;
        long ends = here.byteSize() - Integer.BYTES + 1;
        if (ends <= 0 || Long.compareUnsigned(from, ends) >= 0 || !buffer.isReadable()) {
            return (int) gathered(Integer.BYTES);
        }
        int value = here.get(BigEndian.INT, from);
        at = from + Integer.BYTES;
        Reference.reachabilityFence(this);
        return value;
    }

    /// Reads four bytes in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public int getInt(ByteOrder order) {
        boolean asItIs = BigEndian.is(order);
        int value = getInt();
        return asItIs ? value : Integer.reverseBytes(value);
    }

    /// Reads four bytes as a number from 0 to 4,294,967,295, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public long getUnsignedInt() {
        return getInt() & 0xffff_ffffL;
    }

    /// Reads four bytes as a number from 0 to 4,294,967,295 in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public long getUnsignedInt(ByteOrder order) {
        return getInt(order) & 0xffff_ffffL;
    }

    /// Reads eight bytes, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException if the limit comes first; the position stays
    /// @throws ReleasedBufferException if the handle is closed
    public long getLong() {
        MemorySegment here = memory;
        long from = at;
        long ends = here.byteSize() - Long.BYTES + 1;
        if (ends <= 0 || Long.compareUnsigned(from, ends) >= 0 || !buffer.isReadable()) {
            return gathered(Long.BYTES);
        }
        long value = here.get(BigEndian.LONG, from);
        at = from + Long.BYTES;
        Reference.reachabilityFence(this);
        return value;
    }

    /// Reads eight bytes in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public long getLong(ByteOrder order) {
        boolean asItIs = BigEndian.is(order);
        long value = getLong();
        return asItIs ? value : Long.reverseBytes(value);
    }

    /// Reads four bytes as a `float`, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public float getFloat() {
        return Float.intBitsToFloat(getInt());
    }

    /// Reads four bytes as a `float` in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public float getFloat(ByteOrder order) {
        return Float.intBitsToFloat(getInt(order));
    }

    /// Reads eight bytes as a `double`, big-endian.
    ///
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public double getDouble() {
        return Double.longBitsToDouble(getLong());
    }

    /// Reads eight bytes as a `double` in the order given.
    ///
    /// @param order which byte comes first
    /// @return the value
    /// @throws IndexOutOfBoundsException as [#getByte()]
    /// @throws ReleasedBufferException if the handle is closed
    public double getDouble(ByteOrder order) {
        return Double.longBitsToDouble(getLong(order));
    }

    /// Reads values of two bytes each, big-endian.
    ///
    /// @param target where they go
    /// @param from index of the first
    /// @param count how many
    /// @return this reader
    /// @throws IndexOutOfBoundsException if there are fewer, or there is no room for them; nothing is read then
    /// @throws ReleasedBufferException if the handle is closed
    /// @throws IllegalStateException if memory that is used again was given back meanwhile: `target` is void then
    public BufferReader getShorts(short[] target, int from, int count) {
        Objects.checkFromIndexSize(from, count, target.length);
        need((long) count * Short.BYTES);
        readShorts(target, from, count);
        return this;
    }

    /// Reads values of four bytes each, big-endian.
    ///
    /// @param target where they go
    /// @param from index of the first
    /// @param count how many
    /// @return this reader
    /// @throws IndexOutOfBoundsException if there are fewer, or there is no room for them; nothing is read then
    /// @throws ReleasedBufferException if the handle is closed
    /// @throws IllegalStateException if memory that is used again was given back meanwhile: `target` is void then
    public BufferReader getInts(int[] target, int from, int count) {
        Objects.checkFromIndexSize(from, count, target.length);
        need((long) count * Integer.BYTES);
        readInts(target, from, count);
        return this;
    }

    /// Reads values of eight bytes each, big-endian.
    ///
    /// @param target where they go
    /// @param from index of the first
    /// @param count how many
    /// @return this reader
    /// @throws IndexOutOfBoundsException if there are fewer, or there is no room for them; nothing is read then
    /// @throws ReleasedBufferException if the handle is closed
    /// @throws IllegalStateException if memory that is used again was given back meanwhile: `target` is void then
    public BufferReader getLongs(long[] target, int from, int count) {
        Objects.checkFromIndexSize(from, count, target.length);
        need((long) count * Long.BYTES);
        readLongs(target, from, count);
        return this;
    }

    /// Copies the next bytes into an array, all of it. Counted in [io.bulla.iovec.CopyTally].
    ///
    /// @param target filled
    /// @return this reader
    /// @throws IndexOutOfBoundsException if the limit comes first; nothing is copied then
    /// @throws ReleasedBufferException if the handle is closed
    public BufferReader get(byte[] target) {
        return get(target, 0, target.length);
    }

    /// Copies the next bytes into a part of an array. Counted in [io.bulla.iovec.CopyTally].
    ///
    /// @param target where they go
    /// @param from index of the first
    /// @param count how many
    /// @return this reader
    /// @throws IndexOutOfBoundsException if there are fewer, or there is no room for them; nothing is copied then
    /// @throws ReleasedBufferException if the handle is closed
    public BufferReader get(byte[] target, int from, int count) {
        Objects.checkFromIndexSize(from, count, target.length);
        return get(MemorySegment.ofArray(target).asSlice(from, count));
    }

    /// Copies the next bytes into a segment, all of it. Counted in [io.bulla.iovec.CopyTally].
    ///
    /// @param target writable; filled
    /// @return this reader
    /// @throws IndexOutOfBoundsException if the limit comes first; nothing is copied then
    /// @throws ReleasedBufferException if the handle is closed
    public BufferReader get(MemorySegment target) {
        copyNext(target);
        return this;
    }

    /// Copies the next bytes into an array of their own. Counted in [io.bulla.iovec.CopyTally].
    ///
    /// @param length in bytes; checked against what is there before memory is taken
    /// @return the bytes
    /// @throws IndexOutOfBoundsException if the limit comes first, or `length` is negative
    /// @throws IllegalArgumentException if they are more than an array holds
    /// @throws ReleasedBufferException if the handle is closed
    public byte[] getBytes(long length) {
        need(length);
        byte[] copy = new byte[SealedBuffer.arraySize(length)];
        copyNext(MemorySegment.ofArray(copy));
        return copy;
    }

    /// A view of the next bytes, which this reader passes over: for many fields at offsets that are known.
    ///
    /// @param byteSize in bytes, at least 0; best a constant
    /// @return a view that borrows the bytes, good while a handle on the buffer is open
    /// @throws IndexOutOfBoundsException if the limit comes first, or `byteSize` is negative; the position stays
    /// @throws ReleasedBufferException if the handle is closed
    public RecordView record(int byteSize) {
        return nextRecord(byteSize);
    }

    /// Reads text. Bytes that are none in the charset become its replacement, as in [String#String(byte[], Charset)].
    ///
    /// @param length in bytes; checked against what is there before memory is taken
    /// @param charset how characters were written
    /// @return the text
    /// @throws IndexOutOfBoundsException if the limit comes first, or `length` is negative
    /// @throws IllegalArgumentException if they are more than an array holds
    /// @throws ReleasedBufferException if the handle is closed
    public String getString(long length, Charset charset) {
        Objects.requireNonNull(charset, "charset");
        String text = new String(ahead(length), charset);
        skip(length);
        return text;
    }

    /// A reader of its own on the next bytes, which this one passes over: for a part that has its own end. No byte is
    /// copied.
    ///
    /// @param length in bytes
    /// @return a reader at its position 0, on the same handle
    /// @throws IndexOutOfBoundsException if the limit comes first, or `length` is negative
    /// @throws ReleasedBufferException if the handle is closed
    public BufferReader slice(long length) {
        BufferReader part = new BufferReader(buffer, start + here(), next(length));
        skip(length);
        return part;
    }

    /// A handle on the next bytes, which this reader passes over: for a part that is kept or sent. No byte is copied.
    ///
    /// @param length in bytes
    /// @return a handle that its holder closes; it outlives the one that is read
    /// @throws IndexOutOfBoundsException if the limit comes first, or `length` is negative
    /// @throws ReleasedBufferException if the handle is closed
    public SealedBuffer share(long length) {
        need(length);
        SealedBuffer part = buffer.slice(start + here(), length);
        try {
            skip(length);
        } catch (Throwable failure) {
            part.close();
            throw failure;
        }
        return part;
    }

    @Override
    public String toString() {
        return "BufferReader[position=" + here() + " limit=" + end() + (buffer.isOpen() ? "" : " closed") + "]";
    }
}
