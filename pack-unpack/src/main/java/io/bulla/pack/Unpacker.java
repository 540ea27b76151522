package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import java.util.ArrayList;
import java.util.List;

/// Reads typed items out of a sealed buffer, one per call, and owns the position.
///
/// It borrows the buffer: the caller's handle stays the caller's, and a read after it was closed throws
/// [io.bulla.buffer.ReleasedBufferException]. Any number of unpackers can read one buffer at once, each in its
/// own thread. A read that fails leaves the position where it was; an array that was passed in may have been
/// written to. Bytes: [WireFormat].
public final class Unpacker extends ByteCursor {

    private Unpacker(SealedBuffer buffer, WireFormat format, Limits limits, long position, long end) {
        super(buffer, format, limits, position, end);
    }

    /// An unpacker at the start of `buffer`.
    ///
    /// @param buffer borrowed
    /// @param format what was written
    /// @return an unpacker with the default limits
    public static Unpacker of(SealedBuffer buffer, WireFormat format) {
        return of(buffer, format, Limits.DEFAULT);
    }

    /// An unpacker at the start of `buffer`.
    ///
    /// @param buffer borrowed
    /// @param format what was written
    /// @param limits what the buffer may announce
    /// @return an unpacker
    public static Unpacker of(SealedBuffer buffer, WireFormat format, Limits limits) {
        return new Unpacker(buffer, format, limits, 0, buffer.byteSize());
    }

    /// Another unpacker at this one's position, for looking ahead or for another thread.
    ///
    /// @return an unpacker of its own
    public Unpacker fork() {
        return new Unpacker(buffer, format, limits, position, end);
    }

    /// Another unpacker at this one's position that sees only the next bytes.
    ///
    /// @param bytes how many, at most what remains
    /// @return an unpacker of its own
    /// @throws IndexOutOfBoundsException if fewer remain
    public Unpacker limit(long bytes) {
        IoVec.checkRange("limit", position, bytes, end);
        return new Unpacker(buffer, format, limits, position, position + bytes);
    }

    /// Where the next item starts.
    ///
    /// @return in bytes from the start of the buffer
    public long position() {
        return position;
    }

    /// Bytes not read yet.
    ///
    /// @return at least 0
    public long remaining() {
        return end - position;
    }

    /// Looks at the next item without reading it.
    ///
    /// @return its type, if it is described, and its count
    /// @throws UnpackException if there is none, or its start is malformed
    public ItemHeader peek() {
        long start = position;
        try {
            if (!format.described()) {
                return new ItemHeader(-1, null, count());
            }
            tag(DataType.INT32);
            int count = count();
            int id = rawTag();
            return new ItemHeader(id, DataType.ofId(format, id), count);
        } finally {
            position = start;
        }
    }

    /// Skips the next item, which must say its type.
    ///
    /// @throws IllegalStateException if items are not described; [#skip(DataType)] skips those
    /// @throws UnpackException if it is malformed or of an unknown type; so do all calls below
    public void skip() {
        if (!format.described()) {
            throw new IllegalStateException("item does not say its type: format=" + format);
        }
        ItemHeader next = peek();
        if (next.type() == null) {
            throw failed(Reason.MALFORMED, "unknown type", "a type of " + format, next.typeId(), position);
        }
        skip(next.type());
    }

    /// Skips the next item.
    ///
    /// @param type what it is
    public void skip(DataType type) {
        unpack(type);
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

    /// Unpacks one item of exactly one string.
    ///
    /// @return the string, or `null` for the null string
    public String unpackString() {
        long start = position;
        try {
            one(begin(DataType.STRING, String.class), start);
            return string(limits.maxStringBytes());
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of strings.
    ///
    /// @return its strings, `null` for null strings
    public String[] unpackStrings() {
        long start = position;
        try {
            int count = begin(DataType.STRING, String.class);
            needAtLeast(count, Wire.INT32);
            String[] values = new String[count];
            for (int i = 0; i < count; i++) {
                values[i] = string(limits.maxStringBytes());
            }
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one byte object, without copying it.
    ///
    /// @return its bytes, borrowed as the buffer is; to keep them, use [SealedBuffer#slice]
    public IoVec unpackByteObject() {
        long start = position;
        try {
            one(begin(DataType.BYTE_OBJECT, IoVec.class), start);
            return bytes(objectSize(DataType.BYTE_OBJECT));
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of byte objects, without copying them.
    ///
    /// @return their bytes, borrowed as the buffer is
    public IoVec[] unpackByteObjects() {
        return unpack(DataType.BYTE_OBJECT).toArray(IoVec[]::new);
    }

    /// Unpacks one item of exactly one nested buffer, without copying it.
    ///
    /// @return an unpacker of its items, over the same handle; in PMIx described or not as the bytes say
    public Unpacker unpackBuffer() {
        long start = position;
        try {
            one(begin(DataType.BUFFER, NestedBuffer.class), start);
            WireFormat inside = format.described(nestedMode());
            long length = bytes(objectSize(DataType.BUFFER)).byteSize();
            return new Unpacker(buffer, inside, limits, position - length, position);
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one composite.
    ///
    /// @param composite its record
    /// @param <T> its record
    /// @return the value
    public <T extends Composite> T unpack(Class<T> composite) {
        long start = position;
        try {
            DataType type = DataType.of(composite);
            one(begin(type, composite), start);
            return composite.cast(new ElementReader(this).one(type));
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of composites.
    ///
    /// @param composite their record
    /// @param <T> their record
    /// @return its values
    public <T extends Composite> List<T> unpackAll(Class<T> composite) {
        return unpack(DataType.of(composite)).stream().map(composite::cast).toList();
    }

    /// Unpacks one item of any type.
    ///
    /// @param type what it is
    /// @return its values, as [DataType#javaClass] says
    public List<Object> unpack(DataType type) {
        long start = position;
        try {
            return new ElementReader(this).block(type, begin(type, type.javaClass()));
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// How many values the next item has, if it is of a type.
    int countOf(DataType type) {
        long start = position;
        try {
            return begin(type, type.javaClass());
        } finally {
            position = start;
        }
    }

    /// Unpacks one item of any type under the eyes of a watcher.
    List<Object> unpack(DataType type, ElementReader.Watcher watcher) {
        long start = position;
        try {
            return new ElementReader(this, watcher).block(type, begin(type, type.javaClass()));
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one value of any type.
    Object one(DataType type) {
        long start = position;
        try {
            one(begin(type, type.javaClass()), start);
            return new ElementReader(this).one(type);
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    <T> List<T> unpackCoded(int id, Class<T> type, Codec<T> codec) {
        long start = position;
        try {
            int count = beginCoded(id, type);
            // a codec packs at least one byte
            need(count);
            List<T> values = new ArrayList<>(Math.min(count, 1024));
            for (int i = 0; i < count; i++) {
                long before = position;
                values.add(codec.unpack(this));
                if (position == before) {
                    throw new IllegalStateException("codec unpacks nothing: id=" + id);
                }
            }
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    private int beginCoded(int id, Class<?> type) {
        if (!format.described()) {
            return count();
        }
        tag(DataType.INT32);
        int count = count();
        long start = position;
        int found = rawTag();
        if (found != id) {
            throw failed(Reason.WRONG_TYPE, "wrong type", type.getSimpleName(), DataType.nameOf(format, found), start);
        }
        return count;
    }

    String string(DataType type) {
        if (type != DataType.PROC_NSPACE) {
            return string(limits.maxStringBytes());
        }
        long start = position;
        String name = string(Math.min(Proc.MAX_NAMESPACE_BYTES + 1, limits.maxStringBytes()));
        if (name == null) {
            throw failed(Reason.MALFORMED, "name space is a null string", "text", null, start);
        }
        return name;
    }

    float floatText() {
        long start = position;
        return FloatText.parseFloat(string(Math.min(FloatText.MAX_BYTES, limits.maxStringBytes())), start);
    }

    double doubleText() {
        long start = position;
        return FloatText.parseDouble(string(Math.min(FloatText.MAX_BYTES, limits.maxStringBytes())), start);
    }

    /// PMIx says with each nested buffer whether it is described; OPAL means: as what it stands in.
    boolean nestedMode() {
        if (!format.isPmix()) {
            return format.described();
        }
        long start = position;
        byte mode = int8();
        if (mode != 1 && mode != 2) {
            throw failed(Reason.MALFORMED, "unknown kind of buffer", "1..2", mode & 0xff, start);
        }
        return mode == 2;
    }

    private int begin(DataType type, Class<?> box) {
        if (type.javaClass() != box) {
            throw new IllegalArgumentException("type does not hold such values: type=" + type + " expected="
                    + type.javaClass().getSimpleName() + " found=" + box.getSimpleName());
        }
        if (!format.described()) {
            type.id(format);
            return count();
        }
        tag(DataType.INT32);
        int count = count();
        tag(type);
        return count;
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

    /// Before anything is allocated for them.
    private void needAtLeast(int count, Wire wire) {
        need((long) count * format.encoding().leastBytes(wire));
    }

    private static void one(int count, long offset) {
        if (count != 1) {
            throw failed(Reason.WRONG_TYPE, "one value expected", 1, count, offset);
        }
    }

    private static void checkRoom(int room, int count, long offset) {
        if (count > room) {
            throw failed(Reason.LIMIT, "array too small", "0.." + room, count, offset);
        }
    }
}
