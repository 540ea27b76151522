// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.text.MalformedTextException;
import io.bulla.pack.text.Utf8;
import io.bulla.pack.text.Words;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// A position in a sealed buffer and what lies there: bytes, numbers, tags, text. Every read asks the handle.
abstract class ByteCursor {

    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    static final int SHORT_TEXT = 128;

    final SealedBuffer buffer;
    final WireFormat format;
    final Limits limits;
    final TextMode text;
    final long end;
    long position;

    ByteCursor(SealedBuffer buffer, WireFormat format, Limits limits, TextMode text, long position, long end) {
        this.buffer = buffer;
        this.format = format;
        this.limits = limits;
        this.text = text;
        this.position = position;
        this.end = end;
    }

    static UnpackException failed(
            Reason reason, String what, @Nullable Object expected, @Nullable Object found, long offset) {
        return new UnpackException(reason, what, expected, found, offset);
    }

    final void need(long bytes) {
        if (bytes > end - position) {
            throw failed(Reason.TRUNCATED, "truncated", bytes, end - position, position);
        }
    }

    final byte byteAt(long offset) {
        return buffer.iovec().get(BYTE, offset);
    }

    final byte int8() {
        need(Byte.BYTES);
        byte value = byteAt(position);
        position += Byte.BYTES;
        return value;
    }

    final short int16() {
        int high = int8();
        return (short) (high << 8 | int8() & 0xff);
    }

    final int int32() {
        need(Integer.BYTES);
        int value = buffer.iovec().get(INT, position);
        position += Integer.BYTES;
        return value;
    }

    final long int64() {
        need(Long.BYTES);
        long value = buffer.iovec().get(LONG, position);
        position += Long.BYTES;
        return value;
    }

    /// Eight bytes of which the caller takes as many as it likes.
    final long littleLong() {
        return buffer.iovec().get(Words.LAYOUT, position);
    }

    final long number(Wire wire) {
        return format.encoding().number(this, wire);
    }

    final int rawTag() {
        return (int) number(format.tagWire());
    }

    final void tag(DataType expected) {
        long start = position;
        int found = rawTag();
        if (found != format.id(expected)) {
            throw failed(Reason.WRONG_TYPE, "wrong type", expected, format.nameOf(found), start);
        }
    }

    final int count() {
        long start = position;
        long count = number(Wire.INT32);
        if (count < 0 || count > limits.maxCount()) {
            throw failed(
                    count < 0 ? Reason.MALFORMED : Reason.LIMIT,
                    "count out of range",
                    "0.." + limits.maxCount(),
                    count,
                    start);
        }
        return (int) count;
    }

    /// Reads what stands before the values of an item, and says how many they are.
    final int begin(DataType type, Class<?> box) {
        if (type.javaClass() != box) {
            throw new IllegalArgumentException("type does not hold such values: type=" + type + " expected="
                    + type.javaClass().getSimpleName() + " found=" + box.getSimpleName());
        }
        if (!format.described()) {
            format.id(type);
            return ofItem(count());
        }
        tag(DataType.INT32);
        int count = count();
        tag(type);
        return ofItem(count);
    }

    /// As many as one item may have.
    final int ofItem(int count) {
        counted(0, count);
        return count;
    }

    /// Before anything is allocated for them.
    final void needAtLeast(int count, Wire wire) {
        need((long) count * leastBytes(wire));
    }

    static void one(int count, long offset) {
        if (count != 1) {
            throw failed(Reason.WRONG_TYPE, "one value expected", 1, count, offset);
        }
    }

    /// Reads the tags before the values of a block, and tells how its values travel: as the format has it, or in
    /// the sender's own width.
    final Wire blockPrefix(DataType type) {
        DataType alias = format.aliasTag(type);
        if (alias != null) {
            tag(alias);
        }
        DataType sizeTag = format.sizeTag(type);
        if (sizeTag == null) {
            return format.wireOf(type);
        }
        long start = position;
        int found = rawTag();
        if (found == format.id(sizeTag)) {
            return format.wireOf(type);
        }
        DataType sent = format.typeOf(found);
        return switch (sent) {
            case INT8, INT16, INT32, INT64, UINT16, UINT32, UINT64 -> sent.wire();
            case UINT8 -> Wire.UINT8;
            case null, default -> throw failed(Reason.WRONG_TYPE, "wrong type", sizeTag, format.nameOf(found), start);
        };
    }

    /// A number that the sender had in another width. C casts it and loses bits in silence.
    final long narrowed(DataType type, Wire sent) {
        long start = position;
        long value = number(sent);
        boolean huge = sent == Wire.UINT64 && value < 0;
        boolean fits = switch (type) {
            case BOOL -> true;
            case SIZE -> value >= 0 || huge;
            case UINT, PID -> !huge && value >= Integer.MIN_VALUE && value <= 0xffff_ffffL;
            default -> !huge && value >= Integer.MIN_VALUE && value <= Integer.MAX_VALUE;
        };
        if (!fits) {
            throw failed(
                    Reason.NARROWING,
                    "value does not fit",
                    type,
                    huge ? Long.toUnsignedString(value) : Long.toString(value),
                    start);
        }
        return value;
    }

    /// One number with the tags that a block of one has.
    final long single(DataType type) {
        Wire wire = blockPrefix(type);
        return wire == format.wireOf(type) ? number(wire) : narrowed(type, wire);
    }

    /// A string of at most so many bytes, its terminating zero included.
    final @Nullable String string(int maxBytes) {
        return string(maxBytes, null);
    }

    /// The same by way of an array of [#SHORT_TEXT] bytes, if there are several strings to be read.
    final @Nullable String string(int maxBytes, byte @Nullable [] scratch) {
        long start = position;
        long length = stringLength(maxBytes);
        if (length == 0) {
            return null;
        }
        String string = length <= SHORT_TEXT ? plainText((int) length - 1, scratch) : null;
        if (string == null) {
            byte[] utf8 = new byte[(int) length];
            copyTo(utf8);
            string = decoded(utf8, start);
        }
        position += length;
        return string;
    }

    final void strings(@Nullable String[] values) {
        byte[] scratch = values.length > 1 ? new byte[SHORT_TEXT] : null;
        for (int done = 0; done < values.length; ) {
            if (scratch != null && position < end) {
                done += plainTexts(values, done, scratch);
            }
            if (done < values.length) {
                // odd, long, or across a border
                values[done++] = string(limits.maxStringBytes(), scratch);
            }
        }
    }

    /// Reads short ASCII texts of one region, with one look at the region and its stamp, and leaves whatever is odd
    /// to the caller.
    ///
    /// @param scratch of [#SHORT_TEXT] bytes
    /// @return how many were read
    private int plainTexts(@Nullable String[] target, int from, byte[] scratch) {
        IoVec bytes = buffer.iovec();
        int index = bytes.regionAt(position);
        MemorySegment region = bytes.lent().region(index);
        long start = bytes.regionStart(index);
        long last = Math.min(end - start, region.byteSize());
        long at = position - start;
        Encoding encoding = format.encoding();
        int head = encoding.shortHeadBytes();
        int most = Math.min(SHORT_TEXT, limits.maxStringBytes());
        int next = from;
        while (next < target.length && at + head < last) {
            int length = encoding.shortLength(region, at);
            if (length < 1 || length > most || length > last - at - head) {
                break;
            }
            String text = Utf8.plain(region, at + head, length - 1, scratch);
            if (text == null) {
                break;
            }
            target[next++] = text;
            at += head + length;
        }
        position = start + at;
        bytes.verify();
        Reference.reachabilityFence(bytes);
        return next - from;
    }

    private String decoded(byte[] utf8, long start) {
        try {
            return Utf8.decoded(utf8, text == TextMode.ESCAPED);
        } catch (MalformedTextException malformed) {
            throw new UnpackException(malformed, start);
        }
    }

    /// Bytes of a string, its terminating zero included, which all are here; 0 for the null string.
    final long stringLength(int maxBytes) {
        long start = position;
        long length = number(Wire.INT32);
        if (length < 0 || length > maxBytes) {
            throw failed(
                    length < 0 ? Reason.MALFORMED : Reason.LIMIT,
                    "string length out of range",
                    "0.." + maxBytes,
                    length,
                    start);
        }
        need(length);
        return length;
    }

    /// The bytes of a string as they are, not copied, or `null` for the null string.
    final @Nullable IoVec rawString() {
        long start = position;
        long length = stringLength(limits.maxStringBytes());
        if (length == 0) {
            return null;
        }
        byte last = byteAt(position + length - 1);
        if (last != 0) {
            throw failed(Reason.MALFORMED, "string without its terminating zero", 0, last & 0xff, start);
        }
        IoVec view = buffer.iovec().slice(position, length - 1);
        position += length;
        return view;
    }

    private @Nullable String plainText(int length, byte @Nullable [] scratch) {
        IoVec bytes = buffer.iovec();
        int index = bytes.regionAt(position);
        MemorySegment region = bytes.lent().region(index);
        long at = position - bytes.regionStart(index);
        if (at + length >= region.byteSize()) {
            return null;
        }
        byte[] aside = scratch == null ? new byte[length] : scratch;
        String text = Utf8.plain(region, at, length, aside);
        bytes.verify();
        Reference.reachabilityFence(bytes);
        return text;
    }

    /// Bytes behind their length, not copied.
    final IoVec bytes(long length) {
        IoVec view = buffer.iovec().slice(position, objectLength(length));
        position += length;
        return view;
    }

    /// The size of an object whose bytes all are here.
    final long objectLength(long length) {
        if (length < 0 || length > limits.maxObjectBytes()) {
            throw failed(
                    length < 0 ? Reason.MALFORMED : Reason.LIMIT,
                    "byte object size out of range",
                    "0.." + limits.maxObjectBytes(),
                    length,
                    position);
        }
        need(length);
        return length;
    }

    final void skipBytes(long length) {
        need(length);
        position += length;
    }

    /// The size that stands before the bytes of an object.
    final long objectSize(DataType type) {
        return format.isPmix() || type == DataType.BUFFER ? single(DataType.SIZE) : number(Wire.INT32);
    }

    /// The fewest bytes of an [#objectSize]. Where sizes have a tag, a sender may have had one of a single byte.
    final long leastSizeBytes() {
        if (!format.isPmix()) {
            return leastBytes(Wire.INT32);
        }
        return format.sizeTag(DataType.SIZE) == null
                ? leastBytes(format.wireOf(DataType.SIZE))
                : leastBytes(format.tagWire()) + leastBytes(Wire.INT8);
    }

    final long leastBytes(Wire wire) {
        return format.encoding().leastBytes(wire);
    }

    /// The fewest bytes that a value takes: what a count can be checked against before anything is allocated.
    final long leastBytes(DataType type, Wire wire) {
        return switch (type.wire()) {
            case NOTHING, MARK -> 0;
            case ZERO, COMPOSITE -> 1;
            case BYTES -> leastSizeBytes();
            case FLOAT, DOUBLE, STRING -> leastBytes(Wire.INT32);
            default -> leastBytes(wire);
        };
    }

    /// The values of an item with some more of them.
    final long counted(long elements, int more) {
        long sum = elements + more;
        if (sum > limits.maxElements()) {
            throw failed(Reason.LIMIT, "too many values in one item", "0.." + limits.maxElements(), sum, position);
        }
        return sum;
    }

    final UnpackException tooDeep(int depth) {
        return failed(Reason.LIMIT, "nested too deep", limits.maxNesting(), depth + 1, position);
    }

    /// How many values an array inside an item has.
    final int listCount(long count, long offset) {
        if (count < 0 || count > limits.maxCount()) {
            throw failed(
                    count < 0 ? Reason.MALFORMED : Reason.LIMIT,
                    "count out of range",
                    "0.." + limits.maxCount(),
                    Long.toUnsignedString(count),
                    offset);
        }
        return (int) count;
    }

    /// A type id inside an item.
    final DataType type() {
        long start = position;
        int id = (int) single(DataType.DATA_TYPE);
        DataType type = format.typeOf(id);
        if (type == null) {
            throw failed(Reason.MALFORMED, "unknown type", "a type of " + format, id, start);
        }
        return type;
    }

    /// The type of a value, up to the block of it.
    final DataType typeOfValue() {
        DataType type = type();
        if (format.isTaggedInValue(type)) {
            tag(format.inValue(type));
        }
        return type;
    }

    final void copyTo(byte[] target) {
        IoVec bytes = buffer.iovec();
        IoVec regions = bytes.lent();
        if (regions.regionCount() > 1) {
            regions = regions.slice(position, target.length);
            int done = 0;
            for (int i = 0; i < regions.regionCount(); i++) {
                int step = (int) regions.region(i).byteSize();
                MemorySegment.copy(regions.region(i), BYTE, 0, target, done, step);
                done += step;
            }
        } else if (target.length > 0) {
            MemorySegment.copy(regions.region(0), BYTE, position, target, 0, target.length);
        }
        bytes.verify();
        Reference.reachabilityFence(bytes);
    }
}
