// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.events;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.Unpacker;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixValue;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.message.Reading;
import io.bulla.runtime.pmix.internal.session.EventSink;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.Detached;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads events as they arrive, and hands them to the queue. The thread that reads.
///
/// @param queue where they wait for their listeners
/// @param reading how they are read
public record EventIntake(EventQueue queue, Reading reading) implements EventSink {

    private static final int EVENT_STRING_BYTES = 64 << 10;
    private static final String PROC = "pmix.evproc";
    private static final String PROCS = "pmix.evaffected";

    public static EventIntake of(EventQueue queue, Settings settings) {
        // many of them may wait, so each is small, inflated too
        Limits limits = new Limits(settings.options().limits().maxCount(), EVENT_STRING_BYTES);
        return new EventIntake(queue, new Reading(settings.environment().format(), limits));
    }

    @Override
    public void heard(SealedBuffer body) {
        try (body) {
            queue.put(read(body, reading));
        } catch (RuntimeException unreadable) {
            queue.drop();
        }
    }

    @Override
    public void dropped() {
        queue.drop();
    }

    /// `COMMAND 12 | STATUS | PROC source | SIZE n | INFO n`.
    ///
    /// @throws RuntimeException if it cannot be read
    public static PmixEvent read(SealedBuffer body, Reading reading) {
        Unpacker items = reading.of(body);
        byte command = items.unpackByte(DataType.COMMAND);
        if (command != Command.NOTIFY.code()) {
            throw new IllegalArgumentException("not an event: command=" + command);
        }
        PmixStatus status = new PmixStatus(items.unpackInt(DataType.STATUS));
        Proc source = items.unpack(Proc.class);
        Map<String, PmixValue> info = new LinkedHashMap<>();
        Detached kept = new Detached(reading.limits());
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
