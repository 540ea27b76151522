// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Wire;

/// Reads items of numbers: one value, a new array, or into the caller's array.
abstract class NumberUnpacker extends ByteCursor {

    NumberUnpacker(SealedBuffer buffer, WireFormat format, Limits limits, TextMode text, long position, long end) {
        super(buffer, format, limits, text, position, end);
    }

    /// Unpacks one item of exactly one 32-bit integer.
    ///
    /// @return the value
    public int unpackInt32() {
        return unpackInt(DataType.INT32);
    }

    /// Unpacks one item of 32-bit integers.
    ///
    /// @return its values
    public int[] unpackInt32s() {
        return unpackInts(DataType.INT32);
    }

    /// Unpacks one item of exactly one 64-bit integer.
    ///
    /// @return the value
    public long unpackInt64() {
        return unpackLong(DataType.INT64);
    }

    /// Unpacks one item of 64-bit integers.
    ///
    /// @return its values
    public long[] unpackInt64s() {
        return unpackLongs(DataType.INT64);
    }

    /// Unpacks one item of exactly one truth value.
    ///
    /// @return the value; any number but 0 is true
    public boolean unpackBool() {
        return single(DataType.BOOL, Boolean.class) != 0;
    }

    /// Unpacks one item of truth values.
    ///
    /// @return its values; any number but 0 is true
    public boolean[] unpackBools() {
        long start = position;
        try {
            int count = begin(DataType.BOOL, Boolean.class);
            Wire wire = blockPrefix(DataType.BOOL);
            needAtLeast(count, wire);
            boolean[] values = new boolean[count];
            for (int i = 0; i < count; i++) {
                values[i] = number(wire) != 0;
            }
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one value of one byte.
    ///
    /// @param type one that Java holds in a `Byte`
    /// @return the value
    /// @throws IllegalArgumentException if the type is another, or unknown to the format; so do the calls below
    public byte unpackByte(DataType type) {
        return (byte) single(type, Byte.class);
    }

    /// Unpacks one item of values of one byte each.
    ///
    /// @param type one that Java holds in a `Byte`
    /// @return its values
    public byte[] unpackBytes(DataType type) {
        long start = position;
        try {
            int count = begin(type, Byte.class);
            need(count);
            byte[] values = new byte[count];
            copyTo(values);
            position += count;
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one value of 16 bits.
    ///
    /// @param type one that Java holds in a `Short`
    /// @return the value
    public short unpackShort(DataType type) {
        return (short) single(type, Short.class);
    }

    /// Unpacks one item of values of 16 bits each.
    ///
    /// @param type one that Java holds in a `Short`
    /// @return its values
    public short[] unpackShorts(DataType type) {
        long start = position;
        try {
            int count = begin(type, Short.class);
            Wire wire = blockPrefix(type);
            needAtLeast(count, wire);
            short[] values = new short[count];
            shorts(type, wire, values, 0, count);
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of values of 16 bits each into an array.
    ///
    /// @param type one that Java holds in a `Short`
    /// @param target takes them from its start on
    /// @return how many they were; more than the array takes is an [UnpackException]
    public int unpackShorts(DataType type, short[] target) {
        long start = position;
        try {
            int count = begin(type, Short.class);
            checkRoom(target.length, count, start);
            shorts(type, blockPrefix(type), target, 0, count);
            return count;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one value of 32 bits.
    ///
    /// @param type one that Java holds in an `Integer`
    /// @return the value
    public int unpackInt(DataType type) {
        return (int) single(type, Integer.class);
    }

    /// Unpacks one item of values of 32 bits each.
    ///
    /// @param type one that Java holds in an `Integer`
    /// @return its values
    public int[] unpackInts(DataType type) {
        long start = position;
        try {
            int count = begin(type, Integer.class);
            Wire wire = blockPrefix(type);
            needAtLeast(count, wire);
            int[] values = new int[count];
            ints(type, wire, values, 0, count);
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of values of 32 bits each into an array.
    ///
    /// @param type one that Java holds in an `Integer`
    /// @param target takes them from its start on
    /// @return how many they were; more than the array takes is an [UnpackException]
    public int unpackInts(DataType type, int[] target) {
        long start = position;
        try {
            int count = begin(type, Integer.class);
            checkRoom(target.length, count, start);
            ints(type, blockPrefix(type), target, 0, count);
            return count;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one value of 64 bits.
    ///
    /// @param type one that Java holds in a `Long`
    /// @return the value
    public long unpackLong(DataType type) {
        return single(type, Long.class);
    }

    /// Unpacks one item of values of 64 bits each.
    ///
    /// @param type one that Java holds in a `Long`
    /// @return its values
    public long[] unpackLongs(DataType type) {
        long start = position;
        try {
            int count = begin(type, Long.class);
            Wire wire = blockPrefix(type);
            needAtLeast(count, wire);
            long[] values = new long[count];
            longs(type, wire, values, 0, count);
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of values of 64 bits each into an array.
    ///
    /// @param type one that Java holds in a `Long`
    /// @param target takes them from its start on
    /// @return how many they were; more than the array takes is an [UnpackException]
    public int unpackLongs(DataType type, long[] target) {
        long start = position;
        try {
            int count = begin(type, Long.class);
            checkRoom(target.length, count, start);
            longs(type, blockPrefix(type), target, 0, count);
            return count;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of `float`s, sent as text.
    ///
    /// @return its values
    public float[] unpackFloats() {
        long start = position;
        try {
            int count = begin(DataType.FLOAT, Float.class);
            needAtLeast(count, Wire.INT32);
            float[] values = new float[count];
            for (int i = 0; i < count; i++) {
                values[i] = floatText();
            }
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of `double`s, sent as text.
    ///
    /// @return its values
    public double[] unpackDoubles() {
        long start = position;
        try {
            int count = begin(DataType.DOUBLE, Double.class);
            needAtLeast(count, Wire.INT32);
            double[] values = new double[count];
            for (int i = 0; i < count; i++) {
                values[i] = doubleText();
            }
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    final float floatText() {
        long start = position;
        return FloatText.parseFloat(string(Math.min(FloatText.MAX_BYTES, limits.maxStringBytes())), start);
    }

    final double doubleText() {
        long start = position;
        return FloatText.parseDouble(string(Math.min(FloatText.MAX_BYTES, limits.maxStringBytes())), start);
    }

    private long single(DataType type, Class<?> box) {
        long start = position;
        try {
            one(begin(type, box), start);
            return single(type);
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    private void shorts(DataType type, Wire wire, short[] target, int from, int count) {
        if (wire == Wire.UINT8) {
            for (int i = from; i < from + count; i++) {
                target[i] = (short) number(wire);
            }
        } else {
            format.encoding().shorts(this, wire, target, from, count);
        }
    }

    private void ints(DataType type, Wire wire, int[] target, int from, int count) {
        if (wire == format.wireOf(type)) {
            format.encoding().ints(this, wire, target, from, count);
            return;
        }
        for (int i = from; i < from + count; i++) {
            target[i] = (int) narrowed(type, wire);
        }
    }

    private void longs(DataType type, Wire wire, long[] target, int from, int count) {
        if (wire == format.wireOf(type)) {
            format.encoding().longs(this, wire, target, from, count);
            return;
        }
        for (int i = from; i < from + count; i++) {
            target[i] = narrowed(type, wire);
        }
    }

    private static void checkRoom(int room, int count, long offset) {
        if (count > room) {
            throw failed(Reason.LIMIT, "array too small", "0.." + room, count, offset);
        }
    }
}
