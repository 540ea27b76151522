// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.App;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.Coord;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.DeviceDistance;
import io.bulla.pack.value.Endpoint;
import io.bulla.pack.value.Envar;
import io.bulla.pack.value.Geometry;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.ProcInfo;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.RegAttr;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import java.util.ArrayList;
import java.util.List;

/// The structs of `pmix_common.h` of PMIx 4.2, and two that it keeps inside: a `pmix_kval_t` and a `pmix_buffer_t`.
final class PmixValues extends CValues {

    private static final int NAMESPACE_BYTES = 256;
    private static final int KEY_BYTES = 512;
    private static final int PROC_BYTES = 260;

    private final Sizes sizes;
    private final Cpusets cpusets;

    PmixValues(CMemory memory, WireFormat format, Sizes sizes) {
        super(memory, format);
        this.sizes = sizes;
        this.cpusets = new Cpusets(memory);
    }

    /// `sizeof` of the classes whose objects are in the structs, as the library tells.
    record Sizes(long object, long listItem, long kval, long buffer) {}

    @Override
    long width(DataType type) {
        return switch (type) {
            case PROC_NSPACE -> NAMESPACE_BYTES;
            case PROC -> PROC_BYTES;
            case TIMEVAL, BYTE_OBJECT, COMPRESSED_STRING, COMPRESSED_BYTE_OBJECT, PROC_CPUSET -> 16;
            case DATA_ARRAY, QUERY, ENVAR, COORD -> 24;
            case VALUE, DEVICE_DIST, ENDPOINT -> 32;
            case DATA_BUFFER, GEOMETRY -> CBuffer.BYTES;
            case APP -> 56;
            case PROC_INFO -> 296;
            case REGATTR -> 536;
            case INFO -> 552;
            case PDATA -> 808;
            case KVAL -> sizes.kval();
            case BUFFER -> sizes.buffer();
            default -> super.width(type);
        };
    }

    @Override
    void put(long at, DataType type, Object value) {
        switch (type) {
            case PROC_NSPACE -> memory.putText(at, (String) value);
            case PROC_CPUSET -> cpusets.put(at, (String) value);
            default -> super.put(at, type, value);
        }
    }

    @Override
    Object take(long at, DataType type) {
        return switch (type) {
            case PROC_NSPACE -> memory.getText(at);
            case PROC_CPUSET -> cpusets.take(at);
            default -> super.take(at, type);
        };
    }

    @Override
    void putBytes(long at, DataType type, byte[] bytes) {
        if (type == DataType.DATA_BUFFER) {
            new CBuffer(memory, at).fill(bytes);
        } else {
            memory.putLong(at, memory.bytes(bytes));
            memory.putLong(at + 8, bytes.length);
        }
    }

    @Override
    byte[] takeBytes(long at, DataType type) {
        return type == DataType.DATA_BUFFER
                ? new CBuffer(memory, at).take()
                : memory.takeBytes(memory.getLong(at), memory.getLong(at + 8));
    }

    @Override
    void putComposite(long at, Composite value) {
        switch (value) {
            case Timeval time -> {
                memory.putLong(at, time.seconds());
                memory.putLong(at + 8, time.microseconds());
            }
            case Proc proc -> {
                memory.putText(at, proc.namespace());
                memory.putInt(at + NAMESPACE_BYTES, proc.rank());
            }
            case Value one -> putValue(at, one);
            case Kval pair -> {
                long held = memory.allocate(32);
                putValue(held, pair.value());
                memory.putLong(at + sizes.listItem(), memory.text(pair.key()));
                memory.putLong(at + sizes.listItem() + 8, held);
            }
            case Info info -> {
                memory.putText(at, info.key());
                memory.putInt(at + KEY_BYTES, info.flags());
                putValue(at + 520, info.value());
            }
            case Pdata data -> {
                putComposite(at, data.proc());
                memory.putText(at + PROC_BYTES, data.key());
                putValue(at + 776, data.value());
            }
            case NestedBuffer buffer -> {
                memory.putByte(at + sizes.object(), (byte) (buffer.described() ? 2 : 1));
                content(at).fill(bytes(buffer.bytes()));
            }
            case DataArray array -> {
                memory.putShort(at, (short) format.id(array.type()));
                memory.putLong(at + 8, array.values().size());
                memory.putLong(at + 16, putAll(array.type(), array.values()));
            }
            default -> putStruct(at, value);
        }
    }

    private void putStruct(long at, Composite value) {
        switch (value) {
            case ProcInfo info -> {
                putComposite(at, info.proc());
                putTexts(at + 264, info.host(), info.executable());
                memory.putInt(at + 280, info.pid());
                memory.putByte(at + 288, info.state());
            }
            case Query query -> {
                putList(at, query.keys());
                putCounted(at + 8, DataType.INFO, query.qualifiers());
            }
            case Envar variable -> {
                putTexts(at, variable.name(), variable.value());
                memory.putByte(at + 16, variable.separator());
            }
            case App app -> {
                memory.putLong(at, memory.text(app.command()));
                putList(at + 8, app.arguments());
                putList(at + 16, app.environment());
                memory.putLong(at + 24, memory.text(app.directory()));
                memory.putInt(at + 32, app.maxProcesses());
                putCounted(at + 40, DataType.INFO, app.info());
            }
            case Coord place -> {
                memory.putByte(at, place.view());
                putCounted(at + 8, DataType.UINT32, place.dimensions());
            }
            case Geometry geometry -> {
                memory.putLong(at, geometry.fabric());
                putTexts(at + 8, geometry.uuid(), geometry.osName());
                putCounted(at + 24, DataType.COORD, geometry.coordinates());
            }
            case DeviceDistance distance -> {
                putTexts(at, distance.uuid(), distance.osName());
                memory.putLong(at + 16, distance.deviceType());
                memory.putShort(at + 24, distance.least());
                memory.putShort(at + 26, distance.most());
            }
            case Endpoint endpoint -> {
                putTexts(at, endpoint.uuid(), endpoint.osName());
                putBytes(at + 16, DataType.BYTE_OBJECT, bytes(endpoint.address()));
            }
            case RegAttr attribute -> {
                memory.putLong(at, memory.text(attribute.name()));
                memory.putText(at + 8, attribute.key());
                memory.putShort(at + 520, attribute.type());
                putList(at + 528, attribute.description());
            }
            default -> throw new AssertionError(value.getClass());
        }
    }

    @Override
    Composite takeComposite(long at, DataType type) {
        return switch (type) {
            case TIMEVAL -> new Timeval(memory.getLong(at), memory.getLong(at + 8));
            case PROC -> takeProc(at);
            case VALUE -> takeValue(at);
            case KVAL -> takeKval(at + sizes.listItem());
            case INFO -> new Info(memory.getText(at), memory.getInt(at + KEY_BYTES), takeValue(at + 520));
            case PDATA -> new Pdata(takeProc(at), memory.getText(at + PROC_BYTES), takeValue(at + 776));
            case BUFFER ->
                new NestedBuffer(
                        memory.getByte(at + sizes.object()) == 2,
                        vector(content(at).take()));
            case DATA_ARRAY -> {
                DataType each = type(memory.getShort(at));
                yield new DataArray(each, takeArray(memory.getLong(at + 16), each, memory.getLong(at + 8)));
            }
            default -> takeStruct(at, type);
        };
    }

    private Composite takeStruct(long at, DataType type) {
        return switch (type) {
            case PROC_INFO ->
                new ProcInfo(
                        takeProc(at),
                        memory.takeText(at + 264),
                        memory.takeText(at + 272),
                        memory.getInt(at + 280),
                        memory.getByte(at + 288));
            case QUERY -> new Query(takeList(at), takeCounted(at + 8, DataType.INFO, Info.class));
            case ENVAR -> new Envar(memory.takeText(at), memory.takeText(at + 8), memory.getByte(at + 16));
            case APP ->
                new App(
                        memory.takeText(at),
                        takeList(at + 8),
                        takeList(at + 16),
                        memory.takeText(at + 24),
                        memory.getInt(at + 32),
                        takeCounted(at + 40, DataType.INFO, Info.class));
            case COORD -> new Coord(memory.getByte(at), takeCounted(at + 8, DataType.UINT32, Integer.class));
            case GEOMETRY ->
                new Geometry(
                        memory.getLong(at),
                        memory.takeText(at + 8),
                        memory.takeText(at + 16),
                        takeCounted(at + 24, DataType.COORD, Coord.class));
            case DEVICE_DIST ->
                new DeviceDistance(
                        memory.takeText(at),
                        memory.takeText(at + 8),
                        memory.getLong(at + 16),
                        memory.getShort(at + 24),
                        memory.getShort(at + 26));
            case ENDPOINT ->
                new Endpoint(
                        memory.takeText(at), memory.takeText(at + 8), vector(takeBytes(at + 16, DataType.BYTE_OBJECT)));
            case REGATTR ->
                new RegAttr(memory.takeText(at), memory.getText(at + 8), memory.getShort(at + 520), takeList(at + 528));
            default -> throw new AssertionError(type);
        };
    }

    /// Types whose value a `pmix_value_t` points to.
    private static boolean isPointedTo(DataType type) {
        return switch (type) {
            case PROC,
                    PROC_NSPACE,
                    PROC_INFO,
                    DATA_ARRAY,
                    COORD,
                    PROC_CPUSET,
                    GEOMETRY,
                    DEVICE_DIST,
                    ENDPOINT,
                    REGATTR -> true;
            default -> false;
        };
    }

    private void putValue(long at, Value value) {
        DataType type = value.type();
        memory.putShort(at, (short) format.id(type));
        if (isPointedTo(type)) {
            long held = memory.allocate(width(type));
            put(held, type, value.data());
            memory.putLong(at + 8, held);
        } else {
            put(at + 8, type, value.data());
        }
    }

    private Value takeValue(long at) {
        DataType type = type(memory.getShort(at));
        if (!isPointedTo(type)) {
            return new Value(type, take(at + 8, type));
        }
        long held = memory.getLong(at + 8);
        Object data = take(held, type);
        memory.free(held);
        return new Value(type, data);
    }

    private Kval takeKval(long at) {
        long held = memory.getLong(at + 8);
        Value value = takeValue(held);
        memory.free(held);
        return new Kval(memory.takeText(at), value);
    }

    private Proc takeProc(long at) {
        return new Proc(memory.getText(at), memory.getInt(at + NAMESPACE_BYTES));
    }

    private CBuffer content(long buffer) {
        // behind one byte that says whether it is described
        return new CBuffer(memory, buffer + sizes.object() + 8);
    }

    private void putTexts(long at, String first, String second) {
        memory.putLong(at, memory.text(first));
        memory.putLong(at + 8, memory.text(second));
    }

    /// A pointer and a `size_t`.
    private void putCounted(long at, DataType type, List<?> values) {
        memory.putLong(at, putAll(type, values));
        memory.putLong(at + 8, values.size());
    }

    private <T> List<T> takeCounted(long at, DataType type, Class<T> each) {
        return takeArray(memory.getLong(at), type, memory.getLong(at + 8)).stream()
                .map(each::cast)
                .toList();
    }

    /// A pointer to pointers, the last of them 0.
    private void putList(long at, List<String> texts) {
        if (!texts.isEmpty()) {
            long list = memory.allocate((texts.size() + 1L) * Long.BYTES);
            for (int i = 0; i < texts.size(); i++) {
                memory.putLong(list + (long) i * Long.BYTES, memory.text(texts.get(i)));
            }
            memory.putLong(at, list);
        }
    }

    private List<String> takeList(long at) {
        List<String> texts = new ArrayList<>();
        long list = memory.getLong(at);
        for (long each = list; list != 0 && memory.getLong(each) != 0; each += Long.BYTES) {
            texts.add(memory.takeText(each));
        }
        memory.free(list);
        return texts;
    }
}
