// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.iovec.IoVec;
import io.bulla.pack.text.FixedField;
import io.bulla.pack.text.Utf8;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Wire;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Writes values, one block after the other: the tags that a block has, then its values.
final class ElementWriter {

    private final BufferBuilder out;
    private final WireFormat format;
    private final FloatText floats;
    private final TextMode texts;
    private final Limits limits;
    private final int mostValues;
    private final Scratch scratch = new Scratch();
    private int depth;
    private long elements;
    // the last text was ASCII, and the next one is taken to be
    private boolean plain = true;

    ElementWriter(BufferBuilder out, WireFormat format, FloatText floats, TextMode texts, Limits limits) {
        this.out = out;
        this.format = format;
        this.floats = floats;
        this.texts = texts;
        this.limits = limits;
        this.mostValues = Math.min(limits.maxCount(), limits.maxElements());
    }

    void number(Wire wire, long value) {
        format.encoding().put(out, wire, value);
    }

    void tag(DataType type) {
        number(format.tagWire(), format.id(type));
    }

    /// The tags before the values of a block.
    void blockPrefix(DataType type) {
        DataType alias = format.aliasTag(type);
        if (alias != null) {
            tag(alias);
        }
        DataType size = format.sizeTag(type);
        if (size != null) {
            tag(size);
        }
    }

    /// One number with the tags that a block of one has.
    void single(DataType type, long value) {
        blockPrefix(type);
        number(format.wireOf(type), value);
    }

    void string(@Nullable String text) {
        if (text == null
                || !plain
                || text.length() >= limits.maxStringBytes()
                || !InPlace.tryText(out, format.encoding(), text, false)) {
            anyText(text);
        }
    }

    void strings(@Nullable String[] all) {
        for (int i = 0; i < all.length; i++) {
            if (plain) {
                i += InPlace.tryTexts(out, format.encoding(), limits.maxStringBytes(), all, i);
            }
            if (i < all.length) {
                anyText(all[i]);
            }
        }
    }

    /// Writes an item of one string, if it can be done in one go; or nothing at all.
    boolean tryOneString(@Nullable String text) {
        return text != null
                && plain
                && text.length() < limits.maxStringBytes()
                && !format.described()
                && InPlace.tryText(out, format.encoding(), text, true);
    }

    private void anyText(@Nullable String text) {
        if (text == null) {
            number(Wire.INT32, 0);
            return;
        }
        int size = Utf8.byteSize(text, texts == TextMode.ESCAPED);
        checkText(size + 1L);
        plain = size == text.length();
        number(Wire.INT32, size + 1L);
        // an escaped unit is one byte as well
        Utf8.put(out, text, plain && texts == TextMode.STRICT);
        out.putByte((byte) 0);
    }

    void ints(DataType type, int[] values, int from, int count) {
        format.encoding().putInts(out, scratch, format.wireOf(type), values, from, count);
    }

    void text(double value) {
        string(floats.of(value));
    }

    void text(float value) {
        string(floats.of(value));
    }

    /// Any bytes but zero, where a C reader would cut them.
    void rawString(IoVec text) {
        if (text == null) {
            number(Wire.INT32, 0);
            return;
        }
        long size = text.byteSize();
        checkText(size + 1);
        for (long i = 0; i < size; i++) {
            if (text.get(ByteCursor.BYTE, i) == 0) {
                throw new IllegalArgumentException("string holds a zero byte: index=" + i + " byteSize=" + size);
            }
        }
        number(Wire.INT32, size + 1);
        out.put(text);
        out.putByte((byte) 0);
    }

    private void checkText(long bytes) {
        if (bytes > limits.maxStringBytes()) {
            throw refused("string too long", "byteSize", bytes, "maxStringBytes", limits.maxStringBytes());
        }
    }

    void checkObject(long size) {
        if (size > limits.maxObjectBytes()) {
            throw refused("byte object too large", "byteSize", size, "maxObjectBytes", limits.maxObjectBytes());
        }
    }

    /// The size that stands before the bytes of an object.
    void objectSize(DataType type, long size) {
        checkObject(size);
        if (format.isPmix() || type == DataType.BUFFER) {
            single(DataType.SIZE, size);
            return;
        }
        if (size > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a DSS byte object has a 32-bit size: byteSize=" + size + " max=" + Integer.MAX_VALUE);
        }
        number(Wire.INT32, size);
    }

    void object(DataType type, IoVec bytes) {
        objectSize(type, bytes.byteSize());
        out.put(bytes);
    }

    /// The only block of an item, and those inside it.
    void item(DataType type, List<?> values) {
        depth = 0;
        elements = 0;
        block(type, values);
    }

    /// Refuses a count that no reader takes.
    void checkCount(long count) {
        if (count > mostValues) {
            throw count > limits.maxCount()
                    ? refused("too many values", "count", count, "maxCount", limits.maxCount())
                    : refused("too many values in one item", "elements", count, "maxElements", limits.maxElements());
        }
    }

    void block(DataType type, List<?> values) {
        checkCount(values.size());
        elements += values.size();
        if (elements > limits.maxElements()) {
            throw refused("too many values in one item", "elements", elements, "maxElements", limits.maxElements());
        }
        if (type == DataType.NAME) {
            values.forEach(type::check);
            counted(
                    DataType.JOBID,
                    values.stream().map(name -> ((Name) name).job()).toList());
            counted(
                    DataType.VPID,
                    values.stream().map(name -> ((Name) name).vpid()).toList());
        } else {
            counted(type, values);
        }
    }

    private void counted(DataType type, List<?> values) {
        blockPrefix(type);
        if (type.wire() == Wire.MARK) {
            out.putByte((byte) 1);
            return;
        }
        for (Object value : values) {
            type.check(value);
            element(type, value);
        }
    }

    private void element(DataType type, Object value) {
        switch (type.wire()) {
            case NOTHING, MARK -> {}
            case ZERO -> out.putByte((byte) 0);
            case FLOAT -> text((Float) value);
            case DOUBLE -> text((Double) value);
            case STRING -> string(checked(type, (String) value));
            case BYTES -> object(type, (IoVec) value);
            case COMPOSITE -> composite((Composite) value);
            default -> number(format.wireOf(type), checkedNumber(type, value));
        }
    }

    private void composite(Composite value) {
        if (depth == limits.maxNesting()) {
            throw refused("nested too deep", "nesting", depth + 1, "maxNesting", limits.maxNesting());
        }
        depth++;
        new CompositeWriter(this, out, format).put(value);
        depth--;
    }

    private static IllegalArgumentException refused(String what, String name, long value, String limit, long most) {
        return new IllegalArgumentException(
                what + ", a reader would refuse it: " + name + "=" + value + " " + limit + "=" + most);
    }

    static String checked(DataType type, String text) {
        return type == DataType.PROC_NSPACE ? FixedField.checked("name space", text, Proc.MAX_NAMESPACE_BYTES) : text;
    }

    /// A type id has one byte in OPAL.
    long checkedNumber(DataType type, Object value) {
        long number = type.wire().unbox(value);
        if (format.wireOf(type) == Wire.UINT8 && number > 0xff) {
            throw new IllegalArgumentException("type id does not fit into a byte: id=" + number);
        }
        return number;
    }
}
