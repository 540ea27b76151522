// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import io.bulla.pack.App;
import io.bulla.pack.Coord;
import io.bulla.pack.DataArray;
import io.bulla.pack.DataType;
import io.bulla.pack.DeviceDistance;
import io.bulla.pack.Endpoint;
import io.bulla.pack.Envar;
import io.bulla.pack.Envelope;
import io.bulla.pack.Enveloped;
import io.bulla.pack.Geometry;
import io.bulla.pack.Info;
import io.bulla.pack.ItemHeader;
import io.bulla.pack.Kval;
import io.bulla.pack.Limits;
import io.bulla.pack.Name;
import io.bulla.pack.NestedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.Pdata;
import io.bulla.pack.Proc;
import io.bulla.pack.ProcInfo;
import io.bulla.pack.Query;
import io.bulla.pack.RegAttr;
import io.bulla.pack.Timeval;
import io.bulla.pack.Value;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// A value of each record, and of each enum its first constant.
final class Values {

    private static final Map<Class<?>, Function<FaultScene, Object>> MADE = new HashMap<>();

    static {
        Value value = Value.of("value");
        Proc proc = new Proc("job", 1);
        Info info = new Info("key", 0, value);
        Coord coord = new Coord((byte) 1, List.of(1, 2));
        add(new CopyTally(1, 2));
        add(new LeaseLedger.Holder("tag", Duration.ZERO, 1, List.of()));
        add(value);
        add(proc);
        add(info);
        add(coord);
        add(new App("run", List.of("a"), List.of("A=1"), "/tmp", 2, List.of(info)));
        add(DataArray.of(DataType.INT32, 1, 2));
        add(new DeviceDistance("id", "eth0", 1, (short) 1, (short) 2));
        add(new Endpoint("id", "eth0", bytes()));
        add(new Envar("PATH", "/bin", (byte) ':'));
        add(new Envelope(Fixtures.FORMAT, 4, 4));
        add(new Geometry(1, "id", "eth0", List.of(coord)));
        add(new ItemHeader(1, DataType.INT32, 2));
        add(new Kval("key", value));
        add(Limits.DEFAULT);
        add(new Name(1, 2));
        add(new NestedBuffer(false, bytes()));
        add(new Pdata(proc, "key", value));
        add(new ProcInfo(proc, "host", "run", 1, (byte) 2));
        add(new Query(List.of("key"), List.of(info)));
        add(new RegAttr("name", "key", (short) 1, List.of("text")));
        add(new Timeval(1, 2));
        MADE.put(
                Enveloped.class,
                scene -> new Enveloped(
                        Fixtures.FORMAT,
                        Fixtures.packed(scene, Fixtures.FORMAT, (Packer packer) -> packer.packInt32(1))));
    }

    private Values() {}

    static Function<FaultScene, Object> of(Class<?> type) {
        if (type.isEnum()) {
            return scene -> type.getEnumConstants()[0];
        }
        return MADE.get(type);
    }

    private static void add(Object value) {
        MADE.put(value.getClass(), scene -> value);
    }

    private static IoVec bytes() {
        return IoVec.of(Arena.ofAuto().allocate(8));
    }
}
