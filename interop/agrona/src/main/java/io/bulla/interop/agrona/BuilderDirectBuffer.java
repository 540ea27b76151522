// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.agrona;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.internal.BuilderAccess;
import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/// A builder as Agrona's write interface, for codecs that write to a [MutableDirectBuffer]: SBE's, for one.
///
/// Index 0 is where the builder ended when this buffer was made. Any index may be written, again and again, until the
/// seal; what was skipped is zero. It grows as Agrona's expandable buffers do, also by [#checkLimit]: an encoder
/// whose last fields were left out calls it with its limit. Its capacity is what was written, so that nothing behind
/// that can be read or sealed.
///
/// There is no address: an Agrona buffer wrapped around this one could write after the seal, so that is refused. What
/// Agrona's own buffers do by address with another one is refused with it, and has a twin that works:
///
/// | refused | instead |
/// |---|---|
/// | `unsafeBuffer.putBytes(i, builderBuffer, from, n)` | `builderBuffer.getBytes(from, unsafeBuffer, i, n)` |
/// | `unsafeBuffer.compareTo(builderBuffer)` | `builderBuffer.compareTo(unsafeBuffer)`, with the opposite sign |
/// | `unsafeBuffer.wrap(builderBuffer)` | a [SealedDirectBuffer] of what was sealed |
///
/// Two of them are equal if they hold the same bytes at that moment, as Agrona's buffers are.
///
/// It loads without any JVM flag.
public final class BuilderDirectBuffer implements DirectReads, DirectWrites {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ByteOrder NATIVE = ByteOrder.nativeOrder();
    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);
    private static final int CHUNK = 4096;
    private static final MemorySegment ZEROS =
            MemorySegment.ofArray(new byte[CHUNK]).asReadOnly();

    private final BufferBuilder builder;
    private final long start;

    private BuilderDirectBuffer(BufferBuilder builder) {
        this.builder = builder;
        this.start = ACCESS.checkedSize(builder);
    }

    /// The bytes behind those that were written.
    ///
    /// @param builder its thread is this buffer's; it may be written to by other means meanwhile
    /// @return a buffer that dies with the builder: after the seal, every call throws as
    ///     [BufferBuilder#putByte(byte)] does
    /// @throws IllegalStateException if the builder is sealed or abandoned
    public static BuilderDirectBuffer of(BufferBuilder builder) {
        return new BuilderDirectBuffer(builder);
    }

    @Override
    public boolean isExpandable() {
        return true;
    }

    /// Bytes written.
    ///
    /// @throws IllegalStateException if they are more than an `int` counts, or fewer than when this buffer was made
    @Override
    public int capacity() {
        long bytes = ACCESS.checkedSize(builder) - start;
        if (bytes < 0 || bytes > Integer.MAX_VALUE) {
            throw new IllegalStateException(
                    "no DirectBuffer over this: written=" + (start + bytes) + " start=" + start);
        }
        return (int) bytes;
    }

    /// Grows to at least `limit` bytes, with zeros.
    @Override
    public void checkLimit(int limit) {
        extend(0, limit);
    }

    @Override
    public void boundsCheck(int index, int length) {
        IoVec.checkRange("read", index, length, capacity());
    }

    /// There is none, for it could be written to after the seal.
    ///
    /// @throws UnsupportedOperationException always
    @Override
    public long addressOffset() {
        throw new UnsupportedOperationException(
                "a builder's bytes have no address: copy them with its getBytes(index, target, targetIndex, length)");
    }

    @Override
    public long getLong(int index, ByteOrder order) {
        return get(index, Long.BYTES, order);
    }

    @Override
    public long getLong(int index) {
        return get(index, Long.BYTES, NATIVE);
    }

    @Override
    public int getInt(int index, ByteOrder order) {
        return (int) get(index, Integer.BYTES, order);
    }

    @Override
    public int getInt(int index) {
        return (int) get(index, Integer.BYTES, NATIVE);
    }

    @Override
    public short getShort(int index, ByteOrder order) {
        return (short) get(index, Short.BYTES, order);
    }

    @Override
    public short getShort(int index) {
        return (short) get(index, Short.BYTES, NATIVE);
    }

    @Override
    public char getChar(int index, ByteOrder order) {
        return (char) get(index, Character.BYTES, order);
    }

    @Override
    public char getChar(int index) {
        return (char) get(index, Character.BYTES, NATIVE);
    }

    @Override
    public byte getByte(int index) {
        return (byte) get(index, Byte.BYTES, NATIVE);
    }

    @Override
    public void getBytes(int index, byte[] target, int offset, int length) {
        IoVec.checkRange("copy into target", offset, length, target.length);
        getBytes(index, ByteBuffer.wrap(target), offset, length);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int targetOffset, int length) {
        IoVec.checkRange("copy into target", targetOffset, length, target.capacity());
        boundsCheck(index, length);
        MemorySegment into = MemorySegment.ofBuffer(target.duplicate().clear()).asSlice(targetOffset, length);
        long done = 0;
        for (MemorySegment piece : pieces(index, length)) {
            MemorySegment.copy(piece, 0, into, done, piece.byteSize());
            done += piece.byteSize();
        }
    }

    @Override
    public void getBytes(int index, MutableDirectBuffer target, int targetIndex, int length) {
        boundsCheck(index, length);
        byte[] chunk = new byte[Math.min(length, CHUNK)];
        for (int done = 0; done < length; done += chunk.length) {
            int step = Math.min(length - done, chunk.length);
            getBytes(index + done, chunk, 0, step);
            target.putBytes(targetIndex + done, chunk, 0, step);
        }
    }

    @Override
    public void putLong(int index, long value, ByteOrder order) {
        put(index, Long.BYTES, value, order);
    }

    @Override
    public void putLong(int index, long value) {
        put(index, Long.BYTES, value, NATIVE);
    }

    @Override
    public void putInt(int index, int value, ByteOrder order) {
        put(index, Integer.BYTES, value, order);
    }

    @Override
    public void putInt(int index, int value) {
        put(index, Integer.BYTES, value, NATIVE);
    }

    @Override
    public void putShort(int index, short value, ByteOrder order) {
        put(index, Short.BYTES, value, order);
    }

    @Override
    public void putShort(int index, short value) {
        put(index, Short.BYTES, value, NATIVE);
    }

    @Override
    public void putChar(int index, char value, ByteOrder order) {
        put(index, Character.BYTES, value, order);
    }

    @Override
    public void putChar(int index, char value) {
        put(index, Character.BYTES, value, NATIVE);
    }

    @Override
    public void putByte(int index, byte value) {
        put(index, Byte.BYTES, value, NATIVE);
    }

    @Override
    public void setMemory(int index, int length, byte value) {
        long before = capacity();
        extend(index, length);
        List<MemorySegment> pieces = piecesOr(before, index, length);
        // no iterator: from here on nothing may fail
        for (int i = 0; i < pieces.size(); i++) {
            pieces.get(i).fill(value);
        }
    }

    @Override
    public void putBytes(int index, byte[] source) {
        put(index, MemorySegment.ofArray(source));
    }

    @Override
    public void putBytes(int index, byte[] source, int offset, int length) {
        IoVec.checkRange("copy from source", offset, length, source.length);
        put(index, MemorySegment.ofArray(source).asSlice(offset, length));
    }

    @Override
    public void putBytes(int index, ByteBuffer source, int length) {
        int position = source.position();
        putBytes(index, source, position, length);
        source.position(position + length);
    }

    @Override
    public void putBytes(int index, ByteBuffer source, int sourceIndex, int length) {
        IoVec.checkRange("copy from source", sourceIndex, length, source.capacity());
        put(index, MemorySegment.ofBuffer(source.duplicate().clear()).asSlice(sourceIndex, length));
    }

    /// Copies by the source's own reads, at most 4 KiB at a time, or all at once if the source is this buffer. If
    /// that fails, this buffer is as long as before; what a source that throws has overwritten by then stays so.
    @Override
    public void putBytes(int index, DirectBuffer source, int sourceIndex, int length) {
        source.boundsCheck(sourceIndex, length);
        byte[] chunk = new byte[source == this ? length : Math.min(length, CHUNK)];
        long before = capacity();
        if (index < before) {
            // before anything is overwritten
            extend(index, length);
        }
        try {
            for (int done = 0; done < length; done += chunk.length) {
                int step = Math.min(length - done, chunk.length);
                source.getBytes(sourceIndex + done, chunk, 0, step);
                putBytes(index + done, chunk, 0, step);
            }
        } catch (Throwable failure) {
            backTo(before, failure);
            throw failure;
        }
    }

    /// Equal to another one of this class with the same bytes.
    ///
    /// @throws IllegalStateException if one of the two builders is sealed or abandoned
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || other instanceof BuilderDirectBuffer that && compareTo(that) == 0;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < capacity(); i++) {
            hash = 31 * hash + getByte(i);
        }
        return hash;
    }

    @Override
    public String toString() {
        return "BuilderDirectBuffer[start=" + start + "]";
    }

    /// Written bytes, a region's worth after the other.
    private List<MemorySegment> pieces(int index, long length) {
        if (length == 0) {
            return List.of();
        }
        List<MemorySegment> pieces = new ArrayList<>();
        for (long done = 0; done < length; ) {
            MemorySegment memory = ACCESS.writtenFrom(builder, start + index + done);
            MemorySegment piece = memory.asSlice(0, Math.min(length - done, memory.byteSize()));
            pieces.add(piece);
            done += piece.byteSize();
        }
        return pieces;
    }

    /// The same; if that fails, what is behind `before` is gone again.
    private List<MemorySegment> piecesOr(long before, int index, long length) {
        try {
            return pieces(index, length);
        } catch (Throwable full) {
            backTo(before, full);
            throw full;
        }
    }

    /// As long as before what failed.
    private void backTo(long before, Throwable failure) {
        try {
            builder.truncate(start + before);
        } catch (RuntimeException gone) {
            // sealed, abandoned or cut by a source that calls back: what failed first says more
            failure.addSuppressed(gone);
        }
    }

    private void put(int index, MemorySegment bytes) {
        IoVec.checkRange("write", index, bytes.byteSize(), Integer.MAX_VALUE);
        long before = capacity();
        long old = Math.clamp(before - index, 0, bytes.byteSize());
        List<MemorySegment> overwritten;
        try {
            extend(index, 0);
            builder.put(bytes.asSlice(old));
            // behind what may move the region, and before what cannot fail
            overwritten = pieces(index, old);
        } catch (Throwable full) {
            backTo(before, full);
            throw full;
        }
        long done = 0;
        for (int i = 0; i < overwritten.size(); i++) {
            MemorySegment memory = overwritten.get(i);
            MemorySegment.copy(bytes, done, memory, 0, memory.byteSize());
            done += memory.byteSize();
        }
    }

    private void put(int index, int width, long value, ByteOrder order) {
        long before = capacity();
        extend(index, width);
        long bytes = littleEndian(value, width, order);
        try {
            MemorySegment memory = ACCESS.writtenFrom(builder, start + index);
            if (memory.byteSize() < width) {
                put(index, MemorySegment.ofArray(lowBytes(bytes, width)));
                return;
            }
            switch (width) {
                case Byte.BYTES -> memory.set(BYTE, 0, (byte) bytes);
                case Short.BYTES -> memory.set(SHORT, 0, (short) bytes);
                case Integer.BYTES -> memory.set(INT, 0, (int) bytes);
                default -> memory.set(LONG, 0, bytes);
            }
        } catch (Throwable full) {
            backTo(before, full);
            throw full;
        }
    }

    private static byte[] lowBytes(long value, int width) {
        byte[] bytes = new byte[width];
        for (int i = 0; i < width; i++) {
            bytes[i] = (byte) (value >>> 8 * i);
        }
        return bytes;
    }

    private long get(int index, int width, ByteOrder order) {
        boundsCheck(index, width);
        MemorySegment memory = ACCESS.writtenFrom(builder, start + index);
        long bytes = 0;
        if (memory.byteSize() < width) {
            for (int i = 0; i < width; i++) {
                bytes |= (ACCESS.writtenFrom(builder, start + index + i).get(BYTE, 0) & 0xffL) << 8 * i;
            }
        } else {
            bytes = switch (width) {
                case Byte.BYTES -> memory.get(BYTE, 0);
                case Short.BYTES -> memory.get(SHORT, 0);
                case Integer.BYTES -> memory.get(INT, 0);
                default -> memory.get(LONG, 0);
            };
        }
        return littleEndian(bytes, width, order);
    }

    /// The low bytes as they are, or turned round; its own inverse.
    private static long littleEndian(long value, int width, ByteOrder order) {
        return order == ByteOrder.LITTLE_ENDIAN ? value : Long.reverseBytes(value) >>> Long.SIZE - Byte.SIZE * width;
    }

    /// Zeros up to the end of what is to be written; all of them or none.
    private void extend(int index, int length) {
        IoVec.checkRange("write", index, length, Integer.MAX_VALUE);
        long before = capacity();
        long missing = (long) index + length - before;
        try {
            for (; missing > 0; missing -= CHUNK) {
                builder.put(ZEROS.asSlice(0, Math.min(missing, CHUNK)));
            }
        } catch (Throwable full) {
            backTo(before, full);
            throw full;
        }
    }
}
