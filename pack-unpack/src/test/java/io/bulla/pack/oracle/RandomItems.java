// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.FloatText;
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
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.ProcInfo;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.RegAttr;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// The items of one case, the same for the same seed and number.
final class RandomItems {

    /// Values of values, and arrays of arrays, this deep.
    private static final int DEPTH = 3;

    private static final Set<DataType> NOT_IN_PMIX_VALUES = EnumSet.of(
            DataType.VALUE,
            DataType.INFO,
            DataType.PDATA,
            DataType.APP,
            DataType.KVAL,
            DataType.BUFFER,
            DataType.DATA_BUFFER);

    private static final Set<DataType> NOT_IN_OPAL_VALUES = EnumSet.of(
            DataType.TIME,
            DataType.DATA_TYPE,
            DataType.NULL,
            DataType.JOBID,
            DataType.VPID,
            DataType.KVAL,
            DataType.BUFFER);

    private final WireFormat format;
    private final List<DataType> types;
    private final List<DataType> inValues;
    /// Of the current case.
    private RandomNumbers random;

    RandomItems(WireFormat format, Set<DataType> unknownToC) {
        boolean opal = format.knows(DataType.NAME);
        this.format = format;
        this.types = EnumSet.allOf(DataType.class).stream()
                .filter(type -> type != DataType.UNDEF && format.knows(type) && !unknownToC.contains(type))
                .toList();
        this.inValues = types.stream()
                .filter(type -> !(opal ? NOT_IN_OPAL_VALUES : NOT_IN_PMIX_VALUES).contains(type))
                .toList();
    }

    List<Item> of(RandomNumbers numbers) {
        random = numbers;
        List<Item> items = list(1 + random.below(4), () -> item(DEPTH));
        if (Defects.endsUnreadably(format, items)) {
            items.add(new Item(DataType.BOOL, List.of(true)));
        }
        return items;
    }

    private Item item(int depth) {
        DataType type = random.of(types);
        return new Item(type, values(type, count(type), depth));
    }

    private int count(DataType type) {
        int kind = random.below(20);
        if (kind < 2) {
            return 0;
        }
        if (kind < 10) {
            return 1;
        }
        boolean simple = !Composite.class.isAssignableFrom(type.javaClass());
        return kind == 19 && simple ? random.below(300) : 1 + random.below(5);
    }

    private List<Object> values(DataType type, int count, int depth) {
        return list(count, () -> value(type, depth));
    }

    /// A value of any type; types within types become simple at depth 0.
    private Object value(DataType type, int depth) {
        Class<?> box = type.javaClass();
        if (box == Void.class) {
            return null;
        }
        if (box == Boolean.class) {
            return random.bool();
        }
        if (box == Byte.class) {
            return (byte) random.bits(8);
        }
        if (box == Short.class) {
            long bits = random.bits(16);
            return (short) (type == DataType.DATA_TYPE && format.knows(DataType.NAME) ? bits & 0xff : bits);
        }
        if (box == Integer.class) {
            return (int) random.bits(32);
        }
        if (box == Long.class) {
            return random.bits(64);
        }
        return switch (type) {
            case FLOAT -> random.float32();
            case DOUBLE -> random.float64();
            case STRING -> random.nullable();
            case PROC_CPUSET -> random.cpuset();
            case PROC_NSPACE -> random.text(Proc.MAX_NAMESPACE_BYTES);
            case DATA_BUFFER -> CValues.vector(nested(format, depth));
            case BYTE_OBJECT, COMPRESSED_STRING, COMPRESSED_BYTE_OBJECT -> CValues.vector(random.bytes());
            default -> composite(type, depth);
        };
    }

    private Object composite(DataType type, int depth) {
        return switch (type) {
            case TIMEVAL -> new Timeval(random.bits(64), random.bits(64));
            case NAME -> new Name((int) random.bits(32), (int) random.bits(32));
            case PROC -> proc();
            case VALUE -> heldValue(depth);
            case KVAL -> new Kval(random.below(8) == 0 ? null : key(), heldValue(depth));
            case INFO -> info(depth);
            case PDATA -> new Pdata(proc(), key(), heldValue(depth));
            case BUFFER -> buffer(depth);
            case DATA_ARRAY -> array(depth);
            case PROC_INFO ->
                new ProcInfo(
                        proc(), random.nullable(), random.nullable(), (int) random.bits(32), (byte) random.bits(8));
            case QUERY -> new Query(texts(), infos(depth));
            case ENVAR -> new Envar(random.nullable(), random.nullable(), (byte) random.bits(8));
            case APP ->
                new App(random.nullable(), texts(), texts(), random.nullable(), (int) random.bits(32), infos(depth));
            case COORD -> coord();
            case GEOMETRY ->
                new Geometry(random.bits(64), random.nullable(), random.nullable(), list(random.below(3), this::coord));
            case DEVICE_DIST ->
                new DeviceDistance(
                        random.nullable(), random.nullable(), random.bits(64), (short) random.bits(16), (short)
                                random.bits(16));
            case ENDPOINT -> new Endpoint(random.nullable(), random.nullable(), CValues.vector(random.bytes()));
            case REGATTR -> new RegAttr(random.nullable(), key(), (short) random.bits(16), texts());
            default -> throw new AssertionError(type);
        };
    }

    private Value heldValue(int depth) {
        if (random.below(40) == 0 && !format.knows(DataType.NAME)) {
            return new Value(DataType.UNDEF, null);
        }
        DataType type = simpler(inValues, depth);
        return new Value(type, value(type, depth - 1));
    }

    private DataArray array(int depth) {
        DataType type = simpler(types, depth);
        return random.below(20) == 0
                ? DataArray.of(DataType.UNDEF)
                : new DataArray(type, values(type, random.below(5), depth - 1));
    }

    /// Any of the types; none that holds types itself at the end of the depth.
    private DataType simpler(List<DataType> among, int depth) {
        DataType type = random.of(among);
        while (depth <= 0 && Composite.class.isAssignableFrom(type.javaClass())) {
            type = random.of(among);
        }
        return type;
    }

    /// OPAL does not say whether a nested buffer is described: it is what it stands in.
    private NestedBuffer buffer(int depth) {
        boolean described = format.knows(DataType.NAME) ? format.described() : random.bool();
        return new NestedBuffer(described, CValues.vector(nested(format.described(described), depth)));
    }

    private byte[] nested(WireFormat inner, int depth) {
        if (depth <= 0 || random.bool()) {
            return random.bytes();
        }
        return new JavaLibrary(inner, true, FloatText.STRICT).pack(list(random.below(3), () -> item(depth - 1)));
    }

    private Info info(int depth) {
        return new Info(key(), (int) random.bits(32), heldValue(depth));
    }

    private List<Info> infos(int depth) {
        return list(random.below(3), () -> info(depth - 1));
    }

    private Coord coord() {
        return new Coord((byte) random.bits(8), list(random.below(4), () -> (int) random.bits(32)));
    }

    private Proc proc() {
        return new Proc(random.text(Proc.MAX_NAMESPACE_BYTES), (int) random.bits(32));
    }

    private String key() {
        return random.text(Composite.MAX_KEY_BYTES);
    }

    private List<String> texts() {
        return list(random.below(4), () -> random.text(80));
    }

    private static <T> List<T> list(int count, Supplier<T> each) {
        List<T> list = new ArrayList<>(count);
        IntStream.range(0, count).forEach(i -> list.add(each.get()));
        return list;
    }
}
