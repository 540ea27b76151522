// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.message;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import io.bulla.runtime.pmix.PmixPersistence;
import io.bulla.runtime.pmix.PmixRange;
import io.bulla.runtime.pmix.PmixScope;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixValue;
import io.bulla.runtime.pmix.internal.wire.Command;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// The requests, packed. Each starts with its command.
///
/// ```
/// INIT, FINALIZE     nothing more
/// ABORT              STATUS | STRING text | SIZE 0
/// COMMIT             for each scope that has some, local then remote: SCOPE | BUFFER of KVAL*
/// FENCE              SIZE n | PROC n | SIZE m | INFO m
/// GET                STRING name space | PROC_RANK | SIZE m | INFO m | STRING key
/// PUBLISH            UINT32 user | SIZE m | INFO m
/// LOOKUP, UNPUBLISH  UINT32 user | SIZE n | STRING key, n items | SIZE m | INFO m
/// REGISTER_EVENTS    SIZE n | STATUS n | SIZE 0
/// DEREGISTER_EVENTS  STATUS, n items
/// ```
///
/// Source: PMIx 4.2, `src/client`, and captured bytes.
public record Outgoing(MemorySource memory, WireFormat format) {

    private static final List<PmixScope> SECTIONS = List.of(PmixScope.LOCAL, PmixScope.REMOTE);

    /// The values that a process put.
    public record Put(PmixScope scope, Kval pair) {}

    public SealedBuffer plain(Command command) {
        return packed(command, items -> {});
    }

    public SealedBuffer abort(int status, String text) {
        return packed(Command.ABORT, items -> {
            items.pack(DataType.STATUS, status).packString(text);
            size(items, 0);
        });
    }

    public SealedBuffer commit(Collection<Put> puts) {
        return packed(Command.COMMIT, items -> {
            for (PmixScope section : SECTIONS) {
                List<Kval> pairs = puts.stream()
                        .filter(put -> Codes.covers(put.scope(), section))
                        .map(Put::pair)
                        .toList();
                if (!pairs.isEmpty()) {
                    items.pack(DataType.SCOPE, Codes.of(section));
                    try (SealedBuffer inside = packed(pairs)) {
                        items.packBuffer(inside);
                    }
                }
            }
        });
    }

    public SealedBuffer fence(Collection<Proc> members, boolean collect) {
        return packed(Command.FENCE, items -> {
            size(items, members.size());
            items.pack(DataType.PROC, members.toArray());
            infos(items, collect ? List.of(truth("pmix.collect")) : List.of());
        });
    }

    /// @param waitSeconds how long the server waits for the key; 0: it does not
    public SealedBuffer get(Proc proc, String key, int waitSeconds) {
        return packed(Command.GET, items -> {
            items.packString(proc.namespace()).pack(DataType.PROC_RANK, proc.rank());
            infos(
                    items,
                    List.of(
                            waitSeconds == 0
                                    ? truth("pmix.immediate")
                                    : info("pmix.timeout", DataType.INT, waitSeconds)));
            items.packString(key);
        });
    }

    public SealedBuffer publish(int user, Map<String, PmixValue> values, PmixRange range, PmixPersistence persistence) {
        return packed(Command.PUBLISH, items -> {
            List<Info> infos = new ArrayList<>();
            infos.add(info("pmix.range", DataType.DATA_RANGE, Codes.of(range)));
            infos.add(info("pmix.persist", DataType.PERSIST, Codes.of(persistence)));
            values.forEach((key, value) -> infos.add(new Info(key, 0, value.value())));
            items.pack(DataType.UINT32, user);
            infos(items, infos);
        });
    }

    /// @param waitSeconds how long the server waits for all keys; 0: it does not
    public SealedBuffer lookup(int user, Collection<String> keys, PmixRange range, int waitSeconds) {
        return packed(Command.LOOKUP, items -> {
            List<Info> infos = new ArrayList<>();
            infos.add(info("pmix.range", DataType.DATA_RANGE, Codes.of(range)));
            if (waitSeconds > 0) {
                infos.add(info("pmix.wait", DataType.INT, keys.size()));
                infos.add(info("pmix.timeout", DataType.INT, waitSeconds));
            }
            keys(items, user, keys);
            infos(items, infos);
        });
    }

    public SealedBuffer unpublish(int user, Collection<String> keys, PmixRange range) {
        return packed(Command.UNPUBLISH, items -> {
            keys(items, user, keys);
            infos(items, List.of(info("pmix.range", DataType.DATA_RANGE, Codes.of(range))));
        });
    }

    public SealedBuffer register(Collection<PmixStatus> codes) {
        return packed(Command.REGISTER_EVENTS, items -> {
            size(items, codes.size());
            items.pack(DataType.STATUS, codes.stream().map(PmixStatus::code).toArray());
            size(items, 0);
        });
    }

    public SealedBuffer deregister(Collection<PmixStatus> codes) {
        return packed(
                Command.DEREGISTER_EVENTS, items -> codes.forEach(code -> items.pack(DataType.STATUS, code.code())));
    }

    /// Refuses what cannot be packed, before anybody relies on it.
    public void check(Kval pair) {
        packed(List.of(pair)).close();
    }

    private SealedBuffer packed(List<Kval> pairs) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            Packer items = Packer.into(builder, format);
            pairs.forEach(items::pack);
            return builder.seal();
        }
    }

    private SealedBuffer packed(Command command, Consumer<Packer> rest) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            Packer items = Packer.into(builder, format).pack(DataType.COMMAND, command.code());
            rest.accept(items);
            return builder.seal();
        }
    }

    private static void keys(Packer items, int user, Collection<String> keys) {
        items.pack(DataType.UINT32, user);
        size(items, keys.size());
        keys.forEach(items::packString);
    }

    private static void infos(Packer items, List<Info> infos) {
        size(items, infos.size());
        if (!infos.isEmpty()) {
            items.pack(infos.getFirst(), infos.subList(1, infos.size()).toArray(Composite[]::new));
        }
    }

    private static void size(Packer items, long size) {
        items.pack(DataType.SIZE, size);
    }

    private static Info truth(String key) {
        return info(key, DataType.BOOL, true);
    }

    private static Info info(String key, DataType type, Object data) {
        return new Info(key, 0, new Value(type, data));
    }
}
