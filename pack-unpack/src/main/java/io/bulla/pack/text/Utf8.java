// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

import io.bulla.buffer.BufferBuilder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Text as C keeps it: UTF-8 without a zero byte inside. What is here for packing allocates nothing.
public final class Utf8 {

    // what stands for a byte that is not part of UTF-8
    private static final char FIRST_ESCAPED = '\udc80';
    private static final char LAST_ESCAPED = '\udcff';
    private static final int BMP_BYTES = 3;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long FLAGS = 0x8080_8080_8080_8080L;

    private Utf8() {}

    /// Bytes of the text; refuses what a C reader would cut, and what is not Unicode.
    ///
    /// @param text any
    /// @param escapes whether U+DC80 to U+DCFF, halves of surrogate pairs, stand for a byte each that is not UTF-8
    /// @return without the zero byte behind it
    /// @throws IllegalArgumentException if it holds U+0000, or half a surrogate pair that stands for no byte
    public static int byteSize(String text, boolean escapes) {
        long size = 0;
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit == 0) {
                throw new IllegalArgumentException("string holds U+0000: index=" + i + " length=" + text.length());
            }
            if (escapes && isEscaped(unit)) {
                size++;
            } else if (Character.isSurrogate(unit)) {
                checkPair(text, i++);
                size += BMP_BYTES + 1;
            } else {
                size += unit < 0x80 ? 1 : unit < 0x800 ? 2 : BMP_BYTES;
            }
        }
        if (size >= Integer.MAX_VALUE) {
            throw new IllegalArgumentException("string too long: byteSize=" + size);
        }
        return (int) size;
    }

    /// Writes text that [#byteSize] took.
    ///
    /// @param out where to
    /// @param text without a zero byte behind it
    /// @param ascii whether it is ASCII
    public static void put(BufferBuilder out, String text, boolean ascii) {
        int at = 0;
        if (ascii) {
            for (; at + Long.BYTES <= text.length(); at += Long.BYTES) {
                out.putLong(eight(text, at));
            }
        }
        for (; at < text.length(); at++) {
            char unit = text.charAt(at);
            if (unit < 0x80) {
                out.putByte((byte) unit);
            } else if (isEscaped(unit)) {
                out.putByte((byte) escapedByte(unit));
            } else if (Character.isHighSurrogate(unit)) {
                putPoint(out, Character.toCodePoint(unit, text.charAt(++at)), BMP_BYTES + 1);
            } else {
                putPoint(out, unit, unit < 0x800 ? 2 : BMP_BYTES);
            }
        }
    }

    /// A short text of ASCII characters, or `null` if it is not: then [#decoded] tells what it is.
    ///
    /// @param region where it is, the zero byte behind it included
    /// @param at where in it
    /// @param length without the zero byte behind it, at most what `scratch` takes
    /// @param scratch is written to
    /// @return the text
    public static @Nullable String plain(MemorySegment region, long at, int length, byte[] scratch) {
        if (region.get(ValueLayout.JAVA_BYTE, at + length) != 0) {
            return null;
        }
        long odd = 0;
        if (length < Long.BYTES) {
            for (int i = 0; i < length; i++) {
                byte each = region.get(ValueLayout.JAVA_BYTE, at + i);
                odd |= each | each - 1L;
                scratch[i] = each;
            }
        } else {
            for (int i = 0; i < length; i += Long.BYTES) {
                // the last word overlaps the one before
                int from = Math.min(i, length - Long.BYTES);
                long word = region.get(Words.LAYOUT, at + from);
                odd |= word | word - ONES;
                Words.set(scratch, from, word);
            }
        }
        return (odd & FLAGS) == 0 ? new String(scratch, 0, length, StandardCharsets.ISO_8859_1) : null;
    }

    /// The text of bytes that end in a zero.
    ///
    /// @param utf8 the bytes
    /// @param escapes whether a byte that is not UTF-8 becomes one of U+DC80 to U+DCFF
    /// @return the text, without that zero
    /// @throws MalformedTextException if it has no zero at its end or one before, or other bytes that are not UTF-8
    public static String decoded(byte[] utf8, boolean escapes) throws MalformedTextException {
        int length = utf8.length - 1;
        if (utf8[length] != 0) {
            throw new MalformedTextException("string without its terminating zero", 0, utf8[length] & 0xff);
        }
        String text = new String(utf8, 0, length, StandardCharsets.UTF_8);
        int zero = text.indexOf(0);
        if (zero >= 0) {
            throw new MalformedTextException("string holds a zero byte", length, zero);
        }
        // U+FFFD may stand in the text itself, or for bytes that are none
        return text.indexOf('\ufffd') < 0 ? text : decodedStrictly(utf8, length, escapes);
    }

    private static String decodedStrictly(byte[] utf8, int length, boolean escapes) throws MalformedTextException {
        ByteBuffer in = ByteBuffer.wrap(utf8, 0, length);
        CharBuffer out = CharBuffer.allocate(length);
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        while (decoder.decode(in, out, true).isError()) {
            if (!escapes) {
                throw new MalformedTextException("string is not UTF-8", "UTF-8", (length + 1) + " bytes");
            }
            out.put(escaped(in.get()));
            decoder.reset();
        }
        return out.flip().toString();
    }

    private static long eight(String ascii, int at) {
        long word = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            word = word << Byte.SIZE | ascii.charAt(at + i);
        }
        return word;
    }

    private static void putPoint(BufferBuilder out, int point, int bytes) {
        int lead = 0xf00 >> bytes & 0xff;
        out.putByte((byte) (lead | point >>> 6 * (bytes - 1)));
        for (int i = bytes - 2; i >= 0; i--) {
            out.putByte((byte) (0x80 | point >>> 6 * i & 0x3f));
        }
    }

    /// Whether a unit that is not the end of a surrogate pair stands for a byte.
    static boolean isEscaped(int unit) {
        return unit >= FIRST_ESCAPED && unit <= LAST_ESCAPED;
    }

    private static char escaped(byte other) {
        return (char) (FIRST_ESCAPED - 0x80 + (other & 0xff));
    }

    static int escapedByte(int unit) {
        return unit - FIRST_ESCAPED + 0x80;
    }

    private static void checkPair(String text, int at) {
        if (at + 1 == text.length() || !Character.isSurrogatePair(text.charAt(at), text.charAt(at + 1))) {
            throw new IllegalArgumentException(
                    "string holds half a surrogate pair: index=" + at + " length=" + text.length());
        }
    }
}
