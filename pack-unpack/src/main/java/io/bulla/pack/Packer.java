package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;

/// Writes typed items into a builder, one per call: a count and its values.
///
/// An item that fails leaves the builder as it was. A packer belongs to its builder's thread. Bytes:
/// [WireFormat].
public final class Packer {

    private final BufferBuilder builder;
    private final WireFormat format;

    private Packer(BufferBuilder builder, WireFormat format) {
        this.builder = builder;
        this.format = format;
    }

    /// A packer that appends to `builder`.
    ///
    /// @param builder stays the caller's, who seals or closes it
    /// @param format what to write
    /// @return a packer
    public static Packer into(BufferBuilder builder, WireFormat format) {
        return new Packer(builder, format);
    }

    /// Packs one item of 32-bit integers.
    ///
    /// @param values any number
    /// @return this packer
    /// @throws IllegalStateException if the builder refuses to write; so do all calls below
    public Packer packInt32(int... values) {
        return item(DssType.INT32, values.length, () -> {
            for (int value : values) {
                builder.putInt(value);
            }
        });
    }

    /// Packs one item of 64-bit integers.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packInt64(long... values) {
        return item(DssType.INT64, values.length, () -> {
            for (long value : values) {
                builder.putLong(value);
            }
        });
    }

    /// Packs one item of truth values.
    ///
    /// @param values any number
    /// @return this packer
    public Packer packBool(boolean... values) {
        return item(DssType.BOOL, values.length, () -> {
            builder.putByte(DssType.UINT8.id());
            for (boolean value : values) {
                builder.putByte((byte) (value ? 1 : 0));
            }
        });
    }

    /// Packs one item of strings.
    ///
    /// @param values any number; a null reference is a null string, which is not the empty one
    /// @return this packer
    /// @throws IllegalArgumentException if a string holds U+0000, where a C reader would cut it
    public Packer packString(String... values) {
        return item(DssType.STRING, values.length, () -> {
            for (String value : values) {
                putString(value);
            }
        });
    }

    /// Packs one item of byte objects.
    ///
    /// @param values any number of arrays, none of them null
    /// @return this packer
    public Packer packByteObject(byte[]... values) {
        return item(DssType.BYTE_OBJECT, values.length, () -> {
            for (byte[] value : values) {
                builder.putInt(value.length).put(value);
            }
        });
    }

    /// Packs one item of one byte object, read straight from a channel into the builder.
    ///
    /// @param channel a blocking channel
    /// @param byteSize how much of it, in bytes
    /// @return this packer
    /// @throws IllegalArgumentException if `byteSize` does not fit the format's 32-bit size
    /// @throws IOException from the channel, or if it ends early
    public Packer packByteObject(ReadableByteChannel channel, long byteSize) throws IOException {
        if (byteSize < 0 || byteSize > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a DSS byte object has a 32-bit size: byteSize=" + byteSize + " max=" + Integer.MAX_VALUE);
        }
        return item(DssType.BYTE_OBJECT, 1, () -> {
            builder.putInt((int) byteSize);
            builder.readFully(channel, byteSize);
        });
    }

    private void putString(String value) {
        if (value == null) {
            builder.putInt(0);
            return;
        }
        int zero = value.indexOf(0);
        if (zero >= 0) {
            throw new IllegalArgumentException("string holds U+0000: index=" + zero + " length=" + value.length());
        }
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        builder.putInt(Math.addExact(utf8.length, 1)).put(utf8).putByte((byte) 0);
    }

    private interface Values<E extends Exception> {
        void put() throws E;
    }

    private <E extends Exception> Packer item(DssType type, int count, Values<E> values) throws E {
        long start = builder.byteSize();
        try {
            if (format.described()) {
                builder.putByte(DssType.INT32.id()).putInt(count).putByte(type.id());
            } else {
                builder.putInt(count);
            }
            values.put();
            return this;
        } catch (Throwable failure) {
            builder.truncate(start);
            throw failure;
        }
    }
}
