// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An item for each component of a record.
final class RecordCodec<R extends Record> implements Codec<R> {

    private final MethodHandle constructor;
    private final MethodHandle[] accessors;
    private final List<Codec<Object>> components;

    RecordCodec(MethodHandles.Lookup lookup, Class<R> record) {
        this(lookup, record, List.of());
    }

    @SuppressWarnings("unchecked")
    private RecordCodec(MethodHandles.Lookup lookup, Class<R> record, List<Class<?>> around) {
        if (around.contains(record)) {
            throw new IllegalArgumentException("record holds itself: record=" + record.getSimpleName());
        }
        List<Class<?>> inside = new ArrayList<>(around);
        inside.add(record);
        RecordComponent[] parts = record.getRecordComponents();
        if (parts.length == 0) {
            throw new IllegalArgumentException("record without a component: record=" + record.getSimpleName());
        }
        Class<?>[] types = Arrays.stream(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
        this.accessors = new MethodHandle[parts.length];
        List<Codec<Object>> codecs = new ArrayList<>();
        try {
            this.constructor = lookup.findConstructor(record, MethodType.methodType(void.class, types))
                    .asSpreader(Object[].class, parts.length)
                    .asType(MethodType.methodType(Object.class, Object[].class));
            for (int i = 0; i < parts.length; i++) {
                this.accessors[i] = lookup.unreflect(parts[i].getAccessor())
                        .asType(MethodType.methodType(Object.class, Object.class));
                codecs.add((Codec<Object>) codecOf(lookup, parts[i], inside));
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("lookup may not see the record: record=" + record.getSimpleName(), e);
        }
        this.components = List.copyOf(codecs);
    }

    @Override
    public void pack(Packer packer, R value) {
        long start = packer.builder.byteSize();
        try {
            for (int i = 0; i < accessors.length; i++) {
                components.get(i).pack(packer, invoked(accessors[i], value));
            }
        } catch (Throwable failure) {
            throw packer.undone(start, failure);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public R unpack(Unpacker unpacker) {
        long start = unpacker.position;
        try {
            Object[] values = new Object[accessors.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = components.get(i).unpack(unpacker);
            }
            return (R) invoked(constructor, values);
        } catch (Throwable failure) {
            unpacker.position = start;
            throw failure;
        }
    }

    private static Object invoked(MethodHandle handle, Object argument) {
        try {
            return argument instanceof Object[] values ? handle.invokeExact(values) : handle.invokeExact(argument);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new IllegalStateException("record refuses: " + failure.getMessage(), failure);
        }
    }

    private static Codec<?> codecOf(MethodHandles.Lookup lookup, RecordComponent part, List<Class<?>> inside) {
        Class<?> type = part.getType();
        if (type == boolean.class) {
            return RecordCodec.<Boolean>simple((p, v) -> p.packBool(v), Unpacker::unpackBool);
        } else if (type == byte.class) {
            return RecordCodec.<Byte>simple((p, v) -> p.packBytes(DataType.INT8, v), u -> u.unpackByte(DataType.INT8));
        } else if (type == short.class) {
            return RecordCodec.<Short>simple(
                    (p, v) -> p.packShorts(DataType.INT16, v), u -> u.unpackShort(DataType.INT16));
        } else if (type == int.class) {
            return RecordCodec.<Integer>simple((p, v) -> p.packInt32(v), Unpacker::unpackInt32);
        } else if (type == long.class) {
            return RecordCodec.<Long>simple((p, v) -> p.packInt64(v), Unpacker::unpackInt64);
        } else if (type == float.class) {
            return RecordCodec.<Float>simple((p, v) -> p.pack(DataType.FLOAT, v), u -> (Float) u.one(DataType.FLOAT));
        } else if (type == double.class) {
            return RecordCodec.<Double>simple(
                    (p, v) -> p.pack(DataType.DOUBLE, v), u -> (Double) u.one(DataType.DOUBLE));
        } else if (type == String.class) {
            return RecordCodec.<@Nullable String>simple((p, v) -> p.packString(v), Unpacker::unpackString);
        } else if (type == int[].class) {
            return RecordCodec.<int[]>simple((p, v) -> p.packInt32(v), Unpacker::unpackInt32s);
        } else if (type == long[].class) {
            return RecordCodec.<long[]>simple((p, v) -> p.packInt64(v), Unpacker::unpackInt64s);
        } else if (Composite.class.isAssignableFrom(type) && type.isRecord()) {
            Class<? extends Composite> composite = type.asSubclass(Composite.class);
            return RecordCodec.<Composite>simple((p, v) -> p.pack(v), u -> u.unpack(composite));
        } else if (type.isRecord()) {
            return new RecordCodec<>(lookup, type.asSubclass(Record.class), inside);
        }
        throw new IllegalArgumentException(
                "no codec for a component: component=" + part.getName() + " type=" + type.getSimpleName());
    }

    private interface Pack<T extends @Nullable Object> {
        void pack(Packer packer, T value);
    }

    private interface Unpack<T extends @Nullable Object> {
        T unpack(Unpacker unpacker);
    }

    private static <T extends @Nullable Object> Codec<T> simple(Pack<T> pack, Unpack<T> unpack) {
        return new Codec<>() {
            @Override
            public void pack(Packer packer, T value) {
                pack.pack(packer, value);
            }

            @Override
            public T unpack(Unpacker unpacker) {
                return unpack.unpack(unpacker);
            }
        };
    }
}
