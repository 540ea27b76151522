// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import java.lang.foreign.MemorySegment;

/// Tells text that has a byte for each character from any other.
final class Ascii {

    private static final long FLAGS = 0x8080_8080_8080_8080L;
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long REPLACED = 0x3f3f_3f3f_3f3f_3f3fL;

    private Ascii() {}

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
            long word = memory.get(ByteCursor.LITTLE_LONG, at) & ~unused | REPLACED << 1 & unused;
            return (odd(word) & FLAGS) == 0;
        }
        // words at both ends, which may overlap, and those between them
        long odd = odd(memory.get(ByteCursor.LITTLE_LONG, at))
                | odd(memory.get(ByteCursor.LITTLE_LONG, at + length - Long.BYTES));
        if (length > 2 * Long.BYTES) {
            odd |= odd(memory.get(ByteCursor.LITTLE_LONG, at + Long.BYTES));
            for (int i = 2 * Long.BYTES; i < length - Long.BYTES; i += Long.BYTES) {
                odd |= odd(memory.get(ByteCursor.LITTLE_LONG, at + i));
            }
        }
        return (odd & FLAGS) == 0;
    }

    /// A flag for some byte, if one is zero, a question mark or over 127.
    private static long odd(long word) {
        return word - ONES | word | (word ^ REPLACED) - ONES;
    }
}
