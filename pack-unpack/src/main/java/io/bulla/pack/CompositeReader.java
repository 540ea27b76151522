// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.UnpackException.Reason;
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
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.ProcInfo;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.RegAttr;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import io.bulla.pack.value.Wire;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The fields of each composite, in the order of the C libraries.
record CompositeReader(ElementReader elements, Unpacker in) {

    private static final int NAMESPACE = Proc.MAX_NAMESPACE_BYTES + 1;
    private static final Query NO_QUERY = new Query(List.of(), List.of());
    private static final int KEY = Composite.MAX_KEY_BYTES + 1;

    Composite read(DataType type) {
        return switch (type) {
            case TIMEVAL -> new Timeval(in.number(Wire.INT64), in.number(Wire.INT64));
            case NAME -> (Name) elements.present(DataType.NAME);
            case PROC -> proc();
            case VALUE -> value();
            case KVAL -> new Kval(in.string(Math.min(KEY, in.limits.maxStringBytes())), value());
            case INFO -> info();
            case PDATA -> new Pdata(proc(), name("key", KEY), value());
            case BUFFER -> new NestedBuffer(in.nestedMode(), in.bytes(in.objectSize(type)));
            case DATA_ARRAY -> array();
            case PROC_INFO -> new ProcInfo(proc(), string(), string(), (int) in.single(DataType.PID), in.int8());
            case QUERY -> query();
            case ENVAR -> new Envar(string(), string(), in.int8());
            case APP ->
                new App(
                        string(),
                        strings(in.single(DataType.INT)),
                        strings(in.number(Wire.INT32)),
                        string(),
                        (int) in.single(DataType.INT),
                        infos());
            case COORD -> new Coord(in.int8(), list(Integer.class, DataType.UINT32, in.single(DataType.SIZE)));
            case GEOMETRY ->
                new Geometry(
                        in.single(DataType.SIZE),
                        string(),
                        string(),
                        list(Coord.class, DataType.COORD, in.single(DataType.SIZE)));
            case DEVICE_DIST ->
                new DeviceDistance(string(), string(), in.number(Wire.UINT64), (short) in.number(Wire.UINT16), (short)
                        in.number(Wire.UINT16));
            case ENDPOINT -> new Endpoint(string(), string(), in.bytes(in.objectSize(type)));
            case REGATTR ->
                new RegAttr(string(), name("key", KEY), (short) in.number(Wire.UINT16), strings(in.number(Wire.INT32)));
            default -> throw new AssertionError(type);
        };
    }

    private Proc proc() {
        return new Proc(name("name space", NAMESPACE), (int) in.number(Wire.UINT32));
    }

    private Info info() {
        return new Info(name("key", KEY), (int) in.number(Wire.UINT32), value());
    }

    private Value value() {
        DataType type = in.typeOfValue();
        return new Value(type, elements.one(in.format.inValue(type)));
    }

    /// Two bytes say that there is nothing in one: those have one object in common.
    private Query query() {
        List<String> keys = strings(in.number(Wire.INT32));
        List<Info> qualifiers = infos();
        return keys.isEmpty() && qualifiers.isEmpty() ? NO_QUERY : new Query(keys, qualifiers);
    }

    private DataArray array() {
        DataType type = in.type();
        long start = in.position;
        int count = in.listCount(in.single(DataType.SIZE), start);
        if (type == DataType.UNDEF && count > 0) {
            throw ByteCursor.failed(Reason.MALFORMED, "values of no type", 0, count, start);
        }
        return new DataArray(type, count == 0 ? List.of() : elements.block(type, count));
    }

    private @Nullable String string() {
        return in.string(in.limits.maxStringBytes());
    }

    /// Text that C keeps in an array and that is never null.
    private String name(String what, int maxBytes) {
        long start = in.position;
        String name = in.string(Math.min(maxBytes, in.limits.maxStringBytes()));
        if (name == null) {
            throw ByteCursor.failed(Reason.MALFORMED, what + " is a null string", "text", null, start);
        }
        return name;
    }

    private List<String> strings(long count) {
        long start = in.position;
        List<String> texts = list(String.class, DataType.STRING, count);
        if (!texts.isEmpty() && texts.contains(null)) {
            throw ByteCursor.failed(Reason.MALFORMED, "null string in a list", "text", null, start);
        }
        return texts;
    }

    private List<Info> infos() {
        return list(Info.class, DataType.INFO, in.single(DataType.SIZE));
    }

    private <T> List<T> list(Class<T> each, DataType type, long count) {
        List<@Nullable Object> values = elements.block(type, in.listCount(count, in.position));
        return values.isEmpty() ? List.of() : values.stream().map(each::cast).toList();
    }
}
