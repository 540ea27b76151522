// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.internal.BuilderAccess;
import io.bulla.pack.text.Words;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Writes a number of any length or a text into a builder's region in one go, where a put for each byte would cost a
/// check each.
final class InPlace {

    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);

    private static final long FLAGS = 0x8080_8080_8080_8080L;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long REPLACED = 0x3f3f_3f3f_3f3f_3f3fL;
    private static final long LETTERS = REPLACED << 1;

    private InPlace() {}

    /// Writes the low bytes of a value, the lowest first.
    ///
    /// @param length in bytes, 0 to 8
    static void putLittleEndian(BufferBuilder out, long value, int length) {
        if (length < 0 || length > Long.BYTES) {
            throw new IllegalArgumentException("a long has eight bytes: length=" + length);
        }
        if (ACCESS.room(out) >= Long.BYTES) {
            ACCESS.memory(out).set(Words.LAYOUT, ACCESS.used(out), value);
            ACCESS.advance(out, length);
            return;
        }
        for (int i = 0; i < length; i++) {
            out.putByte((byte) (value >>> 8 * i));
        }
    }

    /// Writes one string, as [#tryTexts].
    ///
    /// @param one whether it is the only value of its item, behind a count of one
    /// @return whether it was written
    static boolean tryText(BufferBuilder out, Encoding encoding, String text, boolean one) {
        long used = ACCESS.used(out);
        long end = putText(ACCESS.memory(out), used, ACCESS.room(out), encoding, text, one);
        if (end < 0) {
            return false;
        }
        // nothing counts before this line
        ACCESS.advance(out, end - used);
        return true;
    }

    /// Writes strings of ASCII characters, what stands before each, and the zero byte behind it, with one look for
    /// room each; up to the first that is null, has another character or U+0000, is too long, or does not fit into
    /// the region: of that one, nothing is written. Text that is not ASCII costs an array on the heap.
    ///
    /// @param limit for the characters of each, less one
    /// @param texts those from `from` on are written
    /// @return how many were written
    static int tryTexts(BufferBuilder out, Encoding encoding, int limit, @Nullable String[] texts, int from) {
        // the builder's fields are read and written once for all of them
        MemorySegment to = ACCESS.memory(out);
        long start = ACCESS.used(out);
        long ends = start + ACCESS.room(out);
        long used = start;
        int next = from;
        for (; next < texts.length; next++) {
            String text = texts[next];
            if (text == null || text.length() >= limit) {
                break;
            }
            long end = putText(to, used, ends - used, encoding, text, false);
            if (end < 0) {
                break;
            }
            used = end;
        }
        ACCESS.advance(out, used - start);
        return next - from;
    }

    /// Writes a string at an offset, if there is room.
    ///
    /// HotSpot compiles a method of more than 325 bytes apart, as this one shall be: what `setString` calls is as
    /// deep as it inlines. In the code of a caller three calls would be left of it, a quarter of the time that an
    /// item takes.
    ///
    /// @return where it ends, or -1
    private static long putText(MemorySegment to, long used, long room, Encoding encoding, String text, boolean one) {
        int length = text.length();
        // what stands before is written as a word, and the text is looked at in words; text that turns out to be
        // another has been written by then, in no more bytes than it has characters
        if (room < length + 2L * Long.BYTES) {
            return -1;
        }
        to.set(Words.LAYOUT, used, encoding.textHead(length + 1L, one));
        long at = used + encoding.textHeadBytes(length + 1L, one);
        to.setString(at, text, StandardCharsets.ISO_8859_1);
        // a flag for some byte, if one is zero, over 127, or a question mark, which stands for each character outside
        // of Latin-1
        long odd;
        if (length < Long.BYTES) {
            long unused = length == 0 ? -1L : -1L << Byte.SIZE * length;
            // bytes behind the text are taken for letters
            long word = to.get(Words.LAYOUT, at) & ~unused | LETTERS & unused;
            odd = word - ONES | word | (word ^ REPLACED) - ONES;
        } else {
            // words at both ends, which may overlap, and those between them
            long word = to.get(Words.LAYOUT, at);
            long last = to.get(Words.LAYOUT, at + length - Long.BYTES);
            odd = word - ONES | word | (word ^ REPLACED) - ONES | last - ONES | last | (last ^ REPLACED) - ONES;
            if (length > 2 * Long.BYTES) {
                word = to.get(Words.LAYOUT, at + Long.BYTES);
                odd |= word - ONES | word | (word ^ REPLACED) - ONES;
                for (int i = 2 * Long.BYTES; i < length - Long.BYTES; i += Long.BYTES) {
                    word = to.get(Words.LAYOUT, at + i);
                    odd |= word - ONES | word | (word ^ REPLACED) - ONES;
                }
            }
        }
        return (odd & FLAGS) == 0 ? at + length + 1 : -1;
    }
}
