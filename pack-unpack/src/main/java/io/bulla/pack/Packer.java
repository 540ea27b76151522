package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// Writes typed items into a builder, one per call: a count and its values.
///
/// An item that fails leaves the builder as it was. A packer belongs to its builder's thread. What a C peer
/// could not read is refused here, not there. Bytes: [WireFormat].
public final class Packer {

    private final BufferBuilder builder;
    private final WireFormat format;
    private final ElementWriter elements;

    private Packer(BufferBuilder builder, WireFormat format, FloatText floats) {
        this.builder = Objects.requireNonNull(builder, "builder");
        this.format = format;
        this.elements = new ElementWriter(builder, format, floats);
    }

    /// A packer that appends to `builder`, and writes floating-point numbers as C does.
    ///
    /// @param builder stays the caller's, who seals or closes it
    /// @param format what to write
    /// @return a packer
    public static Packer into(BufferBuilder builder, WireFormat format) {
        return new Packer(builder, format, FloatText.STRICT);
    }

    /// A packer that appends to `builder`.
    ///
    /// @param builder stays the caller's, who seals or closes it
    /// @param format what to write
    /// @param floats how floating-point numbers become text
    /// @return a packer
    public static Packer into(BufferBuilder builder, WireFormat format, FloatText floats) {
        return new Packer(builder, format, floats);
    }

    /// Packs one item of 32-bit integers.
    ///
    /// @param values any number
    /// @return this packer
    /// @throws IllegalStateException if the builder refuses to write; so do all calls below
    public Packer packInt32(int... values) {
        return packInts(DataType.INT32, values, 0, values.length);
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
            return this;
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
            return this;
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
            return this;
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
            format.encoding().putInts(builder, format.wireOf(type), values, from, count);
            return this;
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
            return this;
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
            return this;
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
            return this;
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
            return this;
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
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of strings.
    ///
    /// @param values any number; a null reference is a null string, which is not the empty one
    /// @return this packer
    /// @throws IllegalArgumentException if a string holds U+0000, where a C reader would cut it, or half a
    ///     surrogate pair
    public Packer packString(String... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.STRING, values.length);
            for (String value : values) {
                elements.string(value);
            }
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of byte objects.
    ///
    /// @param values any number of arrays, none of them null
    /// @return this packer
    public Packer packByteObject(byte[]... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.BYTE_OBJECT, values.length);
            for (byte[] value : values) {
                elements.objectSize(DataType.BYTE_OBJECT, value.length);
                builder.put(value);
            }
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of byte objects.
    ///
    /// @param values any number of vectors, copied
    /// @return this packer
    /// @throws IllegalArgumentException if one does not fit the 32-bit size that OPAL has for them
    public Packer packByteObject(IoVec... values) {
        return boxed(DataType.BYTE_OBJECT, Arrays.asList(values));
    }

    /// Packs one item of one byte object, read straight from a channel into the builder.
    ///
    /// @param channel a blocking channel
    /// @param byteSize how much of it, in bytes
    /// @return this packer
    /// @throws IllegalArgumentException if `byteSize` is negative, or does not fit OPAL's 32-bit size
    /// @throws IOException from the channel, or if it ends early
    public Packer packByteObject(ReadableByteChannel channel, long byteSize) throws IOException {
        if (byteSize < 0) {
            throw new IllegalArgumentException("byte object of negative size: byteSize=" + byteSize);
        }
        long start = builder.byteSize();
        try {
            begin(DataType.BYTE_OBJECT, 1);
            elements.objectSize(DataType.BYTE_OBJECT, byteSize);
            builder.readFully(channel, byteSize);
            return this;
        } catch (Throwable failure) {
            builder.truncate(start);
            throw failure;
        }
    }

    /// Packs one item of one buffer that was packed in this packer's format.
    ///
    /// @param items copied; the handle stays the caller's
    /// @return this packer
    /// @throws IllegalArgumentException if the format has no buffers
    public Packer packBuffer(SealedBuffer items) {
        return pack(new NestedBuffer(format.described(), items.iovec()));
    }

    /// Packs one item of composites.
    ///
    /// @param first the type of all
    /// @param more any number
    /// @return this packer
    /// @throws IllegalArgumentException if they are not of one type, or a C peer could not read one
    public Packer pack(Composite first, Composite... more) {
        Composite[] values = new Composite[1 + more.length];
        values[0] = first;
        System.arraycopy(more, 0, values, 1, more.length);
        return boxed(first.dataType(), List.of(values));
    }

    /// Packs one item of any type.
    ///
    /// @param type any that the format knows
    /// @param values as [DataType#javaClass] says; nulls for types that hold nothing
    /// @return this packer
    /// @throws IllegalArgumentException if a value is of another class, or a C peer could not read it
    public Packer pack(DataType type, Object... values) {
        return boxed(type, Arrays.asList(values));
    }

    WireFormat format() {
        return format;
    }

    <T> void packCoded(int id, Codec<T> codec, List<T> values) {
        long start = builder.byteSize();
        try {
            header(id, values.size());
            for (T value : values) {
                long before = builder.byteSize();
                codec.pack(this, value);
                if (builder.byteSize() == before) {
                    throw new IllegalStateException("codec packs nothing: id=" + id);
                }
            }
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    private Packer boxed(DataType type, List<?> values) {
        long start = builder.byteSize();
        try {
            header(type, values.size());
            elements.block(type, values);
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    private void begin(DataType type, int count) {
        header(type, count);
        elements.blockPrefix(type);
    }

    private void header(DataType type, int count) {
        header(type.id(format), count);
    }

    private void header(int id, int count) {
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

    /// Takes the item back. Only unchecked failures come here.
    private RuntimeException undone(long start, Throwable failure) {
        builder.truncate(start);
        if (failure instanceof Error error) {
            throw error;
        }
        return (RuntimeException) failure;
    }
}
