// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Envelope;
import io.bulla.pack.Enveloped;
import io.bulla.pack.ItemHeader;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
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
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.held.HeldMXBean;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        add(new HeldMXBean.Tag("tag", 1, 2, 3));
        add(new HeldMXBean.Handle("tag", 1, 2, List.of()));
        add(value);
        add(proc);
        add(info);
        add(coord);
        add(new App("run", List.of("a"), List.of("A=1"), "/tmp", 2, List.of(info)));
        add(DataArray.of(DataType.INT32, 1, 2));
        add(new DeviceDistance("id", "eth0", 1, (short) 1, (short) 2));
        add(new Endpoint("id", "eth0", bytes()));
        add(new Envar("PATH", "/bin", (byte) ':'));
        add(new Envelope(Optional.of(Fixtures.FORMAT), 4, 4));
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
                        Optional.of(Fixtures.FORMAT),
                        Fixtures.packed(scene, Fixtures.FORMAT, (Packer packer) -> packer.packInt32(1))));
    }

    private Values() {}

    static Function<FaultScene, Object> of(Class<?> type) {
        if (type.isEnum()) {
            return scene -> type.getEnumConstants()[0];
        }
        return MADE.get(type);
    }

    static void add(Object value) {
        MADE.put(value.getClass(), scene -> value);
    }

    private static IoVec bytes() {
        return IoVec.of(Arena.ofAuto().allocate(8));
    }
}
