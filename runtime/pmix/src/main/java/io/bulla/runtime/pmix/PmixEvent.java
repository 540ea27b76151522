// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Proc;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// An event from the server, such as the death of a process. It is a hint: it may come late, or never.
///
/// @param status its code
/// @param source who told the server; for a death often not the one who died
/// @param affected the processes that it is about, as `pmix.evproc` or `pmix.evaffected` says; perhaps none
/// @param info all that was said with it
public record PmixEvent(PmixStatus status, Proc source, List<Proc> affected, Map<String, PmixValue> info) {

    private static final String PROC = "pmix.evproc";
    private static final String PROCS = "pmix.evaffected";

    /// Copies the list and the map.
    public PmixEvent {
        affected = List.copyOf(affected);
        info = Collections.unmodifiableMap(new LinkedHashMap<>(info));
    }

    /// `COMMAND 12 | STATUS | PROC source | SIZE n | INFO n`.
    ///
    /// @throws RuntimeException if it cannot be read
    static PmixEvent read(SealedBuffer body, WireFormat format, Limits limits) {
        Unpacker items = Unpacker.of(body, format, limits);
        byte command = items.unpackByte(DataType.COMMAND);
        if (command != Command.NOTIFY.code()) {
            throw new IllegalArgumentException("not an event: command=" + command);
        }
        PmixStatus status = new PmixStatus(items.unpackInt(DataType.STATUS));
        Proc source = items.unpack(Proc.class);
        Map<String, PmixValue> info = new LinkedHashMap<>();
        Detached kept = new Detached(limits);
        if (items.unpackLong(DataType.SIZE) != 0) {
            for (Info one : items.unpackAll(Info.class)) {
                info.put(one.key(), new PmixValue(kept.value(one.value())));
            }
        }
        return new PmixEvent(status, source, affected(info), info);
    }

    private static List<Proc> affected(Map<String, PmixValue> info) {
        List<Proc> affected = new ArrayList<>();
        for (String key : List.of(PROC, PROCS)) {
            PmixValue value = info.get(key);
            if (value != null && value.value().data() instanceof Proc proc) {
                affected.add(proc);
            } else if (value != null && value.value().data() instanceof DataArray array) {
                array.values().stream()
                        .filter(Proc.class::isInstance)
                        .map(Proc.class::cast)
                        .forEach(affected::add);
            }
        }
        return affected;
    }
}
