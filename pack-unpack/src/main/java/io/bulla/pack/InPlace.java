// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.internal.BuilderAccess;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// Writes that go into a builder's region in one go, where a run of single puts would cost a check each: a number of
/// any length, and ASCII text.
final class InPlace {

    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);

    private InPlace() {}

    /// Writes the low bytes of a value, the lowest first.
    ///
    /// @param length in bytes, 0 to 8
    static void putLittleEndian(BufferBuilder out, long value, int length) {
        if (length < 0 || length > Long.BYTES) {
            throw new IllegalArgumentException("a long has eight bytes: length=" + length);
        }
        if (ACCESS.room(out) >= Long.BYTES) {
            ACCESS.memory(out).set(ByteCursor.LITTLE_LONG, ACCESS.used(out), value);
            ACCESS.advance(out, length);
            return;
        }
        for (int i = 0; i < length; i++) {
            out.putByte((byte) (value >>> 8 * i));
        }
    }

    /// Writes text of ASCII characters, a byte each, and a zero byte behind it; or nothing at all, if a character
    /// is another one or U+0000. Text that is not ASCII costs an array on the heap.
    ///
    /// @return whether it was written
    static boolean tryPutAscii(BufferBuilder out, String text) {
        int length = text.length();
        // text that turns out to be another has been written by then, in no more bytes than it has characters
        if (ACCESS.room(out) < length + (long) Long.BYTES) {
            return tryPutCharacters(out, text);
        }
        MemorySegment to = ACCESS.memory(out);
        long at = ACCESS.used(out);
        to.setString(at, text, StandardCharsets.ISO_8859_1);
        if (!Ascii.isPlain(to, at, length)) {
            return tryPutCharacters(out, text);
        }
        ACCESS.advance(out, length + 1L);
        return true;
    }

    private static boolean tryPutCharacters(BufferBuilder out, String text) {
        long start = ACCESS.checkedSize(out);
        if (!Ascii.isPlain(text)) {
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
}
