// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Wire;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An unpacker reads typed items from a sealed buffer, one for each call, and keeps the position.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.pack.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create();
///             BufferBuilder builder = BufferBuilder.create(memory)) {
///         Packer.into(builder, WireFormat.PMIX_4).packString("launch").packInt32(7, 8);
///         try (SealedBuffer message = builder.seal()) {
///             Unpacker unpacker = Unpacker.of(message, WireFormat.PMIX_4);
///             IO.println(unpacker.unpackString() + " " + Arrays.toString(unpacker.unpackInt32s()));
///             try {
///                 unpacker.unpackInt32();
///             } catch (UnpackException end) {
///                 IO.println(end.getMessage());
///             }
///         }
///     }
/// }
/// ```
///
/// ```text
/// launch [7, 8]
/// truncated: expected=1 found=0 offset=12
/// ```
///
/// An unpacker borrows the buffer: the caller closes the handle, and a later read throws
/// [io.bulla.buffer.ReleasedBufferException]. Any number of unpackers can read one buffer at once, each in its own
/// thread. A read that fails leaves the position unchanged, but may have written to an array that was passed in.
/// [WireFormat] describes the bytes.
public final class Unpacker extends NumberUnpacker {

    // codecs that are at work, one inside the other, and the last failure that has a codec's name
    private int codecs;
    private @Nullable RuntimeException named;

    private Unpacker(SealedBuffer buffer, WireFormat format, Limits limits, TextMode text, long position, long end) {
        super(buffer, format, limits, text, position, end);
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
        return of(buffer, format, limits, TextMode.STRICT);
    }

    /// An unpacker at the start of `buffer`.
    ///
    /// @param buffer borrowed
    /// @param format what was written
    /// @param limits what the buffer may announce
    /// @param text what becomes of text that is not UTF-8
    /// @return an unpacker
    public static Unpacker of(SealedBuffer buffer, WireFormat format, Limits limits, TextMode text) {
        return new Unpacker(buffer, format, limits, text, 0, buffer.byteSize());
    }

    /// Another unpacker at this one's position, for looking ahead or for another thread.
    ///
    /// @return an unpacker of its own
    public Unpacker fork() {
        return part(format, position, end);
    }

    /// Another unpacker at this one's position that sees only the next bytes.
    ///
    /// @param bytes how many, at most what remains
    /// @return an unpacker of its own
    /// @throws IndexOutOfBoundsException if fewer remain
    public Unpacker limit(long bytes) {
        IoVec.checkRange("limit", position, bytes, end);
        return part(format, position, position + bytes);
    }

    /// As deep as this one.
    private Unpacker part(WireFormat inside, long from, long to) {
        Unpacker part = new Unpacker(buffer, inside, limits, text, from, to);
        part.codecs = codecs;
        return part;
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
            return new ItemHeader(id, format.typeOf(id), count);
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

    /// Skips the next item without decoding it: text that is not UTF-8, or null where a reader wants a key, is
    /// skipped as well.
    ///
    /// @param type what it is
    public void skip(DataType type) {
        long start = position;
        try {
            new ElementSkipper(this).block(type, begin(type, type.javaClass()));
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one string.
    ///
    /// @return the string, or `null` for the null string
    public @Nullable String unpackString() {
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
    public @Nullable String[] unpackStrings() {
        long start = position;
        try {
            int count = begin(DataType.STRING, String.class);
            needAtLeast(count, Wire.INT32);
            @Nullable String[] values = new @Nullable String[count];
            strings(values);
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one string as the bytes that were sent, without copying or decoding them.
    ///
    /// @return its bytes without the terminating zero, borrowed as the buffer is, or `null` for the null string
    public @Nullable IoVec unpackRawString() {
        long start = position;
        try {
            one(begin(DataType.STRING, String.class), start);
            return rawString();
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of strings as the bytes that were sent, without copying or decoding them.
    ///
    /// @return their bytes, as [#unpackRawString()]
    public @Nullable IoVec[] unpackRawStrings() {
        long start = position;
        try {
            int count = begin(DataType.STRING, String.class);
            needAtLeast(count, Wire.INT32);
            @Nullable IoVec[] values = new @Nullable IoVec[count];
            for (int i = 0; i < count; i++) {
                values[i] = rawString();
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
        long start = position;
        try {
            return unpack(DataType.BYTE_OBJECT).toArray(IoVec[]::new);
        } catch (Throwable failure) {
            // no heap for the array
            position = start;
            throw failure;
        }
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
            return part(inside, position - length, position);
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
            return composite.cast(new ElementReader(this).present(type));
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
        long start = position;
        try {
            return unpack(DataType.of(composite)).stream().map(composite::cast).toList();
        } catch (Throwable failure) {
            // no heap for the list
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of any type.
    ///
    /// @param type what it is
    /// @return its values, as [DataType#javaClass] says
    public List<@Nullable Object> unpack(DataType type) {
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
    List<@Nullable Object> unpack(DataType type, ElementReader.Watcher watcher) {
        long start = position;
        try {
            return new ElementReader(this, watcher).block(type, begin(type, type.javaClass()));
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    /// Unpacks one item of exactly one value of any type that has no null.
    Object one(DataType type) {
        long start = position;
        try {
            one(begin(type, type.javaClass()), start);
            return new ElementReader(this).present(type);
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    <T> List<T> unpackCoded(CodecEntry<T> entry) {
        long start = position;
        try {
            int count = beginCoded(entry.id(), entry.type());
            need(count * leastItemBytes());
            List<T> values = new ArrayList<>(Math.min(count, 1024));
            for (int i = 0; i < count; i++) {
                values.add(unpackOne(entry, i, count));
            }
            return values;
        } catch (Throwable failure) {
            position = start;
            throw failure;
        }
    }

    private <T> T unpackOne(CodecEntry<T> entry, int index, int count) {
        long before = position;
        Object value;
        try {
            if (codecs == limits.maxNesting()) {
                throw tooDeep(codecs);
            }
            codecs++;
            try {
                value = entry.codec().unpack(this);
            } finally {
                codecs--;
            }
            // a codec that reads more than it packed takes it from the values behind
            need((count - index - 1) * leastItemBytes());
        } catch (Throwable failure) {
            throw named(entry, failure, index);
        }
        if (position == before) {
            throw entry.wrong("codec unpacks nothing:", index);
        }
        return entry.unpacked(value, index);
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

    /// A codec packs at least one item: a count and, where items are described, two tags.
    private long leastItemBytes() {
        long count = leastBytes(Wire.INT32);
        return format.described() ? count + 2 * leastBytes(format.tagWire()) : count;
    }

    private int beginCoded(int id, Class<?> type) {
        if (!format.described()) {
            return ofItem(count());
        }
        tag(DataType.INT32);
        int count = count();
        long start = position;
        int found = rawTag();
        if (found != id) {
            throw failed(Reason.WRONG_TYPE, "wrong type", type.getSimpleName(), format.nameOf(found), start);
        }
        return ofItem(count);
    }

    @Nullable
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
}
