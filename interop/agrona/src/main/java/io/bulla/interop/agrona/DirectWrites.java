// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.agrona;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/// Builds the rest of Agrona's write interface (text and fractions) on writes of bytes and whole numbers to a buffer
/// that grows.
interface DirectWrites extends MutableDirectBuffer {

    @Override
    default void putDouble(int index, double value, ByteOrder order) {
        putLong(index, Double.doubleToRawLongBits(value), order);
    }

    @Override
    default void putDouble(int index, double value) {
        putLong(index, Double.doubleToRawLongBits(value));
    }

    @Override
    default void putFloat(int index, float value, ByteOrder order) {
        putInt(index, Float.floatToRawIntBits(value), order);
    }

    @Override
    default void putFloat(int index, float value) {
        putInt(index, Float.floatToRawIntBits(value));
    }

    @Override
    default int putNaturalIntAscii(int index, int value) {
        return putNaturalLongAscii(index, value);
    }

    @Override
    default int putNaturalLongAscii(int index, long value) {
        if (value < 0) {
            throw new IllegalArgumentException("natural number is negative: value=" + value);
        }
        return putLongAscii(index, value);
    }

    @Override
    default int putIntAscii(int index, int value) {
        return putLongAscii(index, value);
    }

    @Override
    default int putLongAscii(int index, long value) {
        return putStringWithoutLengthAscii(index, Long.toString(value));
    }

    @Override
    default void putNaturalPaddedIntAscii(int index, int length, int value) {
        String digits = Integer.toString(value);
        if (value < 0 || digits.length() > length) {
            throw new NumberFormatException("no room for the number: value=" + value + " length=" + length);
        }
        putStringWithoutLengthAscii(index, "0".repeat(length - digits.length()) + digits);
    }

    @Override
    default int putNaturalIntAsciiFromEnd(int value, int endExclusive) {
        // as Agrona has it: no digit for zero
        String digits = value == 0 ? "" : Integer.toString(value);
        if (value < 0) {
            throw new IllegalArgumentException("natural number is negative: value=" + value);
        }
        putStringWithoutLengthAscii(endExclusive - digits.length(), digits);
        return endExclusive - digits.length();
    }

    @Override
    default int putStringAscii(int index, @Nullable String value) {
        return putStringAscii(index, value, ByteOrder.nativeOrder());
    }

    @Override
    default int putStringAscii(int index, @Nullable CharSequence value) {
        return putStringAscii(index, value, ByteOrder.nativeOrder());
    }

    @Override
    default int putStringAscii(int index, @Nullable String value, ByteOrder order) {
        return putStringAscii(index, (CharSequence) value, order);
    }

    @Override
    default int putStringAscii(int index, @Nullable CharSequence value, ByteOrder order) {
        byte[] text = ascii(value, 0, Integer.MAX_VALUE, STR_HEADER_LEN);
        int length = text.length - STR_HEADER_LEN;
        ByteBuffer.wrap(text).order(order).putInt(0, length);
        putBytes(index, text);
        return text.length;
    }

    @Override
    default int putStringWithoutLengthAscii(int index, @Nullable String value) {
        return putStringWithoutLengthAscii(index, (CharSequence) value);
    }

    @Override
    default int putStringWithoutLengthAscii(int index, @Nullable CharSequence value) {
        return putStringWithoutLengthAscii(index, value, 0, Integer.MAX_VALUE);
    }

    @Override
    default int putStringWithoutLengthAscii(int index, @Nullable String value, int offset, int length) {
        return putStringWithoutLengthAscii(index, (CharSequence) value, offset, length);
    }

    /// Characters that are not ASCII become question marks.
    @Override
    default int putStringWithoutLengthAscii(int index, @Nullable CharSequence value, int offset, int length) {
        byte[] text = ascii(value, offset, length, 0);
        putBytes(index, text);
        return text.length;
    }

    /// Read before anything is written, for the characters are a caller's object, which may throw at any of them.
    private static byte[] ascii(@Nullable CharSequence value, int offset, int length, int before) {
        if (value == null) {
            return new byte[before];
        }
        int count = Math.max(0, Math.min(value.length() - offset, length));
        byte[] text = new byte[Math.addExact(before, count)];
        for (int i = 0; i < count; i++) {
            char c = value.charAt(offset + i);
            text[before + i] = (byte) (c > 0x7f ? '?' : c);
        }
        return text;
    }

    @Override
    default int putStringUtf8(int index, @Nullable String value) {
        return putStringUtf8(index, value, ByteOrder.nativeOrder());
    }

    @Override
    default int putStringUtf8(int index, @Nullable String value, ByteOrder order) {
        return putStringUtf8(index, value, order, Integer.MAX_VALUE);
    }

    @Override
    default int putStringUtf8(int index, @Nullable String value, int most) {
        return putStringUtf8(index, value, ByteOrder.nativeOrder(), most);
    }

    @Override
    default int putStringUtf8(int index, @Nullable String value, ByteOrder order, int most) {
        byte[] bytes = utf8(value);
        if (bytes.length > most) {
            throw new IllegalArgumentException("string too long: byteSize=" + bytes.length + " max=" + most);
        }
        // in one put, which is done or not
        byte[] text = new byte[Math.addExact(STR_HEADER_LEN, bytes.length)];
        ByteBuffer.wrap(text).order(order).putInt(bytes.length).put(bytes);
        putBytes(index, text);
        return text.length;
    }

    @Override
    default int putStringWithoutLengthUtf8(int index, @Nullable String value) {
        byte[] bytes = utf8(value);
        putBytes(index, bytes);
        return bytes.length;
    }

    private static byte[] utf8(@Nullable String value) {
        // as Agrona has it
        return String.valueOf(value).getBytes(StandardCharsets.UTF_8);
    }
}
