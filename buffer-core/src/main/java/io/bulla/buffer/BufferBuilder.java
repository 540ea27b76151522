// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.internal.BuilderAccess;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.internal.BigEndian;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.Charset;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A builder writes a message, and seals it into a [SealedBuffer].
///
/// ```java
/// import io.bulla.buffer.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         builder.putInt(5).putInt(5, ByteOrder.LITTLE_ENDIAN).putString("tokens", StandardCharsets.UTF_8);
///         try (SealedBuffer message = builder.seal()) { // the builder is spent, the bytes never change again
///             IO.print(message.hexDump());
///         }
///     } // a builder that was not sealed gives its memory back here
/// }
/// ```
///
/// ```text
/// 00000000: 0000 0005 0500 0000 746f 6b65 6e73       ........tokens
/// ```
///
/// ```
/// writing --seal()--> sealed (the bytes belong to the SealedBuffer)      both end states are final;
/// writing --close()--> abandoned (the memory was given back)             a later write throws
/// ```
///
/// A builder belongs to one thread at a time. It grows its region if the source can, and takes another region if
/// not. Values are big-endian, unless a put names a byte order. The order is an argument and not a state of the
/// builder, so a second writer cannot meet an order that it does not expect. [BufferReader] reads the values back.
/// A value never straddles two regions; a long run of bytes may. The builder gives no writable view away, so no
/// code can write after `seal()`.
public final class BufferBuilder extends WritableRegions implements AutoCloseable {

    static {
        BuilderAccess.offer(new RegionAccess());
    }

    private BufferBuilder(MemorySource source, long firstCapacity) {
        super(source, firstCapacity);
    }

    /// A builder that starts small and grows.
    ///
    /// @param source where the memory comes from
    /// @return an empty builder
    public static BufferBuilder create(MemorySource source) {
        return new BufferBuilder(source, FIRST);
    }

    /// A builder whose first region has room for `capacity` bytes, so that a message of known size is one region.
    /// It is taken now.
    ///
    /// @param source where the memory comes from
    /// @param capacity in bytes, at least 1
    /// @return an empty builder that has its first region
    /// @throws IllegalArgumentException if `capacity` is less than 1
    /// @throws IllegalStateException if the source has no more memory
    public static BufferBuilder ofCapacity(MemorySource source, long capacity) {
        BufferBuilder builder = expecting(source, capacity);
        builder.takeRegion(1);
        return builder;
    }

    /// A builder as of [#ofCapacity], but its first region is taken with the first write: for bytes that were
    /// announced and may never come.
    ///
    /// @param source where the memory comes from
    /// @param capacity in bytes, at least 1
    /// @return an empty builder without memory
    /// @throws IllegalArgumentException if `capacity` is less than 1
    public static BufferBuilder expecting(MemorySource source, long capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity is at least one byte: capacity=" + capacity);
        }
        return new BufferBuilder(source, capacity);
    }

    /// A builder with memory for `capacity` bytes, if the source has it now: back-pressure without an exception.
    ///
    /// @param source where the memory comes from
    /// @param capacity in bytes, at least 1
    /// @return an empty builder that has its first region; nothing if a limit forbids it
    /// @throws IllegalArgumentException if `capacity` is less than 1
    public static Optional<BufferBuilder> tryBuild(MemorySource source, long capacity) {
        Optional<BufferBuilder> builder = Optional.of(expecting(source, capacity)); // before there is memory to lose
        try {
            builder.get().takeRegion(1);
            return builder;
        } catch (MemoryLimitException full) {
            return Optional.empty();
        }
    }

    /// Number of bytes written.
    ///
    /// @return at least 0
    public long byteSize() {
        return written();
    }

    /// Writes a byte.
    ///
    /// @param value the byte
    /// @return this builder
    /// @throws IllegalStateException if the builder is sealed or abandoned, or the source has no more memory
    public BufferBuilder putByte(byte value) {
        MemorySegment to = memory;
        long at = used;
        long ends = to.byteSize() - Byte.BYTES + 1;
        if (ends > 0 && Long.compareUnsigned(at, ends) < 0) {
            to.set(ValueLayout.JAVA_BYTE, at, value);
            used = at + Byte.BYTES;
            return this;
        }
        ensureRoom(Byte.BYTES);
        return putByte(value);
    }

    /// Writes two bytes.
    ///
    /// @param value the value
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putShort(short value) {
        MemorySegment to = memory;
        long at = used;
        long ends = to.byteSize() - Short.BYTES + 1;
        if (ends > 0 && Long.compareUnsigned(at, ends) < 0) {
            to.set(BigEndian.SHORT, at, value);
            used = at + Short.BYTES;
            return this;
        }
        ensureRoom(Short.BYTES);
        return putShort(value);
    }

    /// Writes four bytes.
    ///
    /// @param value the value
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putInt(int value) {
        MemorySegment to = memory;
        long at = used;
        long ends = to.byteSize() - Integer.BYTES + 1;
        if (ends > 0 && Long.compareUnsigned(at, ends) < 0) {
            to.set(BigEndian.INT, at, value);
            used = at + Integer.BYTES;
            return this;
        }
        ensureRoom(Integer.BYTES);
        return putInt(value);
    }

    /// Writes eight bytes.
    ///
    /// @param value the value
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putLong(long value) {
        MemorySegment to = memory;
        long at = used;
        long ends = to.byteSize() - Long.BYTES + 1;
        if (ends > 0 && Long.compareUnsigned(at, ends) < 0) {
            to.set(BigEndian.LONG, at, value);
            used = at + Long.BYTES;
            return this;
        }
        ensureRoom(Long.BYTES);
        return putLong(value);
    }

    /// Writes two bytes in the order given.
    ///
    /// @param value the value
    /// @param order which byte comes first
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putShort(short value, ByteOrder order) {
        return putShort(BigEndian.is(order) ? value : Short.reverseBytes(value));
    }

    /// Writes four bytes in the order given.
    ///
    /// @param value the value
    /// @param order which byte comes first
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putInt(int value, ByteOrder order) {
        return putInt(BigEndian.is(order) ? value : Integer.reverseBytes(value));
    }

    /// Writes eight bytes in the order given.
    ///
    /// @param value the value
    /// @param order which byte comes first
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putLong(long value, ByteOrder order) {
        return putLong(BigEndian.is(order) ? value : Long.reverseBytes(value));
    }

    /// Writes the four bytes of a `float`, big-endian.
    ///
    /// @param value the value; not a number is written as it is
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putFloat(float value) {
        return putInt(Float.floatToRawIntBits(value));
    }

    /// Writes the four bytes of a `float` in the order given.
    ///
    /// @param value the value; not a number is written as it is
    /// @param order which byte comes first
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putFloat(float value, ByteOrder order) {
        return putInt(Float.floatToRawIntBits(value), order);
    }

    /// Writes the eight bytes of a `double`, big-endian.
    ///
    /// @param value the value; not a number is written as it is
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putDouble(double value) {
        return putLong(Double.doubleToRawLongBits(value));
    }

    /// Writes the eight bytes of a `double` in the order given.
    ///
    /// @param value the value; not a number is written as it is
    /// @param order which byte comes first
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putDouble(double value, ByteOrder order) {
        return putLong(Double.doubleToRawLongBits(value), order);
    }

    /// Begins a record of a known size, which lies in one region: for many fields, with one look for room.
    ///
    /// @param byteSize in bytes, at least 1; best a constant
    /// @return the record, without which nothing is written until its end
    /// @throws IllegalArgumentException if `byteSize` is less than 1
    /// @throws IllegalStateException as [#putByte(byte)], or if a record is open
    public RecordWriter record(int byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("a record is at least one byte: byteSize=" + byteSize);
        }
        return openRecord(this, byteSize);
    }

    /// Writes text, without its length and without an end. A character that the charset does not have becomes its
    /// replacement, as in [String#getBytes(Charset)].
    ///
    /// @param text any text
    /// @param charset how characters are written
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder putString(String text, Charset charset) {
        return put(text.getBytes(charset));
    }

    /// Writes values of two bytes each.
    ///
    /// @param values some of them are written
    /// @param from index of the first
    /// @param count how many
    /// @return this builder
    /// @throws IndexOutOfBoundsException if there are fewer
    /// @throws IllegalStateException as [#putByte(byte)]; then some values may be written
    public BufferBuilder putShorts(short[] values, int from, int count) {
        checkRun(from, count, values.length);
        for (int done = 0; done < count; ) {
            int now = roomFor(count - done, Short.BYTES);
            BigEndian.put(memory, used, values, from + done, now);
            used += (long) now * Short.BYTES;
            done += now;
        }
        return this;
    }

    /// Writes values of four bytes each.
    ///
    /// @param values some of them are written
    /// @param from index of the first
    /// @param count how many
    /// @return this builder
    /// @throws IndexOutOfBoundsException if there are fewer
    /// @throws IllegalStateException as [#putByte(byte)]; then some values may be written
    public BufferBuilder putInts(int[] values, int from, int count) {
        checkRun(from, count, values.length);
        for (int done = 0; done < count; ) {
            int now = roomFor(count - done, Integer.BYTES);
            BigEndian.put(memory, used, values, from + done, now);
            used += (long) now * Integer.BYTES;
            done += now;
        }
        return this;
    }

    /// Writes values of eight bytes each.
    ///
    /// @param values some of them are written
    /// @param from index of the first
    /// @param count how many
    /// @return this builder
    /// @throws IndexOutOfBoundsException if there are fewer
    /// @throws IllegalStateException as [#putByte(byte)]; then some values may be written
    public BufferBuilder putLongs(long[] values, int from, int count) {
        checkRun(from, count, values.length);
        for (int done = 0; done < count; ) {
            int now = roomFor(count - done, Long.BYTES);
            BigEndian.put(memory, used, values, from + done, now);
            used += (long) now * Long.BYTES;
            done += now;
        }
        return this;
    }

    /// Writes bytes.
    ///
    /// @param bytes copied whole
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder put(byte... bytes) {
        return put(bytes, 0, bytes.length);
    }

    /// Writes bytes out of an array.
    ///
    /// @param bytes some of them are written
    /// @param from index of the first
    /// @param count how many
    /// @return this builder
    /// @throws IndexOutOfBoundsException if there are fewer
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder put(byte[] bytes, int from, int count) {
        Objects.checkFromIndexSize(from, count, bytes.length);
        if (count > 0 && count <= capacity - used) {
            // not by the segment below, which a call site would see beside others of another kind
            MemorySegment.copy(bytes, from, memory, ValueLayout.JAVA_BYTE, used, count);
            used += count;
            return this;
        }
        return put(MemorySegment.ofArray(bytes).asSlice(from, count));
    }

    /// Writes the bytes of a segment.
    ///
    /// @param bytes copied whole
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder put(MemorySegment bytes) {
        long length = bytes.byteSize();
        if (length > 0 && length <= capacity - used) {
            MemorySegment.copy(bytes, 0, memory, used, length);
            used += length;
            return this;
        }
        fill(bytes.byteSize(), (done, target, at, step) -> MemorySegment.copy(bytes, done, target, at, step));
        return this;
    }

    /// Writes the bytes of a vector: a copy, counted in [io.bulla.iovec.CopyTally] once per region written to.
    ///
    /// @param bytes copied whole
    /// @return this builder
    /// @throws IllegalStateException as [#putByte(byte)]
    public BufferBuilder put(IoVec bytes) {
        fill(bytes.byteSize(), (done, target, at, step) -> bytes.copyTo(done, target.asSlice(at, step), step));
        return this;
    }

    /// Reads once from a channel: straight into this builder's memory if it is a file, socket or pipe of the
    /// JDK's. Any other channel could keep what it is given and write to it after the seal, so it gets memory
    /// of its own, at most 64 KiB at a time, and its bytes are copied.
    ///
    /// @param channel read at most once; one that keeps the buffer it is given could write after the seal (the
    ///     JDK's do not)
    /// @param length the most to read, in bytes, at least 1
    /// @return bytes read, perhaps 0 from a non-blocking channel; -1 at its end
    /// @throws IOException from the channel; the builder is as before
    /// @throws IllegalStateException as [#putByte(byte)]
    public int readFrom(ReadableByteChannel channel, long length) throws IOException {
        if (length < 1) {
            throw new IllegalArgumentException("nothing to read: length=" + length);
        }
        return ChannelReads.once(this, channel, length);
    }

    /// Reads exactly `length` bytes from a blocking channel.
    ///
    /// @param channel a blocking channel
    /// @param length in bytes, at least 0
    /// @return this builder
    /// @throws IllegalArgumentException if `length` is negative
    /// @throws java.io.EOFException if the channel ends before; the builder is as before the call
    /// @throws IOException from the channel; the builder is as before the call
    public BufferBuilder readFully(ReadableByteChannel channel, long length) throws IOException {
        if (length < 0) {
            throw new IllegalArgumentException("number of bytes to read is negative: length=" + length);
        }
        ChannelReads.all(this, channel, length);
        return this;
    }

    /// A stream that appends to this builder, for libraries that write to one. What it is given is copied at
    /// once.
    ///
    /// @return a stream for the builder's thread; after the seal it throws as [#putByte(byte)] does
    public OutputStream asOutputStream() {
        return new BuilderSink(this);
    }

    /// A channel that appends to this builder and takes whatever it is given. What it is given is copied at once.
    ///
    /// @return a channel for the builder's thread; after the seal it throws as [#putByte(byte)] does
    public WritableByteChannel asChannel() {
        return new BuilderSink(this);
    }

    /// Drops everything after the first `byteSize` bytes: how a writer above takes back an item that failed
    /// half-way.
    ///
    /// @param byteSize at most what is written
    /// @throws IllegalArgumentException if less is written
    /// @throws IllegalStateException if the builder is sealed or abandoned
    public void truncate(long byteSize) {
        checkNotAsking();
        dropAfter(byteSize);
    }

    /// Ends the writing: the bytes are immutable from now on and belong to the returned handle. The builder is
    /// spent.
    ///
    /// A seal that fails ends the builder too: its memory is given back, and each later use says so. It
    /// fails if the source refuses, if a listener throws, or if there is no heap.
    ///
    /// Publication: a release fence stands between the last write and the first handle. Final fields alone would
    /// not do, for native memory lies outside what they cover.
    ///
    /// @return the first handle
    /// @throws IllegalStateException if the builder is sealed or abandoned
    public SealedBuffer seal() {
        return seal(null);
    }

    /// Ends the writing, as [#seal()].
    ///
    /// @param tag who holds the first handle, or `null`
    /// @return the first handle
    /// @throws IllegalStateException if the builder is sealed or abandoned
    public SealedBuffer seal(@Nullable Object tag) {
        SealedBuffer buffer = sealed();
        // release: publishes the native bytes before any handle can be seen by another thread
        VarHandle.releaseFence();
        announce(buffer, tag);
        return buffer;
    }

    /// Gives the memory back if the builder was not sealed; otherwise does nothing. Again is harmless.
    @Override
    public void close() {
        abandon();
    }

    @Override
    public String toString() {
        return "BufferBuilder[" + regions() + "]";
    }
}
