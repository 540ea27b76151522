// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.agrona;

import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/// A vector as Agrona's read interface, for codecs and publications that take a [org.agrona.DirectBuffer].
///
/// Every read of its own goes through the JDK's segment: in range, of live memory, and without any JVM flag. It
/// cannot be wrapped around something else. Offsets are `int`s, so at most 2 GiB.
///
/// Agrona itself copies and publishes through [#addressOffset()], one flat address, unchecked: for that
/// the memory has to be one native region, and the caller of such code holds the memory meanwhile.
/// It must not be used to wrap a writable buffer around sealed bytes.
public final class SealedDirectBuffer implements DirectReads {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private final IoVec vec;
    private final MemorySegment segment;
    // null unless reads look at a stamp
    private final @Nullable IoVec stamped;

    private SealedDirectBuffer(IoVec vec, MemorySegment segment) {
        this.vec = vec;
        this.segment = segment;
        this.stamped = vec.isStamped() ? vec : null;
    }

    /// The bytes of `vec`, not copied.
    ///
    /// @param vec at most one region, native, of at most 2 GiB; kept reachable
    /// @return a view
    /// @throws IllegalArgumentException if there is no one address that an `int` reaches all of it from; use
    ///     [IoVec#toSegment] for a copy in one piece
    public static SealedDirectBuffer of(IoVec vec) {
        MemorySegment segment = vec.lent().asSegment();
        if (segment.byteSize() > Integer.MAX_VALUE || !segment.isNative()) {
            throw new IllegalArgumentException("no DirectBuffer over this: byteSize=" + segment.byteSize() + " limit="
                    + Integer.MAX_VALUE + " native=" + segment.isNative());
        }
        return new SealedDirectBuffer(vec, segment);
    }

    /// The address, for code that copies by itself. See the class comment.
    @Override
    public long addressOffset() {
        // an address looks at no stamp: from here on the memory is not reused
        return vec.asSegment().address();
    }

    @Override
    public int capacity() {
        return (int) segment.byteSize();
    }

    @Override
    public void checkLimit(int limit) {
        if (limit > capacity()) {
            throw new IndexOutOfBoundsException("limit past the end: limit=" + limit + " byteSize=" + capacity());
        }
    }

    @Override
    public void boundsCheck(int index, int length) {
        IoVec.checkRange("read", index, length, segment.byteSize());
    }

    @Override
    public long getLong(int index, ByteOrder byteOrder) {
        return fenced(segment.get(LONG.withOrder(byteOrder), index));
    }

    @Override
    public long getLong(int index) {
        return fenced(segment.get(LONG, index));
    }

    @Override
    public int getInt(int index, ByteOrder byteOrder) {
        return fenced(segment.get(INT.withOrder(byteOrder), index));
    }

    @Override
    public int getInt(int index) {
        return fenced(segment.get(INT, index));
    }

    @Override
    public short getShort(int index, ByteOrder byteOrder) {
        return (short) fenced(segment.get(SHORT.withOrder(byteOrder), index));
    }

    @Override
    public short getShort(int index) {
        return (short) fenced(segment.get(SHORT, index));
    }

    @Override
    public char getChar(int index, ByteOrder byteOrder) {
        return (char) fenced(segment.get(CHAR.withOrder(byteOrder), index));
    }

    @Override
    public char getChar(int index) {
        return (char) fenced(segment.get(CHAR, index));
    }

    @Override
    public byte getByte(int index) {
        return (byte) fenced(segment.get(BYTE, index));
    }

    @Override
    public void getBytes(int index, byte[] target, int offset, int length) {
        IoVec.checkRange("copy into target", offset, length, target.length);
        vec.copyTo(index, MemorySegment.ofArray(target).asSlice(offset, length), length);
    }

    @Override
    public void getBytes(int index, MutableDirectBuffer target, int targetIndex, int length) {
        boundsCheck(index, length);
        // the target will read by address, unchecked
        checkAlive();
        target.putBytes(targetIndex, segment.asSlice(index, length).asByteBuffer(), 0, length);
        vec.verify();
        Reference.reachabilityFence(vec);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int targetOffset, int length) {
        IoVec.checkRange("copy into target", targetOffset, length, target.capacity());
        boundsCheck(index, length);
        target.put(targetOffset, segment.asSlice(index, length).asByteBuffer(), 0, length);
        vec.verify();
        Reference.reachabilityFence(vec);
    }

    /// Equal to another one of this class with the same bytes.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SealedDirectBuffer that && vec.equals(that.vec);
    }

    @Override
    public int hashCode() {
        return vec.hashCode();
    }

    @Override
    public String toString() {
        return "SealedDirectBuffer[byteSize=" + capacity() + "]";
    }

    private void checkAlive() {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException("memory already freed: byteSize=" + segment.byteSize());
        }
    }

    private int fenced(int value) {
        if (stamped != null) {
            stamped.verify();
        }
        Reference.reachabilityFence(vec);
        return value;
    }

    private long fenced(long value) {
        if (stamped != null) {
            stamped.verify();
        }
        Reference.reachabilityFence(vec);
        return value;
    }
}
