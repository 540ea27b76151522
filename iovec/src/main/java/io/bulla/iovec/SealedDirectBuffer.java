package io.bulla.iovec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.AsciiEncoding;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/// A vector as Agrona's read interface, for codecs and publications that take a [DirectBuffer].
///
/// Every read of its own goes through the JDK's segment: in range, of live memory, and without any JVM flag. It
/// cannot be wrapped around something else. Offsets are `int`s, so at most 2 GiB.
///
/// Agrona itself copies and publishes through [#addressOffset()], one flat address, which nobody checks: for that
/// the memory has to be one native region, and whoever hands this buffer to such code holds the memory meanwhile.
/// It must not be used to wrap a writable buffer around sealed bytes.
///
/// Agrona is an optional dependency of this module: a program that uses this class requires it by itself.
@SuppressWarnings("exports")
public final class SealedDirectBuffer implements DirectBuffer {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final char LARGEST_ASCII = 127;

    private final IoVec vec;
    private final MemorySegment segment;

    private SealedDirectBuffer(IoVec vec, MemorySegment segment) {
        this.vec = vec;
        this.segment = segment;
    }

    /// The bytes of `vec`, not copied.
    ///
    /// @param vec at most one region, native, of at most 2 GiB; kept reachable
    /// @return a view
    /// @throws IllegalArgumentException if there is no one address that an `int` reaches all of it from; use
    ///     [IoVec#toSegment] for a copy in one piece
    public static SealedDirectBuffer of(IoVec vec) {
        MemorySegment segment = vec.asSegment();
        if (segment.byteSize() > Integer.MAX_VALUE || !segment.isNative()) {
            throw new IllegalArgumentException("no DirectBuffer over this: byteSize=" + segment.byteSize() + " limit="
                    + Integer.MAX_VALUE + " native=" + segment.isNative());
        }
        return new SealedDirectBuffer(vec, segment);
    }

    @Override
    public void wrap(byte[] buffer) {
        throw sealed();
    }

    @Override
    public void wrap(byte[] buffer, int offset, int length) {
        throw sealed();
    }

    @Override
    public void wrap(ByteBuffer buffer) {
        throw sealed();
    }

    @Override
    public void wrap(ByteBuffer buffer, int offset, int length) {
        throw sealed();
    }

    @Override
    public void wrap(DirectBuffer buffer) {
        throw sealed();
    }

    @Override
    public void wrap(DirectBuffer buffer, int offset, int length) {
        throw sealed();
    }

    @Override
    public void wrap(long address, int length) {
        throw sealed();
    }

    /// The address, for code that copies by itself. See the class comment.
    @Override
    public long addressOffset() {
        return segment.address();
    }

    /// No array lies beneath.
    ///
    /// @return `null`
    @Override
    public byte[] byteArray() {
        return null;
    }

    /// No `ByteBuffer` lies beneath, or it could be wrapped again.
    ///
    /// @return `null`
    @Override
    public ByteBuffer byteBuffer() {
        return null;
    }

    @Override
    public int wrapAdjustment() {
        return 0;
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
    public double getDouble(int index, ByteOrder byteOrder) {
        return Double.longBitsToDouble(getLong(index, byteOrder));
    }

    @Override
    public double getDouble(int index) {
        return Double.longBitsToDouble(getLong(index));
    }

    @Override
    public float getFloat(int index, ByteOrder byteOrder) {
        return Float.intBitsToFloat(getInt(index, byteOrder));
    }

    @Override
    public float getFloat(int index) {
        return Float.intBitsToFloat(getInt(index));
    }

    @Override
    public void getBytes(int index, byte[] target) {
        getBytes(index, target, 0, target.length);
    }

    @Override
    public void getBytes(int index, byte[] target, int offset, int length) {
        IoVec.checkRange("copy into target", offset, length, target.length);
        vec.copyTo(index, MemorySegment.ofArray(target).asSlice(offset, length), length);
    }

    @Override
    public void getBytes(int index, MutableDirectBuffer target, int targetIndex, int length) {
        boundsCheck(index, length);
        // the target will read by address, and ask nobody
        checkAlive();
        target.putBytes(targetIndex, segment.asSlice(index, length).asByteBuffer(), 0, length);
        Reference.reachabilityFence(vec);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int length) {
        int position = target.position();
        getBytes(index, target, position, length);
        target.position(position + length);
    }

    @Override
    public void getBytes(int index, ByteBuffer target, int targetOffset, int length) {
        IoVec.checkRange("copy into target", targetOffset, length, target.capacity());
        boundsCheck(index, length);
        target.put(targetOffset, segment.asSlice(index, length).asByteBuffer(), 0, length);
        Reference.reachabilityFence(vec);
    }

    @Override
    public int parseNaturalIntAscii(int index, int length) {
        boundsCheck(index, length);
        return AsciiEncoding.parseIntAscii(natural(index, length), 0, length);
    }

    @Override
    public long parseNaturalLongAscii(int index, int length) {
        boundsCheck(index, length);
        return AsciiEncoding.parseLongAscii(natural(index, length), 0, length);
    }

    @Override
    public int parseIntAscii(int index, int length) {
        boundsCheck(index, length);
        return AsciiEncoding.parseIntAscii(latin1(index, length), 0, length);
    }

    @Override
    public long parseLongAscii(int index, int length) {
        boundsCheck(index, length);
        return AsciiEncoding.parseLongAscii(latin1(index, length), 0, length);
    }

    @Override
    public String getStringAscii(int index) {
        return getStringAscii(index, getInt(index));
    }

    @Override
    public String getStringAscii(int index, ByteOrder byteOrder) {
        return getStringAscii(index, getInt(index, byteOrder));
    }

    @Override
    public String getStringAscii(int index, int length) {
        return getStringWithoutLengthAscii(index + STR_HEADER_LEN, length);
    }

    @Override
    public int getStringAscii(int index, Appendable target) {
        return getStringAscii(index, getInt(index), target);
    }

    @Override
    public int getStringAscii(int index, Appendable target, ByteOrder byteOrder) {
        return getStringAscii(index, getInt(index, byteOrder), target);
    }

    @Override
    public int getStringAscii(int index, int length, Appendable target) {
        boundsCheck(index, STR_HEADER_LEN + length);
        return getStringWithoutLengthAscii(index + STR_HEADER_LEN, length, target);
    }

    @Override
    public String getStringWithoutLengthAscii(int index, int length) {
        return new String(bytes(index, length), StandardCharsets.US_ASCII);
    }

    @Override
    public int getStringWithoutLengthAscii(int index, int length, Appendable target) {
        boundsCheck(index, length);
        String text = latin1(index, length);
        try {
            for (int i = 0; i < length; i++) {
                char c = text.charAt(i);
                target.append(c > LARGEST_ASCII ? '?' : c);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return length;
    }

    @Override
    public String getStringUtf8(int index) {
        return getStringUtf8(index, getInt(index));
    }

    @Override
    public String getStringUtf8(int index, ByteOrder byteOrder) {
        return getStringUtf8(index, getInt(index, byteOrder));
    }

    @Override
    public String getStringUtf8(int index, int length) {
        return getStringWithoutLengthUtf8(index + STR_HEADER_LEN, length);
    }

    @Override
    public String getStringWithoutLengthUtf8(int index, int length) {
        return new String(bytes(index, length), StandardCharsets.UTF_8);
    }

    /// As Agrona's buffers compare: by signed words of eight bytes in the machine's order, then by signed bytes.
    @Override
    public int compareTo(DirectBuffer other) {
        int common = Math.min(capacity(), other.capacity());
        int i = 0;
        for (; i <= common - Long.BYTES; i += Long.BYTES) {
            int difference = Long.compare(getLong(i), other.getLong(i));
            if (difference != 0) {
                return difference;
            }
        }
        for (; i < common; i++) {
            int difference = Byte.compare(getByte(i), other.getByte(i));
            if (difference != 0) {
                return difference;
            }
        }
        return Integer.compare(capacity(), other.capacity());
    }

    /// Equal to another one of this class with the same bytes.
    @Override
    public boolean equals(Object other) {
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

    private byte[] bytes(int index, int length) {
        boundsCheck(index, length);
        byte[] bytes = new byte[length];
        MemorySegment.copy(segment, BYTE, index, bytes, 0, length);
        Reference.reachabilityFence(vec);
        return bytes;
    }

    private String latin1(int index, int length) {
        return new String(bytes(index, length), StandardCharsets.ISO_8859_1);
    }

    /// Digits only: a sign is an error here.
    private String natural(int index, int length) {
        String text = latin1(index, length);
        return text.startsWith("-") ? "x" + text.substring(1) : text;
    }

    private int fenced(int value) {
        Reference.reachabilityFence(vec);
        return value;
    }

    private long fenced(long value) {
        Reference.reachabilityFence(vec);
        return value;
    }

    private static UnsupportedOperationException sealed() {
        return new UnsupportedOperationException("a sealed buffer cannot be wrapped around other memory");
    }
}
