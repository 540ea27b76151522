// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Writes items of numbers: out of arguments, arrays or memory.
abstract sealed class NumberPacker permits Packer {

    final BufferBuilder builder;
    final WireFormat format;
    final ElementWriter elements;
    // the last failure that was none of the values', for a codec that goes on after it
    @Nullable
    Throwable lost;

    NumberPacker(BufferBuilder builder, WireFormat format, FloatText floats, TextMode texts, Limits limits) {
        this.builder = Objects.requireNonNull(builder, "builder");
        this.format = format;
        this.elements = new ElementWriter(builder, format, floats, texts, limits);
    }

    /// Packs one item of one 32-bit integer.
    ///
    /// @param value the number
    /// @return this packer
    /// @throws IllegalStateException if the builder refuses to write; so do all calls below
    public Packer packInt32(int value) {
        long start = builder.byteSize();
        try {
            if (format.described()) {
                begin(DataType.INT32, 1);
                elements.number(Wire.INT32, value);
            } else {
                format.encoding().putOneInt(builder, value);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of 32-bit integers.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packInt32(int... values) {
        return packInts(DataType.INT32, values, 0, values.length);
    }

    /// Packs one item of one 64-bit integer.
    ///
    /// @param value the number
    /// @return this packer
    public Packer packInt64(long value) {
        long start = builder.byteSize();
        try {
            if (format.described()) {
                begin(DataType.INT64, 1);
                elements.number(Wire.INT64, value);
            } else {
                format.encoding().putOneLong(builder, value);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of 64-bit integers.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packInt64(long... values) {
        return packLongs(DataType.INT64, values, 0, values.length);
    }

    /// Packs one item of truth values.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packBool(boolean... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.BOOL, values.length);
            for (boolean value : values) {
                builder.putByte((byte) (value ? 1 : 0));
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of values of one byte each.
    ///
    /// @param type one that Java holds in a `Byte`
    /// @param values any number
    /// @return this packer
    /// @throws IllegalArgumentException if the type is another, or unknown to the format; so do the calls below
    public Packer packBytes(DataType type, byte... values) {
        checkHolds(type, Byte.class);
        long start = builder.byteSize();
        try {
            begin(type, values.length);
            builder.put(values);
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of values of 16 bits each.
    ///
    /// @param type one that Java holds in a `Short`
    /// @param values any number
    /// @return this packer
    public Packer packShorts(DataType type, short... values) {
        checkHolds(type, Short.class);
        Wire wire = format.wireOf(type);
        long start = builder.byteSize();
        try {
            begin(type, values.length);
            if (wire == Wire.UINT8) {
                for (short value : values) {
                    elements.number(wire, elements.checkedNumber(type, value));
                }
            } else {
                format.encoding().putShorts(builder, wire, values, 0, values.length);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of values of 32 bits each.
    ///
    /// @param type one that Java holds in an `Integer`
    /// @param values any number
    /// @return this packer
    public Packer packInts(DataType type, int... values) {
        return packInts(type, values, 0, values.length);
    }

    /// Packs one item out of an array.
    ///
    /// @param type one that Java holds in an `Integer`
    /// @param values holds them
    /// @param from index of the first
    /// @param count how many
    /// @return this packer
    /// @throws IndexOutOfBoundsException if there are fewer
    public Packer packInts(DataType type, int[] values, int from, int count) {
        checkHolds(type, Integer.class);
        Objects.checkFromIndexSize(from, count, values.length);
        long start = builder.byteSize();
        try {
            begin(type, count);
            elements.ints(type, values, from, count);
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item out of memory.
    ///
    /// @param type one that Java holds in an `Integer`
    /// @param values `int`s in the machine's byte order, all of them packed
    /// @return this packer
    public Packer packInts(DataType type, MemorySegment values) {
        checkHolds(type, Integer.class);
        int count = countOf(values, Integer.BYTES);
        Wire wire = format.wireOf(type);
        long start = builder.byteSize();
        try {
            begin(type, count);
            for (int i = 0; i < count; i++) {
                int value = values.get(ValueLayout.JAVA_INT_UNALIGNED, (long) i * Integer.BYTES);
                elements.number(wire, wire.isUnsigned() ? value & 0xffff_ffffL : value);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of values of 64 bits each.
    ///
    /// @param type one that Java holds in a `Long`
    /// @param values any number
    /// @return this packer
    public Packer packLongs(DataType type, long... values) {
        return packLongs(type, values, 0, values.length);
    }

    /// Packs one item out of an array.
    ///
    /// @param type one that Java holds in a `Long`
    /// @param values holds them
    /// @param from index of the first
    /// @param count how many
    /// @return this packer
    /// @throws IndexOutOfBoundsException if there are fewer
    public Packer packLongs(DataType type, long[] values, int from, int count) {
        checkHolds(type, Long.class);
        Objects.checkFromIndexSize(from, count, values.length);
        long start = builder.byteSize();
        try {
            begin(type, count);
            format.encoding().putLongs(builder, format.wireOf(type), values, from, count);
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item out of memory.
    ///
    /// @param type one that Java holds in a `Long`
    /// @param values `long`s in the machine's byte order, all of them packed
    /// @return this packer
    public Packer packLongs(DataType type, MemorySegment values) {
        checkHolds(type, Long.class);
        int count = countOf(values, Long.BYTES);
        Wire wire = format.wireOf(type);
        long start = builder.byteSize();
        try {
            begin(type, count);
            for (int i = 0; i < count; i++) {
                long value = values.get(ValueLayout.JAVA_LONG_UNALIGNED, (long) i * Long.BYTES);
                elements.number(wire, value);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of `float`s, as text.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packFloat(float... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.FLOAT, values.length);
            for (float value : values) {
                elements.text(value);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of `double`s, as text.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packDouble(double... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.DOUBLE, values.length);
            for (double value : values) {
                elements.text(value);
            }
            return self();
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// The start of an item of one value, of a type whose block has no tags before it.
    final void beginOne(DataType type) {
        if (format.described()) {
            header(type, 1);
        } else {
            format.encoding().putOne(builder);
        }
    }

    final void begin(DataType type, int count) {
        header(type, count);
        elements.blockPrefix(type);
    }

    final void header(DataType type, int count) {
        header(format.id(type), count);
    }

    final void header(int id, int count) {
        elements.checkCount(count);
        if (format.described()) {
            elements.tag(DataType.INT32);
            elements.number(Wire.INT32, count);
            elements.number(format.tagWire(), id);
        } else {
            elements.number(Wire.INT32, count);
        }
    }

    private static void checkHolds(DataType type, Class<?> box) {
        if (type.javaClass() != box) {
            throw new IllegalArgumentException("type does not hold such values: type=" + type + " expected="
                    + type.javaClass().getSimpleName() + " found=" + box.getSimpleName());
        }
    }

    private static int countOf(MemorySegment values, int width) {
        if (values.byteSize() % width != 0) {
            throw new IllegalArgumentException(
                    "not a whole number of values: byteSize=" + values.byteSize() + " width=" + width);
        }
        return Math.toIntExact(values.byteSize() / width);
    }

    private Packer self() {
        return (Packer) this;
    }

    /// A codec that goes on after this has packed a part of its value.
    final void noteLost(Throwable failure) {
        if (!(failure instanceof IllegalArgumentException)) {
            lost = failure;
        }
    }

    /// Takes the item back. Only unchecked failures come here.
    final RuntimeException undone(long start, Throwable failure) {
        try {
            builder.truncate(start);
        } catch (RuntimeException gone) {
            // sealed or abandoned by another user of it: what failed first says more
            failure.addSuppressed(gone);
        }
        noteLost(failure);
        if (failure instanceof Error error) {
            throw error;
        }
        return (RuntimeException) failure;
    }
}
