// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.iovec.IoVec;
import io.bulla.pack.Limits;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import io.bulla.runtime.pmix.internal.wire.Detached;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A value that a process put, published or was told, with its type. It stands alone: nothing in it is borrowed from
/// the message that it came in.
///
/// @param value type and data; bytes in it are copies
public record PmixValue(Value value) {

    /// Copies what is borrowed, and inflates what is compressed.
    ///
    /// @throws io.bulla.pack.UnpackException if what is compressed is malformed, or inflates to more than 16 MiB
    public PmixValue {
        value = Detached.value(value, Limits.DEFAULT);
    }

    /// Text.
    ///
    /// @param text without U+0000
    /// @return a value of type STRING
    public static PmixValue of(String text) {
        return new PmixValue(Value.of(text));
    }

    /// A truth value.
    ///
    /// @param truth true or false
    /// @return a value of type BOOL
    public static PmixValue of(boolean truth) {
        return new PmixValue(new Value(DataType.BOOL, truth));
    }

    /// A number of 32 bits.
    ///
    /// @param number with a sign
    /// @return a value of type INT32
    public static PmixValue of(int number) {
        return new PmixValue(new Value(DataType.INT32, number));
    }

    /// A number of 64 bits.
    ///
    /// @param number with a sign
    /// @return a value of type INT64
    public static PmixValue of(long number) {
        return new PmixValue(new Value(DataType.INT64, number));
    }

    /// Bytes.
    ///
    /// @param bytes copied
    /// @return a value of type BYTE_OBJECT
    public static PmixValue of(byte[] bytes) {
        return new PmixValue(new Value(DataType.BYTE_OBJECT, Detached.vec(bytes.clone())));
    }

    /// A process.
    ///
    /// @param proc name space and rank
    /// @return a value of type PROC
    public static PmixValue of(Proc proc) {
        return new PmixValue(new Value(DataType.PROC, proc));
    }

    /// Its type.
    ///
    /// @return its type
    public DataType type() {
        return value.type();
    }

    /// Its text.
    ///
    /// @return the text; `null` for C's null string
    /// @throws IllegalStateException if it is not a STRING
    public @Nullable String asString() {
        if (value.data() != null && !(value.data() instanceof String)) {
            throw other("text");
        }
        return (String) value.data();
    }

    /// Its truth value.
    ///
    /// @return true or false
    /// @throws IllegalStateException if it is not a BOOL
    public boolean asBoolean() {
        if (value.data() instanceof Boolean truth) {
            return truth;
        }
        throw other("a truth value");
    }

    /// Its whole number, of any width.
    ///
    /// @return the number; one of 64 bits without a sign comes as the `long` of the same bits
    /// @throws IllegalStateException if it is no whole number
    public long asLong() {
        long bits = switch (value.data()) {
            case Byte number -> number;
            case Short number -> number;
            case Integer number -> number;
            case Long number -> number;
            case null, default -> throw other("a whole number");
        };
        return switch (value.type()) {
            case UINT8, BYTE -> bits & 0xff;
            case UINT16 -> bits & 0xffff;
            case UINT, UINT32, PID -> bits & 0xffff_ffffL;
            default -> bits;
        };
    }

    /// Its bytes.
    ///
    /// @return a copy
    /// @throws IllegalStateException if it is not a BYTE_OBJECT
    public byte[] asBytes() {
        if (value.data() instanceof IoVec bytes) {
            return Detached.bytes(bytes);
        }
        throw other("bytes");
    }

    /// Its process.
    ///
    /// @return name space and rank
    /// @throws IllegalStateException if it is not a PROC
    public Proc asProc() {
        if (value.data() instanceof Proc proc) {
            return proc;
        }
        throw other("a process");
    }

    /// Its values.
    ///
    /// @return as [DataType#javaClass] of the array's type says
    /// @throws IllegalStateException if it is not a DATA_ARRAY
    public List<@Nullable Object> asList() {
        if (value.data() instanceof DataArray array) {
            return array.values();
        }
        throw other("an array");
    }

    private IllegalStateException other(String wanted) {
        return new IllegalStateException("value is not " + wanted + ": type=" + value.type());
    }

    @Override
    public String toString() {
        return value.data() instanceof IoVec bytes
                ? value.type() + " of " + bytes.byteSize() + " bytes"
                : value.type() + " " + value.data();
    }
}
