// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.NestedBuffer;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A packer writes typed items into a builder. Each call writes one item: a count and so many values.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.pack.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         Packer.into(builder, WireFormat.OPAL_DSS).packString("launch").packInt32(7, 8).packDouble(0.5);
///         try (SealedBuffer message = builder.seal()) {
///             IO.print(message.hexDump()); // a count stands in front of each item
///         }
///     }
/// }
/// ```
///
/// ```text
/// 00000000: 0000 0001 0000 0007 6c61 756e 6368 0000  ........launch..
/// 00000010: 0000 0200 0000 0700 0000 0800 0000 0100  ................
/// 00000020: 0000 0930 2e35 3030 3030 3000            ...0.500000.
/// ```
///
/// An item that fails leaves the builder as it was. A packer belongs to its builder's thread. It refuses a value
/// that a C peer cannot read, or that a reader with the same [Limits] refuses: by an [IllegalArgumentException] that
/// names the limit. [WireFormat] describes the bytes.
public final class Packer extends NumberPacker {

    private final int maxNesting;
    // codecs that are at work, one inside the other, and the last failure that has a codec's name
    private int codecs;
    private @Nullable RuntimeException named;

    private Packer(BufferBuilder builder, WireFormat format, FloatText floats, TextMode texts, Limits limits) {
        super(builder, format, floats, texts, limits);
        this.maxNesting = limits.maxNesting();
    }

    /// A packer that appends to `builder`, and writes floating-point numbers as C does.
    ///
    /// @param builder stays the caller's, who seals or closes it
    /// @param format what to write
    /// @return a packer
    public static Packer into(BufferBuilder builder, WireFormat format) {
        return into(builder, format, FloatText.STRICT);
    }

    /// A packer that appends to `builder`.
    ///
    /// @param builder stays the caller's, who seals or closes it
    /// @param format what to write
    /// @param floats how floating-point numbers become text
    /// @return a packer
    public static Packer into(BufferBuilder builder, WireFormat format, FloatText floats) {
        return into(builder, format, floats, TextMode.STRICT, Limits.DEFAULT);
    }

    /// A packer that appends to `builder`, for readers of other limits than the default ones, or for text that is not
    /// UTF-8.
    ///
    /// @param builder stays the caller's, who seals or closes it
    /// @param format what to write
    /// @param floats how floating-point numbers become text
    /// @param texts what becomes of half a surrogate pair
    /// @param limits those of the readers
    /// @return a packer
    public static Packer into(
            BufferBuilder builder, WireFormat format, FloatText floats, TextMode texts, Limits limits) {
        return new Packer(builder, format, floats, texts, limits);
    }

    /// Packs one item of one string. Of several: [#packStrings].
    ///
    /// @param value `null` is a null string, as C packs a `char *` that is NULL; it is not the empty one
    /// @return this packer
    /// @throws IllegalArgumentException if it holds U+0000, where a C reader would cut it, or half a surrogate
    ///     pair
    public Packer packString(@Nullable String value) {
        long start = builder.byteSize();
        try {
            if (!elements.tryOneString(value)) {
                beginOne(DataType.STRING);
                elements.string(value);
            }
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of strings.
    ///
    /// @param values any number, none included; a `null` among them is a null string, which is not the empty one
    /// @return this packer
    /// @throws NullPointerException if there is no array: one null string is `packString(null)`
    /// @throws IllegalArgumentException if a string holds U+0000, where a C reader would cut it, or half a
    ///     surrogate pair
    public Packer packStrings(@Nullable String... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.STRING, values.length);
            elements.strings(values);
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of strings whose bytes are given as they are: any but zero, in whatever charset.
    ///
    /// @param values any number, without the terminating zero, copied; a null reference is a null string
    /// @return this packer
    /// @throws IllegalArgumentException if one holds a zero byte, where a C reader would cut it
    public Packer packRawString(IoVec... values) {
        long start = builder.byteSize();
        try {
            begin(DataType.STRING, values.length);
            for (IoVec value : values) {
                elements.rawString(value);
            }
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    /// Packs one item of one byte object.
    ///
    /// @param value not null
    /// @return this packer
    public Packer packByteObject(byte[] value) {
        long start = builder.byteSize();
        try {
            beginOneObject(value.length);
            builder.put(value);
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
            try {
                builder.truncate(start);
            } catch (RuntimeException gone) {
                // sealed, abandoned or cut by the channel: what failed first says more
                failure.addSuppressed(gone);
            }
            noteLost(failure);
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
    public Packer pack(DataType type, @Nullable Object... values) {
        return boxed(type, Arrays.asList(values));
    }

    WireFormat format() {
        return format;
    }

    <T> void packCoded(CodecEntry<T> entry, List<T> values) {
        // a copy, for the list is open to the codec
        Object[] all = values.toArray();
        long start = builder.byteSize();
        try {
            header(entry.id(), all.length);
            for (int i = 0; i < all.length; i++) {
                packOne(entry, entry.checked(all[i], i), i);
            }
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }

    private <T> void packOne(CodecEntry<T> entry, T value, int index) {
        checkNesting(entry, index);
        long before = builder.byteSize();
        @Nullable Throwable outer = lost;
        lost = null;
        codecs++;
        try {
            entry.codec().pack(this, value);
            // refused if the codec has sealed or closed the builder
            builder.truncate(builder.byteSize());
        } catch (Throwable failure) {
            throw named(entry, failure, index);
        } finally {
            codecs--;
        }
        if (lost != null) {
            throw named(entry, lost, index);
        }
        lost = outer;
        if (builder.byteSize() <= before) {
            throw entry.wrong(
                    builder.byteSize() == before ? "codec packs nothing:" : "codec takes back what was packed:", index);
        }
    }

    /// As values in values: a codec that uses itself ends here, and not with the stack.
    private void checkNesting(CodecEntry<?> entry, int index) {
        if (codecs == maxNesting) {
            throw new IllegalArgumentException("nested too deep, a reader would refuse it: nesting=" + (codecs + 1)
                    + " maxNesting=" + maxNesting + entry.at(index));
        }
    }

    /// With the name of the innermost codec.
    private RuntimeException named(CodecEntry<?> entry, Throwable failure, int index) {
        RuntimeException known = named;
        if (known == null || failure != known) {
            known = entry.failed(failure, index);
            named = known;
        }
        return known;
    }

    /// The start of an item of one byte object: in OPAL its count and its size are as an item of one number.
    private void beginOneObject(int size) {
        if (format.described() || format.isPmix()) {
            beginOne(DataType.BYTE_OBJECT);
            elements.objectSize(DataType.BYTE_OBJECT, size);
        } else {
            elements.checkObject(size);
            format.encoding().putOneInt(builder, size);
        }
    }

    private Packer boxed(DataType type, List<?> values) {
        long start = builder.byteSize();
        try {
            header(type, values.size());
            elements.item(type, values);
            return this;
        } catch (Throwable failure) {
            throw undone(start, failure);
        }
    }
}
