// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.iovec.IoVec;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// Values as C holds them on a 64-bit machine: what both families have in common.
abstract class CValues {

    final CMemory memory;
    final WireFormat format;
    private final Map<Integer, DataType> typesById;

    CValues(CMemory memory, WireFormat format) {
        this.memory = memory;
        this.format = format;
        this.typesById = Arrays.stream(DataType.values())
                .filter(format::knows)
                .collect(Collectors.toMap(format::id, type -> type));
    }

    /// Puts an array of values into memory.
    long putAll(DataType type, List<?> values) {
        long width = width(type);
        long start = memory.allocate(Math.max(1, values.size()) * width);
        for (int i = 0; i < values.size(); i++) {
            put(start + i * width, type, values.get(i));
        }
        return start;
    }

    /// Takes an array of values out of memory, and frees what C allocated for them.
    List<Object> takeAll(long at, DataType type, long count) {
        long width = width(type);
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add(take(at + i * width, type));
        }
        return values;
    }

    /// The same, of an array that C allocated.
    List<Object> takeArray(long at, DataType type, long count) {
        List<Object> values = takeAll(at, type, count);
        memory.free(at);
        return values;
    }

    /// Bytes from one value to the next.
    long width(DataType type) {
        Class<?> box = type.javaClass();
        if (box == Byte.class || box == Boolean.class || box == Void.class) {
            return Byte.BYTES;
        }
        if (box == Short.class) {
            return Short.BYTES;
        }
        return box == Integer.class || box == Float.class ? Integer.BYTES : Long.BYTES;
    }

    void put(long at, DataType type, Object value) {
        switch (value) {
            case null -> {}
            case Boolean one -> memory.putByte(at, (byte) (one ? 1 : 0));
            case Byte one -> memory.putByte(at, one);
            case Short one -> memory.putShort(at, one);
            case Integer one -> memory.putInt(at, one);
            case Long one -> memory.putLong(at, one);
            case Float one -> memory.putFloat(at, one);
            case Double one -> memory.putDouble(at, one);
            case String one -> memory.putLong(at, memory.text(one));
            case IoVec one -> putBytes(at, type, bytes(one));
            case Composite one -> putComposite(at, one);
            default -> throw new AssertionError(value.getClass());
        }
    }

    Object take(long at, DataType type) {
        Class<?> box = type.javaClass();
        if (box == Void.class) {
            return null;
        }
        if (box == Boolean.class) {
            return memory.getByte(at) != 0;
        }
        if (box == Byte.class) {
            return memory.getByte(at);
        }
        if (box == Short.class) {
            return memory.getShort(at);
        }
        if (box == Integer.class) {
            return memory.getInt(at);
        }
        if (box == Long.class) {
            return memory.getLong(at);
        }
        if (box == Float.class) {
            return memory.getFloat(at);
        }
        if (box == Double.class) {
            return memory.getDouble(at);
        }
        if (box == String.class) {
            return memory.takeText(at);
        }
        return box == IoVec.class ? vector(takeBytes(at, type)) : takeComposite(at, type);
    }

    abstract void putBytes(long at, DataType type, byte[] bytes);

    abstract byte[] takeBytes(long at, DataType type);

    abstract void putComposite(long at, Composite value);

    abstract Composite takeComposite(long at, DataType type);

    DataType type(int id) {
        return typesById.get(id);
    }

    static byte[] bytes(IoVec vector) {
        byte[] bytes = new byte[Math.toIntExact(vector.byteSize())];
        vector.copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
        return bytes;
    }

    static IoVec vector(byte[] bytes) {
        return IoVec.of(MemorySegment.ofArray(bytes));
    }
}
