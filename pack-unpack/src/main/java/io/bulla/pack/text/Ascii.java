// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.internal.BuilderAccess;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// Text that has a byte for each character: told from any other, and written in one go.
public final class Ascii {

    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);
    private static final long FLAGS = 0x8080_8080_8080_8080L;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long REPLACED = 0x3f3f_3f3f_3f3f_3f3fL;

    private Ascii() {}

    /// Writes text of ASCII characters, a byte each, and a zero byte behind it; or nothing at all, if a character
    /// is another one or U+0000. Text that is not ASCII costs an array on the heap.
    ///
    /// @param out where to
    /// @param text any
    /// @return whether it was written
    public static boolean tryPut(BufferBuilder out, String text) {
        int length = text.length();
        // text that turns out to be another has been written by then, in no more bytes than it has characters
        if (ACCESS.room(out) < length + (long) Long.BYTES) {
            return tryPutCharacters(out, text);
        }
        MemorySegment to = ACCESS.memory(out);
        long at = ACCESS.used(out);
        to.setString(at, text, StandardCharsets.ISO_8859_1);
        if (!isPlain(to, at, length)) {
            return tryPutCharacters(out, text);
        }
        ACCESS.advance(out, length + 1L);
        return true;
    }

    private static boolean tryPutCharacters(BufferBuilder out, String text) {
        long start = ACCESS.checkedSize(out);
        if (!isPlain(text)) {
            return false;
        }
        try {
            for (int i = 0; i < text.length(); i++) {
                out.putByte((byte) text.charAt(i));
            }
            out.putByte((byte) 0);
            return true;
        } catch (Throwable failure) {
            out.truncate(start);
            throw failure;
        }
    }

    static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit == 0 || unit > 0x7f) {
                return false;
            }
        }
        return true;
    }

    /// Whether text of so many characters, written as Latin-1, has become as many bytes that are neither zero nor
    /// over 127, none of them a question mark, which stands for each character outside of Latin-1.
    ///
    /// @param memory has eight bytes at least from `at` on
    static boolean isPlain(MemorySegment memory, long at, int length) {
        if (length < Long.BYTES) {
            long unused = length == 0 ? -1L : -1L << Byte.SIZE * length;
            // bytes behind the text are taken for letters
            long word = memory.get(Words.LAYOUT, at) & ~unused | REPLACED << 1 & unused;
            return (odd(word) & FLAGS) == 0;
        }
        // words at both ends, which may overlap, and those between them
        long odd = odd(memory.get(Words.LAYOUT, at)) | odd(memory.get(Words.LAYOUT, at + length - Long.BYTES));
        if (length > 2 * Long.BYTES) {
            odd |= odd(memory.get(Words.LAYOUT, at + Long.BYTES));
            for (int i = 2 * Long.BYTES; i < length - Long.BYTES; i += Long.BYTES) {
                odd |= odd(memory.get(Words.LAYOUT, at + i));
            }
        }
        return (odd & FLAGS) == 0;
    }

    /// A flag for some byte, if one is zero, a question mark or over 127.
    private static long odd(long word) {
        return word - ONES | word | (word ^ REPLACED) - ONES;
    }
}
