// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.FloatText;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.TextMode;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The side under test.
final class JavaLibrary implements Library {

    private static final ArenaSource SOURCE = ArenaSource.create();

    private final WireFormat format;
    private final boolean typed;
    private final FloatText floats;
    /// What the values of the last [#unpack] borrow.
    private SealedBuffer read;

    /// @param format what it speaks
    /// @param typed whether it uses the call for a type where there is one, and not the one for all types
    /// @param floats how it writes floating-point numbers; C writes them as STRICT
    JavaLibrary(WireFormat format, boolean typed, FloatText floats) {
        this.format = format;
        this.typed = typed;
        this.floats = floats;
        this.read = BufferBuilder.create(SOURCE).seal();
    }

    @Override
    public byte[] pack(List<Item> items) {
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            Packer packer = Packer.into(builder, format, floats, TextMode.ESCAPED, Limits.DEFAULT);
            for (Item item : items) {
                if (typed) {
                    packTyped(packer, item);
                } else {
                    packer.pack(item.type(), item.values().toArray());
                }
            }
            try (SealedBuffer packed = builder.seal()) {
                return CValues.bytes(packed.iovec());
            }
        }
    }

    @Override
    public List<List<Object>> unpack(byte[] bytes, List<Item> shape) {
        read.close();
        read = BufferBuilder.create(SOURCE).put(bytes).seal();
        List<List<Object>> all = new ArrayList<>();
        Unpacker unpacker = Unpacker.of(read, format, Limits.DEFAULT, TextMode.ESCAPED);
        for (Item item : shape) {
            all.add(typed ? unpackTyped(unpacker, item.type()) : unpacker.unpack(item.type()));
        }
        if (unpacker.remaining() != 0) {
            throw new IllegalStateException("Java has not read all bytes: unread=" + unpacker.remaining());
        }
        return all;
    }

    private static void packTyped(Packer packer, Item item) {
        DataType type = item.type();
        Object[] values = item.values().toArray();
        Class<?> box = type.javaClass();
        if (box == Byte.class) {
            packer.packBytes(type, (byte[]) unboxed(byte.class, values));
        } else if (box == Short.class) {
            packer.packShorts(type, (short[]) unboxed(short.class, values));
        } else if (box == Integer.class) {
            packer.packInts(type, (int[]) unboxed(int.class, values));
        } else if (box == Long.class) {
            packer.packLongs(type, (long[]) unboxed(long.class, values));
        } else {
            packOthers(packer, type, values);
        }
    }

    private static void packOthers(Packer packer, DataType type, Object[] values) {
        switch (type) {
            case BOOL -> packer.packBool((boolean[]) unboxed(boolean.class, values));
            case FLOAT -> packer.packFloat((float[]) unboxed(float.class, values));
            case DOUBLE -> packer.packDouble((double[]) unboxed(double.class, values));
            case STRING -> packer.packStrings(Arrays.copyOf(values, values.length, String[].class));
            case BYTE_OBJECT ->
                packer.packByteObject(Arrays.stream(values)
                        .map(each -> CValues.bytes((IoVec) each))
                        .toArray(byte[][]::new));
            default -> packer.pack(type, values);
        }
    }

    private static List<Object> unpackTyped(Unpacker unpacker, DataType type) {
        Class<?> box = type.javaClass();
        if (box == Byte.class) {
            return boxed(unpacker.unpackBytes(type));
        }
        if (box == Short.class) {
            return boxed(unpacker.unpackShorts(type));
        }
        if (box == Integer.class) {
            return boxed(unpacker.unpackInts(type));
        }
        if (box == Long.class) {
            return boxed(unpacker.unpackLongs(type));
        }
        return switch (type) {
            case BOOL -> boxed(unpacker.unpackBools());
            case FLOAT -> boxed(unpacker.unpackFloats());
            case DOUBLE -> boxed(unpacker.unpackDoubles());
            case STRING -> Arrays.asList((Object[]) unpacker.unpackStrings());
            case BYTE_OBJECT -> Arrays.asList((Object[]) unpacker.unpackByteObjects());
            default -> unpacker.unpack(type);
        };
    }

    private static Object unboxed(Class<?> each, Object[] values) {
        Object array = Array.newInstance(each, values.length);
        for (int i = 0; i < values.length; i++) {
            Array.set(array, i, values[i]);
        }
        return array;
    }

    private static List<Object> boxed(Object array) {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
            values.add(Array.get(array, i));
        }
        return values;
    }
}
