// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.iovec.IoVec;

/// Encoding of one value, whatever it means. The format gives numbers their bytes.
public enum Wire {
    /// No byte at all.
    NOTHING(Void.class, 0),
    /// A truth value in one byte.
    BOOL(Boolean.class, 1),
    /// One byte of a signed number.
    INT8(Byte.class, 1),
    /// One byte of an unsigned number that Java holds in a `short`.
    UINT8(Short.class, 1),
    /// Two bytes, signed.
    INT16(Short.class, 2),
    /// Two bytes, unsigned.
    UINT16(Short.class, 2),
    /// Four bytes, signed.
    INT32(Integer.class, 4),
    /// Four bytes, unsigned.
    UINT32(Integer.class, 4),
    /// Eight bytes, signed.
    INT64(Long.class, 8),
    /// Eight bytes, unsigned.
    UINT64(Long.class, 8),
    /// A number as text.
    FLOAT(Float.class, 0),
    /// A number as text.
    DOUBLE(Double.class, 0),
    /// Text behind its length.
    STRING(String.class, 0),
    /// Bytes behind their length.
    BYTES(IoVec.class, 0),
    /// A zero byte each.
    ZERO(Void.class, 0),
    /// One byte for all of them.
    MARK(Void.class, 0),
    /// Other values one after the other.
    COMPOSITE(Record.class, 0);

    private final Class<?> javaClass;
    private final int width;

    Wire(Class<?> javaClass, int width) {
        this.javaClass = javaClass;
        this.width = width;
    }

    /// What Java holds a value in, if its type does not say more.
    ///
    /// @return a class; `Void` if there is nothing to hold
    public Class<?> javaClass() {
        return javaClass;
    }

    /// Bytes of a number in a fixed-width format.
    ///
    /// @return 0 for what is not a number
    public int width() {
        return width;
    }

    /// Tells whether it is a number in bytes; a number as text is not.
    ///
    /// @return true if [#box] and [#unbox] know it
    public boolean isNumber() {
        return width > 0;
    }

    /// Tells whether it is a number without a sign.
    ///
    /// @return true also of a truth value
    public boolean isUnsigned() {
        return this == UINT8 || this == UINT16 || this == UINT32 || this == UINT64 || this == BOOL;
    }

    /// The number as Java holds it.
    ///
    /// @param value its low bytes count
    /// @return a box of [#javaClass]
    public Object box(long value) {
        return switch (this) {
            case BOOL -> value != 0;
            case INT8 -> (byte) value;
            case UINT8, INT16, UINT16 -> (short) value;
            case INT32, UINT32 -> (int) value;
            default -> value;
        };
    }

    /// The inverse of [#box].
    ///
    /// @param value a box of [#javaClass]
    /// @return the number; unsigned ones of less than 64 bits are not negative
    /// @throws ClassCastException if it is another box
    public long unbox(Object value) {
        return switch (this) {
            case BOOL -> (Boolean) value ? 1 : 0;
            case UINT8, UINT16 -> ((Number) value).longValue() & 0xffff;
            case UINT32 -> ((Number) value).longValue() & 0xffff_ffffL;
            default -> ((Number) value).longValue();
        };
    }
}
