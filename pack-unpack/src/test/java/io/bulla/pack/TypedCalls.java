// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.iovec.IoVec;
import io.bulla.pack.value.DataType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/// The calls that pack and unpack arrays of primitives, where a type has them, used in turn.
interface TypedCalls {

    void pack(Packer packer);

    List<Object> unpack(Unpacker unpacker);

    static TypedCalls of(DataType type, List<Object> values) {
        Class<?> box = type.javaClass();
        if (type == DataType.BOOL) {
            boolean[] array = new boolean[values.size()];
            IntStream.range(0, array.length).forEach(i -> array[i] = (Boolean) values.get(i));
            return calls(p -> p.packBool(array), u -> {
                boolean[] read = u.unpackBools();
                return boxed(read.length, i -> read[i]);
            });
        } else if (box == Byte.class) {
            byte[] array = new byte[values.size()];
            IntStream.range(0, array.length).forEach(i -> array[i] = (Byte) values.get(i));
            return calls(p -> p.packBytes(type, array), u -> {
                byte[] read = u.unpackBytes(type);
                return boxed(read.length, i -> read[i]);
            });
        } else if (box == Short.class) {
            short[] array = new short[values.size()];
            IntStream.range(0, array.length).forEach(i -> array[i] = (Short) values.get(i));
            return calls(p -> p.packShorts(type, array), u -> {
                short[] read = u.fork().unpackShorts(type);
                short[] target = new short[read.length + 1];
                int count = u.unpackShorts(type, target);
                return Arrays.equals(read, Arrays.copyOf(target, count)) ? boxed(count, i -> read[i]) : List.of();
            });
        } else if (box == Integer.class) {
            int[] array = values.stream().mapToInt(value -> (Integer) value).toArray();
            return calls(
                    p -> {
                        if (array.length % 2 == 0) {
                            p.packInts(type, MemorySegment.ofArray(array));
                        } else {
                            p.packInts(type, array);
                        }
                    },
                    u -> {
                        int[] read = u.fork().unpackInts(type);
                        int[] target = new int[read.length + 1];
                        int count = u.unpackInts(type, target);
                        return Arrays.equals(read, Arrays.copyOf(target, count))
                                ? boxed(count, i -> read[i])
                                : List.of();
                    });
        } else if (box == Long.class) {
            long[] array = values.stream().mapToLong(value -> (Long) value).toArray();
            return calls(
                    p -> {
                        if (array.length % 2 == 0) {
                            p.packLongs(type, MemorySegment.ofArray(array));
                        } else {
                            p.packLongs(type, array);
                        }
                    },
                    u -> {
                        long[] read = u.fork().unpackLongs(type);
                        long[] target = new long[read.length + 1];
                        int count = u.unpackLongs(type, target);
                        return Arrays.equals(read, Arrays.copyOf(target, count))
                                ? boxed(count, i -> read[i])
                                : List.of();
                    });
        } else if (box == Float.class) {
            float[] array = new float[values.size()];
            IntStream.range(0, array.length).forEach(i -> array[i] = (Float) values.get(i));
            return calls(p -> p.packFloat(array), u -> {
                float[] read = u.unpackFloats();
                return boxed(read.length, i -> read[i]);
            });
        } else if (box == Double.class) {
            double[] array =
                    values.stream().mapToDouble(value -> (Double) value).toArray();
            return calls(p -> p.packDouble(array), u -> {
                double[] read = u.unpackDoubles();
                return boxed(read.length, i -> read[i]);
            });
        } else if (type == DataType.STRING) {
            return calls(
                    p -> p.packStrings(values.toArray(String[]::new)),
                    u -> Arrays.asList((Object[]) u.unpackStrings()));
        } else if (type == DataType.BYTE_OBJECT) {
            return calls(
                    p -> p.packByteObject(values.stream()
                            .map(value -> Packed.bytes((IoVec) value))
                            .toArray(byte[][]::new)),
                    u -> Arrays.asList((Object[]) u.unpackByteObjects()));
        }
        return calls(p -> p.pack(type, values.toArray()), u -> u.unpack(type));
    }

    private static TypedCalls calls(
            java.util.function.Consumer<Packer> pack, java.util.function.Function<Unpacker, List<Object>> unpack) {
        return new TypedCalls() {
            @Override
            public void pack(Packer packer) {
                pack.accept(packer);
            }

            @Override
            public List<Object> unpack(Unpacker unpacker) {
                return unpack.apply(unpacker);
            }
        };
    }

    private static List<Object> boxed(int count, java.util.function.IntFunction<Object> value) {
        return IntStream.range(0, count).mapToObj(value).toList();
    }
}
