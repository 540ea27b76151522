// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.iovec.IoVec;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Envar;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;

/// The structs of `opal/dss/dss_types.h` of Open MPI 4.1.
///
/// Byte objects, values and buffers are passed as arrays of pointers, all others in place.
final class OpalValues extends CValues {

    private final long objectSize;
    private final long listItemSize;
    private final long valueSize;
    private final long bufferSize;

    OpalValues(CMemory memory, WireFormat format, Sizes sizes) {
        super(memory, format);
        this.objectSize = sizes.object();
        this.listItemSize = sizes.listItem();
        this.valueSize = sizes.value();
        this.bufferSize = sizes.buffer();
    }

    /// `sizeof` of the classes whose objects are in the structs, as the library tells.
    record Sizes(long object, long listItem, long value, long buffer) {}

    @Override
    long width(DataType type) {
        return switch (type) {
            case DATA_TYPE -> Byte.BYTES;
            case TIMEVAL -> 16;
            case ENVAR -> listItemSize + 24;
            default -> super.width(type);
        };
    }

    @Override
    void put(long at, DataType type, Object value) {
        if (type == DataType.DATA_TYPE) {
            memory.putByte(at, ((Short) value).byteValue());
        } else {
            super.put(at, type, value);
        }
    }

    @Override
    Object take(long at, DataType type) {
        return type == DataType.DATA_TYPE ? (Object) (short) (memory.getByte(at) & 0xff) : super.take(at, type);
    }

    @Override
    void putBytes(long at, DataType type, byte[] bytes) {
        long object = memory.allocate(16);
        putObject(object, bytes);
        memory.putLong(at, object);
    }

    @Override
    byte[] takeBytes(long at, DataType type) {
        long object = memory.getLong(at);
        byte[] bytes = takeObject(object);
        memory.free(object);
        return bytes;
    }

    private void putObject(long at, byte[] bytes) {
        memory.putInt(at, bytes.length);
        memory.putLong(at + 8, memory.bytes(bytes));
    }

    private byte[] takeObject(long at) {
        return memory.takeBytes(memory.getLong(at + 8), memory.getInt(at));
    }

    @Override
    void putComposite(long at, Composite value) {
        switch (value) {
            case Timeval time -> {
                memory.putLong(at, time.seconds());
                memory.putLong(at + 8, time.microseconds());
            }
            case Name name -> {
                memory.putInt(at, name.job());
                memory.putInt(at + 4, name.vpid());
            }
            case Envar variable -> {
                long fields = at + listItemSize;
                memory.putLong(fields, memory.text(variable.name()));
                memory.putLong(fields + 8, memory.text(variable.value()));
                memory.putByte(fields + 16, variable.separator());
            }
            case Kval pair -> memory.putLong(at, value(pair));
            case NestedBuffer buffer -> memory.putLong(at, buffer(buffer.described(), bytes(buffer.bytes())));
            default -> throw new AssertionError(value.getClass());
        }
    }

    @Override
    Composite takeComposite(long at, DataType type) {
        return switch (type) {
            case TIMEVAL -> new Timeval(memory.getLong(at), memory.getLong(at + 8));
            case NAME -> new Name(memory.getInt(at), memory.getInt(at + 4));
            case ENVAR -> {
                long fields = at + listItemSize;
                yield new Envar(memory.takeText(fields), memory.takeText(fields + 8), memory.getByte(fields + 16));
            }
            case KVAL -> takeValue(memory.getLong(at));
            case BUFFER -> takeBuffer(memory.getLong(at));
            default -> throw new AssertionError(type);
        };
    }

    private long value(Kval pair) {
        long object = memory.allocate(valueSize);
        long data = object + listItemSize + 16;
        memory.putLong(object + listItemSize, memory.text(pair.key()));
        memory.putByte(object + listItemSize + 8, (byte) format.id(pair.value().type()));
        if (pair.value().type() == DataType.BYTE_OBJECT) {
            putObject(data, bytes((IoVec) pair.value().data()));
        } else {
            put(data, pair.value().type(), pair.value().data());
        }
        return object;
    }

    private Kval takeValue(long object) {
        long data = object + listItemSize + 16;
        String key = memory.takeText(object + listItemSize);
        DataType type = type(memory.getByte(object + listItemSize + 8) & 0xff);
        Object taken = type == DataType.BYTE_OBJECT ? vector(takeObject(data)) : take(data, type);
        memory.free(object);
        return new Kval(key, new Value(type, taken));
    }

    /// An `opal_buffer_t` that holds `bytes`, its position at the start.
    long buffer(boolean described, byte[] bytes) {
        long buffer = memory.allocate(bufferSize);
        memory.putInt(buffer + objectSize, described ? 1 : 0);
        content(buffer).fill(bytes);
        return buffer;
    }

    CBuffer content(long buffer) {
        return new CBuffer(memory, buffer + objectSize + 8);
    }

    private NestedBuffer takeBuffer(long buffer) {
        byte[] bytes = content(buffer).take();
        memory.free(buffer);
        // the struct says the library's default, for the bytes do not tell
        return new NestedBuffer(format.described(), vector(bytes));
    }
}
