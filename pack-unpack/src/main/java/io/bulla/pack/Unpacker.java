package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Reads typed items out of a sealed buffer, one per call, and owns the position.
///
/// It borrows the buffer: the caller's handle stays the caller's, and a read after it was closed throws
/// [io.bulla.buffer.ReleasedBufferException]. Any number of unpackers can read one buffer at once, each in its
/// own thread. A read that fails leaves the position where it was. Bytes: [WireFormat].
public final class Unpacker {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final SealedBuffer buffer;
    private final WireFormat format;
    private final Limits limits;
    private long position;

    private Unpacker(SealedBuffer buffer, WireFormat format, Limits limits, long position) {
        this.buffer = buffer;
        this.format = format;
        this.limits = limits;
        this.position = position;
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
        return new Unpacker(buffer, format, limits, 0);
    }

    /// Another unpacker at this one's position, for looking ahead or for another thread.
    ///
    /// @return an unpacker of its own
    public Unpacker fork() {
        return new Unpacker(buffer, format, limits, position);
    }

    /// Bytes not read yet.
    ///
    /// @return at least 0
    public long remaining() {
        return buffer.byteSize() - position;
    }

    /// Unpacks one item of exactly one 32-bit integer.
    ///
    /// @return the value
    /// @throws UnpackException if the next item is something else or is truncated; so do all calls below
    public int unpackInt32() {
        return item(DssType.INT32, count -> {
            one(count);
            return int32();
        });
    }

    /// Unpacks one item of 32-bit integers.
    ///
    /// @return its values
    public int[] unpackInt32s() {
        return item(DssType.INT32, count -> {
            need((long) count * Integer.BYTES);
            int[] values = new int[count];
            for (int i = 0; i < count; i++) {
                values[i] = int32();
            }
            return values;
        });
    }

    /// Unpacks one item of exactly one 64-bit integer.
    ///
    /// @return the value
    public long unpackInt64() {
        return item(DssType.INT64, count -> {
            one(count);
            return int64();
        });
    }

    /// Unpacks one item of 64-bit integers.
    ///
    /// @return its values
    public long[] unpackInt64s() {
        return item(DssType.INT64, count -> {
            need((long) count * Long.BYTES);
            long[] values = new long[count];
            for (int i = 0; i < count; i++) {
                values[i] = int64();
            }
            return values;
        });
    }

    /// Unpacks one item of exactly one truth value.
    ///
    /// @return the value
    public boolean unpackBool() {
        boolean[] values = unpackBools(1);
        return values[0];
    }

    /// Unpacks one item of truth values.
    ///
    /// @return its values; any byte but 0 is true
    public boolean[] unpackBools() {
        return unpackBools(-1);
    }

    /// Unpacks one item of exactly one string.
    ///
    /// @return the string, or `null` for the null string
    public String unpackString() {
        return item(DssType.STRING, count -> {
            one(count);
            return string();
        });
    }

    /// Unpacks one item of strings.
    ///
    /// @return its strings, `null` for null strings
    public String[] unpackStrings() {
        return item(DssType.STRING, count -> {
            need((long) count * Integer.BYTES);
            String[] values = new String[count];
            for (int i = 0; i < count; i++) {
                values[i] = string();
            }
            return values;
        });
    }

    /// Unpacks one item of exactly one byte object, without copying it.
    ///
    /// @return its bytes, borrowed as the buffer is; to keep them, use [SealedBuffer#slice]
    public IoVec unpackByteObject() {
        return item(DssType.BYTE_OBJECT, count -> {
            one(count);
            return bytes();
        });
    }

    /// Unpacks one item of byte objects, without copying them.
    ///
    /// @return their bytes, borrowed as the buffer is
    public IoVec[] unpackByteObjects() {
        return item(DssType.BYTE_OBJECT, count -> {
            need((long) count * Integer.BYTES);
            IoVec[] values = new IoVec[count];
            for (int i = 0; i < count; i++) {
                values[i] = bytes();
            }
            return values;
        });
    }

    private boolean[] unpackBools(int expected) {
        return item(DssType.BOOL, count -> {
            if (expected >= 0) {
                one(count);
            }
            tag(DssType.UINT8);
            need(count);
            boolean[] values = new boolean[count];
            for (int i = 0; i < count; i++) {
                values[i] = int8() != 0;
            }
            return values;
        });
    }

    private interface Values<T> {
        T take(int count);
    }

    private <T> T item(DssType type, Values<T> values) {
        long start = position;
        try {
            if (format.described()) {
                tag(DssType.INT32);
            }
            int count = int32();
            if (count < 0 || count > limits.maxCount()) {
                throw failed("count out of range: count=" + count + " max=" + limits.maxCount(), start);
            }
            if (format.described()) {
                tag(type);
            }
            return values.take(count);
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    private void one(int count) {
        if (count != 1) {
            throw failed("one value expected: count=" + count, position);
        }
    }

    private void tag(DssType expected) {
        byte found = int8();
        if (found != expected.id()) {
            throw failed("wrong type: expected=" + expected + " found=" + DssType.nameOf(found), position - 1);
        }
    }

    private byte int8() {
        need(Byte.BYTES);
        byte value = buffer.iovec().get(BYTE, position);
        position += Byte.BYTES;
        return value;
    }

    private int int32() {
        need(Integer.BYTES);
        int value = buffer.iovec().get(INT, position);
        position += Integer.BYTES;
        return value;
    }

    private long int64() {
        need(Long.BYTES);
        long value = buffer.iovec().get(LONG, position);
        position += Long.BYTES;
        return value;
    }

    private String string() {
        long start = position;
        int length = int32();
        if (length == 0) {
            return null;
        }
        if (length < 0 || length > limits.maxStringBytes()) {
            throw failed("string length out of range: length=" + length + " max=" + limits.maxStringBytes(), start);
        }
        need(length);
        byte[] utf8 = new byte[length];
        int done = 0;
        for (ByteBuffer view : buffer.iovec().slice(position, length).asByteBuffers()) {
            int step = view.remaining();
            view.get(utf8, done, step);
            done += step;
        }
        if (utf8[length - 1] != 0) {
            throw failed("string without its terminating zero: length=" + length, start);
        }
        position += length;
        return decoded(utf8, start);
    }

    private IoVec bytes() {
        long start = position;
        int size = int32();
        if (size < 0) {
            throw failed("byte object of negative size: size=" + size, start);
        }
        need(size);
        IoVec view = buffer.iovec().slice(position, size);
        position += size;
        return view;
    }

    private void need(long bytes) {
        if (bytes > remaining()) {
            throw failed("truncated: needed=" + bytes + " remaining=" + remaining(), position);
        }
    }

    private static String decoded(byte[] utf8, long offset) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8, 0, utf8.length - 1))
                    .toString();
        } catch (CharacterCodingException e) {
            throw failed("string is not UTF-8: length=" + utf8.length, offset);
        }
    }

    private static UnpackException failed(String what, long offset) {
        return new UnpackException(what + " offset=" + offset);
    }
}
