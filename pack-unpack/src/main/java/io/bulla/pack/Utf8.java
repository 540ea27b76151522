// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.pack.UnpackException.Reason;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Text as C keeps it: UTF-8 without a zero byte inside. What is here for packing allocates nothing.
final class Utf8 {

    // what stands for a byte that is not part of UTF-8, see TextMode.ESCAPED
    private static final char FIRST_ESCAPED = '\udc80';
    private static final char LAST_ESCAPED = '\udcff';
    private static final int BMP_BYTES = 3;
    private static final int MOST_SHOWN = 60;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long FLAGS = 0x8080_8080_8080_8080L;

    private Utf8() {}

    /// Bytes of the text; refuses what a C reader would cut, and what is not Unicode.
    static int byteSize(String text, TextMode mode) {
        long size = 0;
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit == 0) {
                throw new IllegalArgumentException("string holds U+0000: index=" + i + " length=" + text.length());
            }
            if (mode == TextMode.ESCAPED && isEscaped(unit)) {
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

    /// Refuses text that a C struct has no room for.
    static String checked(String what, String text, int maxBytes) {
        if (text == null) {
            throw new IllegalArgumentException(what + " is null");
        }
        int size = byteSize(text, TextMode.ESCAPED);
        if (size > maxBytes) {
            throw new IllegalArgumentException(
                    what + " too long, C would cut it: byteSize=" + size + " max=" + maxBytes);
        }
        return text;
    }

    static void put(BufferBuilder out, String text, boolean ascii) {
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
    /// @param length without the zero byte behind it, at most what `scratch` takes
    static @Nullable String plain(MemorySegment region, long at, int length, byte[] scratch) {
        if (region.get(ByteCursor.BYTE, at + length) != 0) {
            return null;
        }
        long odd = 0;
        if (length < Long.BYTES) {
            for (int i = 0; i < length; i++) {
                byte each = region.get(ByteCursor.BYTE, at + i);
                odd |= each | each - 1L;
                scratch[i] = each;
            }
        } else {
            for (int i = 0; i < length; i += Long.BYTES) {
                // the last word overlaps the one before
                int from = Math.min(i, length - Long.BYTES);
                long word = region.get(ByteCursor.LITTLE_LONG, at + from);
                odd |= word | word - ONES;
                Words.set(scratch, from, word);
            }
        }
        return (odd & FLAGS) == 0 ? new String(scratch, 0, length, StandardCharsets.ISO_8859_1) : null;
    }

    /// The text of bytes that end in a zero.
    static String decoded(byte[] utf8, TextMode mode, long offset) {
        int length = utf8.length - 1;
        if (utf8[length] != 0) {
            throw ByteCursor.failed(
                    Reason.MALFORMED, "string without its terminating zero", 0, utf8[length] & 0xff, offset);
        }
        String text = new String(utf8, 0, length, StandardCharsets.UTF_8);
        int zero = text.indexOf(0);
        if (zero >= 0) {
            throw ByteCursor.failed(Reason.MALFORMED, "string holds a zero byte", length, zero, offset);
        }
        // U+FFFD may stand in the text itself, or for bytes that are none
        return text.indexOf('\ufffd') < 0 ? text : decodedStrictly(utf8, length, mode, offset);
    }

    private static String decodedStrictly(byte[] utf8, int length, TextMode mode, long offset) {
        ByteBuffer in = ByteBuffer.wrap(utf8, 0, length);
        CharBuffer out = CharBuffer.allocate(length);
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        while (decoder.decode(in, out, true).isError()) {
            if (mode == TextMode.STRICT) {
                throw ByteCursor.failed(
                        Reason.MALFORMED, "string is not UTF-8", "UTF-8", (length + 1) + " bytes", offset);
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

    /// Text on one line of any terminal: what could steer it is escaped, and the rest of long text cut.
    static String printable(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints().limit(MOST_SHOWN).forEach(point -> {
            if (point == '"' || point == '\\') {
                shown.append('\\').appendCodePoint(point);
            } else if (isEscaped(point)) {
                shown.append(String.format("\\x%02x", escapedByte(point)));
            } else if (Character.isISOControl(point)
                    || Character.getType(point) == Character.FORMAT
                    || !Character.isDefined(point)) {
                shown.append(String.format("\\u{%x}", point));
            } else {
                shown.appendCodePoint(point);
            }
        });
        return shown.toString();
    }

    /// Whether [#printable] cuts.
    static boolean isLong(int codePoints) {
        return codePoints > MOST_SHOWN;
    }

    /// Whether a unit that is not the end of a surrogate pair stands for a byte.
    private static boolean isEscaped(int unit) {
        return unit >= FIRST_ESCAPED && unit <= LAST_ESCAPED;
    }

    private static char escaped(byte other) {
        return (char) (FIRST_ESCAPED - 0x80 + (other & 0xff));
    }

    private static int escapedByte(int unit) {
        return unit - FIRST_ESCAPED + 0x80;
    }

    private static void checkPair(String text, int at) {
        if (at + 1 == text.length() || !Character.isSurrogatePair(text.charAt(at), text.charAt(at + 1))) {
            throw new IllegalArgumentException(
                    "string holds half a surrogate pair: index=" + at + " length=" + text.length());
        }
    }
}
