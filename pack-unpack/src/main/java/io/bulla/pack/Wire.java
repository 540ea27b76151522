// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

/// How one value travels, whatever it means. The encoding gives numbers their bytes.
enum Wire {
    /// No byte at all.
    NOTHING(Void.class, 0),
    BOOL(Boolean.class, 1),
    INT8(Byte.class, 1),
    /// One byte of an unsigned number that Java holds in a `short`.
    UINT8(Short.class, 1),
    INT16(Short.class, 2),
    UINT16(Short.class, 2),
    INT32(Integer.class, 4),
    UINT32(Integer.class, 4),
    INT64(Long.class, 8),
    UINT64(Long.class, 8),
    /// A number as text.
    FLOAT(Float.class, 0),
    DOUBLE(Double.class, 0),
    STRING(String.class, 0),
    BYTES(io.bulla.iovec.IoVec.class, 0),
    /// A zero byte each.
    ZERO(Void.class, 0),
    /// One byte for all of them.
    MARK(Void.class, 0),
    /// Other values one after the other.
    COMPOSITE(Composite.class, 0);

    private final Class<?> javaClass;
    private final int width;

    Wire(Class<?> javaClass, int width) {
        this.javaClass = javaClass;
        this.width = width;
    }

    Class<?> javaClass() {
        return javaClass;
    }

    /// Bytes of a number in a fixed-width format, 0 for what is not a number.
    int width() {
        return width;
    }

    boolean isNumber() {
        return width > 0;
    }

    boolean isUnsigned() {
        return this == UINT8 || this == UINT16 || this == UINT32 || this == UINT64 || this == BOOL;
    }

    /// The number as Java holds it.
    Object box(long value) {
        return switch (this) {
            case BOOL -> value != 0;
            case INT8 -> (byte) value;
            case UINT8, INT16, UINT16 -> (short) value;
            case INT32, UINT32 -> (int) value;
            default -> value;
        };
    }

    /// The inverse of [#box]; unsigned ones come without a sign.
    long unbox(Object value) {
        return switch (this) {
            case BOOL -> (Boolean) value ? 1 : 0;
            case UINT8, UINT16 -> ((Number) value).longValue() & 0xffff;
            case UINT32 -> ((Number) value).longValue() & 0xffff_ffffL;
            default -> ((Number) value).longValue();
        };
    }
}
