// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.agrona;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.agrona.AsciiEncoding;
import org.agrona.AsciiNumberFormatException;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Builds the rest of Agrona's read interface (text, fractions, comparison) on a few absolute reads of bytes and
/// whole numbers. It cannot be wrapped around other memory.
///
/// For classes of one's own memory that Agrona's codecs should read; [SealedDirectBuffer] is one.
public interface DirectReads extends DirectBuffer {

    @Override
    default void wrap(byte[] buffer) {
        throw unwrappable();
    }

    @Override
    default void wrap(byte[] buffer, int offset, int length) {
        throw unwrappable();
    }

    @Override
    default void wrap(ByteBuffer buffer) {
        throw unwrappable();
    }

    @Override
    default void wrap(ByteBuffer buffer, int offset, int length) {
        throw unwrappable();
    }

    @Override
    default void wrap(DirectBuffer buffer) {
        throw unwrappable();
    }

    @Override
    default void wrap(DirectBuffer buffer, int offset, int length) {
        throw unwrappable();
    }

    @Override
    default void wrap(long address, int length) {
        throw unwrappable();
    }

    /// No array lies beneath.
    ///
    /// @return `null`
    @Override
    default byte @Nullable [] byteArray() {
        return null;
    }

    /// No `ByteBuffer` lies beneath, or it could be wrapped again.
    ///
    /// @return `null`
    @Override
    default @Nullable ByteBuffer byteBuffer() {
        return null;
    }

    @Override
    default int wrapAdjustment() {
        return 0;
    }

    @Override
    default double getDouble(int index, ByteOrder byteOrder) {
        return Double.longBitsToDouble(getLong(index, byteOrder));
    }

    @Override
    default double getDouble(int index) {
        return Double.longBitsToDouble(getLong(index));
    }

    @Override
    default float getFloat(int index, ByteOrder byteOrder) {
        return Float.intBitsToFloat(getInt(index, byteOrder));
    }

    @Override
    default float getFloat(int index) {
        return Float.intBitsToFloat(getInt(index));
    }

    @Override
    default void getBytes(int index, byte[] target) {
        getBytes(index, target, 0, target.length);
    }

    @Override
    default void getBytes(int index, ByteBuffer target, int length) {
        int position = target.position();
        getBytes(index, target, position, length);
        target.position(position + length);
    }

    @Override
    default int parseNaturalIntAscii(int index, int length) {
        boundsCheck(index, length);
        return natural(latin1(index, length), digits -> AsciiEncoding.parseIntAscii(digits, 0, length));
    }

    @Override
    default long parseNaturalLongAscii(int index, int length) {
        boundsCheck(index, length);
        return natural(latin1(index, length), digits -> AsciiEncoding.parseLongAscii(digits, 0, length));
    }

    @Override
    default int parseIntAscii(int index, int length) {
        boundsCheck(index, length);
        return AsciiEncoding.parseIntAscii(latin1(index, length), 0, length);
    }

    @Override
    default long parseLongAscii(int index, int length) {
        boundsCheck(index, length);
        return AsciiEncoding.parseLongAscii(latin1(index, length), 0, length);
    }

    @Override
    default String getStringAscii(int index) {
        return getStringAscii(index, getInt(index));
    }

    @Override
    default String getStringAscii(int index, ByteOrder byteOrder) {
        return getStringAscii(index, getInt(index, byteOrder));
    }

    @Override
    default String getStringAscii(int index, int length) {
        return getStringWithoutLengthAscii(index + STR_HEADER_LEN, length);
    }

    @Override
    default int getStringAscii(int index, Appendable target) {
        return getStringAscii(index, getInt(index), target);
    }

    @Override
    default int getStringAscii(int index, Appendable target, ByteOrder byteOrder) {
        return getStringAscii(index, getInt(index, byteOrder), target);
    }

    @Override
    default int getStringAscii(int index, int length, Appendable target) {
        boundsCheck(index, STR_HEADER_LEN + length);
        return getStringWithoutLengthAscii(index + STR_HEADER_LEN, length, target);
    }

    @Override
    default String getStringWithoutLengthAscii(int index, int length) {
        return new String(bytes(index, length), StandardCharsets.US_ASCII);
    }

    @Override
    default int getStringWithoutLengthAscii(int index, int length, Appendable target) {
        boundsCheck(index, length);
        String text = latin1(index, length);
        try {
            for (int i = 0; i < length; i++) {
                char c = text.charAt(i);
                target.append(c > 0x7f ? '?' : c);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return length;
    }

    @Override
    default String getStringUtf8(int index) {
        return getStringUtf8(index, getInt(index));
    }

    @Override
    default String getStringUtf8(int index, ByteOrder byteOrder) {
        return getStringUtf8(index, getInt(index, byteOrder));
    }

    @Override
    default String getStringUtf8(int index, int length) {
        return getStringWithoutLengthUtf8(index + STR_HEADER_LEN, length);
    }

    @Override
    default String getStringWithoutLengthUtf8(int index, int length) {
        return new String(bytes(index, length), StandardCharsets.UTF_8);
    }

    /// As Agrona's buffers compare: by signed words of eight bytes in the machine's order, then by signed bytes.
    @Override
    default int compareTo(DirectBuffer other) {
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

    private static UnsupportedOperationException unwrappable() {
        return new UnsupportedOperationException("these bytes have their place: no wrapping around other memory");
    }

    private byte[] bytes(int index, int length) {
        boundsCheck(index, length);
        byte[] bytes = new byte[length];
        getBytes(index, ByteBuffer.wrap(bytes), 0, length);
        return bytes;
    }

    private String latin1(int index, int length) {
        return new String(bytes(index, length), StandardCharsets.ISO_8859_1);
    }

    /// Digits only: a sign is an error here, in Agrona's words.
    private static <T> T natural(String text, Function<String, T> parse) {
        if (!text.startsWith("-")) {
            return parse.apply(text);
        }
        String noDigit = "x" + text.substring(1);
        try {
            return parse.apply(noDigit);
        } catch (AsciiNumberFormatException e) {
            throw new AsciiNumberFormatException(String.valueOf(e.getMessage()).replace(noDigit, text));
        }
    }
}
