// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.internal.BuilderAccess;
import io.bulla.pack.text.Words;

/// Writes a number of any length into a builder's region in one go, where a put for each byte would cost a check
/// each.
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
            ACCESS.memory(out).set(Words.LAYOUT, ACCESS.used(out), value);
            ACCESS.advance(out, length);
            return;
        }
        for (int i = 0; i < length; i++) {
            out.putByte((byte) (value >>> 8 * i));
        }
    }
}
