// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.job;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Unpacker;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixValue;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.message.PackedData;
import io.bulla.runtime.pmix.internal.message.Reading;
import io.bulla.runtime.pmix.internal.wire.Detached;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Keeps the data of the job and its processes that the server has sent. One thread at a time.
///
/// ```
/// answer to INIT   STRING name space | KVAL* of the job
///                  a KVAL pmix.pblob: BYTE_OBJECT of PROC_RANK | KVAL* of that rank
/// answer to GET    STATUS | BYTE_OBJECT*, each of PROC | KVAL*
/// ```
public final class JobData implements AutoCloseable {

    private static final String OF_ONE_RANK = "pmix.pblob";
    private static final String OF_ONE_NODE = "pmix.node.arr";
    private static final String HOST = "pmix.hname";
    private static final PackedData.Pairs UNSEEN = (pair, end) -> {};

    private final Reading reading;
    private final Proc self;
    private final Proc job;
    private final Map<Proc, Deque<PackedData>> known = new HashMap<>();
    private boolean closed;

    public JobData(Proc self, Reading reading) {
        this.self = self;
        this.job = new Proc(self.namespace(), Proc.WILDCARD);
        this.reading = reading;
    }

    public Proc job() {
        return job;
    }

    /// Takes in the answer to INIT, whole or not at all.
    ///
    /// @throws RuntimeException if it cannot be read
    public void takeInit(Answer answer) {
        Unpacker items = answer.items();
        String namespace = items.unpackString();
        if (!self.namespace().equals(namespace)) {
            throw new IllegalArgumentException(
                    "data of another job: wanted=" + self.namespace() + " found=" + namespace);
        }
        Map<Proc, PackedData> fresh = new LinkedHashMap<>();
        boolean whole = false;
        try {
            long start = items.position();
            PackedData ofAll = PackedData.restOf(answer.body(), items, reading, (pair, end) -> {
                if (OF_ONE_RANK.equals(pair.key()) && pair.value().data() instanceof IoVec bytes) {
                    takeRank(fresh, answer.body(), start + end - bytes.byteSize(), bytes.byteSize());
                }
            });
            replace(fresh, job, ofAll);
            whole = true;
        } finally {
            settle(fresh, whole);
        }
    }

    private void takeRank(Map<Proc, PackedData> fresh, SealedBuffer message, long start, long length) {
        try (SealedBuffer slice = message.slice(start, length)) {
            Unpacker inside = reading.of(slice);
            Proc proc = new Proc(self.namespace(), inside.unpackInt(DataType.PROC_RANK));
            replace(fresh, proc, PackedData.restOf(slice, inside, reading, UNSEEN));
        }
    }

    /// Takes in the answer to GET behind its status, whole or not at all.
    ///
    /// @throws RuntimeException if it cannot be read
    public void takeGet(Answer answer) {
        Map<Proc, PackedData> fresh = new LinkedHashMap<>();
        boolean whole = false;
        try {
            Unpacker items = answer.items();
            while (items.remaining() > 0) {
                long length = items.unpackByteObject().byteSize();
                try (SealedBuffer slice = answer.body().slice(items.position() - length, length)) {
                    Unpacker inside = reading.of(slice);
                    Proc proc = inside.unpack(Proc.class);
                    replace(fresh, proc, PackedData.restOf(slice, inside, reading, UNSEEN));
                }
            }
            whole = true;
        } finally {
            settle(fresh, whole);
        }
    }

    private static void replace(Map<Proc, PackedData> fresh, Proc proc, PackedData data) {
        PackedData former = fresh.put(proc, data);
        if (former != null) {
            former.close();
        }
    }

    private void settle(Map<Proc, PackedData> fresh, boolean whole) {
        if (!whole || closed) {
            fresh.values().forEach(PackedData::close);
            return;
        }
        fresh.forEach((proc, data) -> {
            Deque<PackedData> all = known.computeIfAbsent(proc, none -> new LinkedList<>());
            all.addFirst(data);
            if (all.size() > 1) {
                forgetCovered(all, data);
            }
        });
    }

    /// A server says all keys of a process in each answer, so what it said before is seldom of use.
    private static void forgetCovered(Deque<PackedData> all, PackedData newer) {
        Set<String> keys = newer.keys();
        all.removeIf(older -> {
            boolean covered = older != newer && keys.containsAll(older.keys());
            if (covered) {
                older.close();
            }
            return covered;
        });
    }

    /// The newest value of a key of a process, or of the job.
    ///
    /// @return `null` if it is not known
    public @Nullable PmixValue find(Proc proc, String key) {
        for (PackedData data : known.getOrDefault(proc, new LinkedList<>())) {
            PmixValue value = data.find(key);
            if (value != null) {
                return value;
            }
        }
        return proc.equals(job) ? ofThisNode(key) : null;
    }

    /// What the server says of each host stands in an array of its own.
    private @Nullable PmixValue ofThisNode(String key) {
        if (key.equals(HOST)) {
            return null;
        }
        PmixValue host = find(self, HOST);
        @Nullable PmixValue[] found = new @Nullable PmixValue[1];
        for (PackedData data : known.getOrDefault(job, new LinkedList<>())) {
            data.forEach(pair -> {
                if (OF_ONE_NODE.equals(pair.key()) && pair.value().data() instanceof DataArray node) {
                    PmixValue value = in(node, key);
                    if (value != null && (host == null || host.equals(in(node, HOST)))) {
                        found[0] = value;
                    }
                }
            });
        }
        return found[0];
    }

    private @Nullable PmixValue in(DataArray node, String key) {
        for (Object one : node.values()) {
            if (one instanceof Info info && info.key().equals(key)) {
                return new PmixValue(Detached.value(info.value(), reading.limits()));
            }
        }
        return null;
    }

    /// All that is said of a process, or of the job, but what is said of single ranks.
    public Map<String, PmixValue> all(Proc proc) {
        Map<String, PmixValue> all = new LinkedHashMap<>();
        List<PackedData> oldestFirst = new ArrayList<>(known.getOrDefault(proc, new LinkedList<>())).reversed();
        for (PackedData data : oldestFirst) {
            data.forEach(pair -> {
                if (!OF_ONE_RANK.equals(pair.key())) {
                    all.put(pair.key(), new PmixValue(Detached.value(pair.value(), reading.limits())));
                }
            });
        }
        return all;
    }

    /// Forgets what was said of a process.
    void forget(Proc proc) {
        Deque<PackedData> former = known.remove(proc);
        if (former != null) {
            former.forEach(PackedData::close);
        }
    }

    @Override
    public void close() {
        closed = true;
        List.copyOf(known.keySet()).forEach(this::forget);
    }
}
