// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.iovec.IoVec;
import io.bulla.pack.value.App;
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
import java.util.Arrays;
import java.util.List;

/// The composites that the golden vectors describe in prose.
final class GoldenComposites {

    private static final Info INFO = new Info("my.key", 0, new Value(DataType.UINT32, 42));
    private static final Coord COORD = new Coord((byte) 1, List.of(1, 200, 0));

    private static final Envar ENVAR = new Envar("PATH", "/bin", (byte) ':');
    private static final IoVec THREE = Packed.vector((byte) 0, (byte) 1, (byte) -1);

    private GoldenComposites() {}

    static Object[] of(GoldenRow row) {
        WireFormat format = row.format();
        return switch (row.id()) {
            case "timeval" -> many(new Timeval(0, 0), new Timeval(1_700_000_000, 999_999));
            case "timeval_0" -> many(new Timeval(0, 0));
            case "name" -> many(new Name(77, 3));
            case "value_int32" -> many(new Kval("k", new Value(DataType.INT32, -2)));
            case "value_status" -> many(new Kval("k", new Value(DataType.STATUS, -2)));
            case "value_bo" -> many(new Kval("k", new Value(DataType.BYTE_OBJECT, THREE)));
            case "value_envar" -> many(new Kval("k", new Value(DataType.ENVAR, ENVAR)));
            case "kval" -> many(new Kval("k", new Value(DataType.INT32, -2)));
            case "envar" -> many(ENVAR);
            case "envar_null" -> many(new Envar(null, "", (byte) 0));
            case "proc_info" -> many(new ProcInfo(new Proc("job-1", 3), "host", null, 4242, (byte) 4));
            case "endpoint" -> many(new Endpoint("u", "o", THREE));
            case "regattr" -> many(new RegAttr("PMIX_X", "pmix.x", (short) 14, List.of("line", "")));
            case "value_string" -> many(new Kval("k", Value.of("x")));
            case "buffer_nested", "buffer_items" ->
                many(new NestedBuffer(
                        format.described(), Packed.vector(Packed.bytes(format, packer -> packer.packInt32(1)))));
            case "proc_0" -> many(new Proc("job-1", 0));
            case "proc_wild" -> many(new Proc("job-1", Proc.WILDCARD));
            case "proc_arr" ->
                many(new Proc("job-1", 0), new Proc("job-1", Proc.WILDCARD), new Proc("", Proc.UNDEFINED));
            case "nspace_arr" -> many("job-1", "prterun-host-1@2");
            case "val_undef" -> value(DataType.UNDEF, null);
            case "val_bool" -> value(DataType.BOOL, true);
            case "val_uint32" -> value(DataType.UINT32, 300);
            case "val_size" -> value(DataType.SIZE, 4096L);
            case "val_int" -> value(DataType.INT, -5);
            case "val_pid" -> value(DataType.PID, 12345);
            case "val_string" -> many(Value.of("value"));
            case "val_string_null" -> many(Value.of(null));
            case "val_double" -> value(DataType.DOUBLE, 2.5);
            case "val_rank" -> value(DataType.PROC_RANK, 7);
            case "val_proc" -> value(DataType.PROC, new Proc("ns", 3));
            case "val_darray_int32" -> value(DataType.DATA_ARRAY, DataArray.of(DataType.INT32, 1, -1, 1000));
            case "val_darray_info" ->
                value(
                        DataType.DATA_ARRAY,
                        DataArray.of(DataType.INFO, INFO, new Info("pmix.flag", 1, new Value(DataType.BOOL, true))));
            case "darray_empty" -> many(DataArray.of(DataType.INT32));
            case "darray_undef" -> many(DataArray.of(DataType.UNDEF));
            case "darray_string" -> many(DataArray.of(DataType.STRING, "x", null, ""));
            case "darray_nested" ->
                many(DataArray.of(
                        DataType.DATA_ARRAY, DataArray.of(DataType.INT32, 1, 2), DataArray.of(DataType.INT32)));
            case "darray_value" ->
                many(DataArray.of(DataType.VALUE, new Value(DataType.UINT8, (byte) 9), Value.of("z")));
            case "info_uint32" -> many(INFO);
            case "pdata" -> many(new Pdata(new Proc("ns", 1), "k", new Value(DataType.INT32, -2)));
            case "app" -> many(new App("a.out", List.of("a.out", "-x"), List.of("A=1"), "/tmp", 4, List.of(INFO)));
            case "query" -> many(new Query(List.of("pmix.qry.a", "b"), List.of(INFO)));
            case "coord" -> many(COORD);
            case "geometry" -> many(new Geometry(5, "u", "o", List.of(COORD)));
            case "device_dist" -> many(new DeviceDistance("u", "o", 1, (short) 10, (short) 20));
            case "dbuf_nested2" -> many(Packed.vector(nested(format)));
            default -> throw new IllegalArgumentException(row.toString());
        };
    }

    private static byte[] nested(WireFormat format) {
        byte[] inner = Packed.bytes(format, packer -> packer.packInt32(1).packString("in"));
        return Packed.bytes(format, packer -> packer.pack(DataType.DATA_BUFFER, Packed.vector(inner)));
    }

    private static Object[] value(DataType type, Object data) {
        return many(new Value(type, data));
    }

    private static Object[] many(Object... values) {
        return Arrays.copyOf(values, values.length, Object[].class);
    }
}
