// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.job;

import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixScope;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixValue;
import io.bulla.runtime.pmix.internal.core.Waits;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.message.Outgoing;
import io.bulla.runtime.pmix.internal.session.Call;
import io.bulla.runtime.pmix.internal.wire.Command;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Values that this process has put, and values that it knows of the job and the others.
public final class Exchange implements AutoCloseable {

    private static final String JOB_SIZE = "pmix.job.size";
    private static final String LOCAL_PEERS = "pmix.lpeers";
    private static final String HOST = "pmix.hname";

    private final Server server;
    private final Proc self;
    private final Proc job;

    private final ReentrantLock lock = new ReentrantLock();
    // under the lock
    private final JobData data;
    private final Map<String, Outgoing.Put> puts = new LinkedHashMap<>();
    private final Set<String> uncommitted = new LinkedHashSet<>();

    // from the look at the values until their frame is queued; taken before the other one. Frames leave in the order
    // of the looks, so the last one has the newest values
    private final ReentrantLock committing = new ReentrantLock();

    public Exchange(Server server) {
        this.server = server;
        this.self = server.settings().self();
        this.job = server.settings().job();
        this.data = new JobData(self, server.reading());
    }

    /// Asks what the server knows of the job.
    public void init() throws PmixException, InterruptedException {
        try (Answer answer = server.ask(Command.INIT, () -> server.outgoing().plain(Command.INIT))) {
            PmixStatus refusal = answer.refusal();
            if (refusal != null) {
                server.check(answer, refusal);
            }
            take(answer, () -> data.takeInit(answer));
        }
    }

    /// Processes of the job, as the server says.
    public int jobSize() throws PmixException {
        PmixValue processes = known(job, JOB_SIZE);
        long count = processes == null || !(processes.value().data() instanceof Integer) ? -1 : processes.asLong();
        if (count < 1 || self.rank() >= count) {
            throw server.settings()
                    .failures()
                    .of(
                            PmixStatus.NOT_FOUND,
                            "the PMIx server does not say how large the job is: " + JOB_SIZE + "=" + processes
                                    + " process=" + self);
        }
        // a job is walked through, so no number that a server makes up may cost the memory for it
        long most = server.settings().options().limits().maxCount();
        if (count > most) {
            throw server.settings()
                    .failures()
                    .of(PmixStatus.OUT_OF_RESOURCE, "job over the limit: " + JOB_SIZE + "=" + count + " limit=" + most);
        }
        return (int) count;
    }

    /// The host of a process, if the server said it.
    public Optional<String> hostOf(Proc proc) {
        PmixValue host = known(proc, HOST);
        return host == null || !(host.value().data() instanceof String name) ? Optional.empty() : Optional.of(name);
    }

    /// The ranks on this process's host, in order; this one alone if the server did not say.
    public List<Integer> localRanks(int size) {
        PmixValue peers = known(job, LOCAL_PEERS);
        // each once, however often the server says it: they are counted
        Set<Integer> ranks = new TreeSet<>();
        if (peers != null && peers.value().data() instanceof String list) {
            for (String rank : list.split(",")) {
                try {
                    ranks.add(Objects.checkIndex(Integer.parseInt(rank.trim()), size));
                } catch (NumberFormatException | IndexOutOfBoundsException notARank) {
                    return List.of(self.rank());
                }
            }
        }
        return ranks.contains(self.rank()) ? List.copyOf(ranks) : List.of(self.rank());
    }

    public void put(PmixScope scope, Kval pair) {
        server.outgoing().check(pair);
        locked(() -> {
            uncommitted.add(pair.key());
            puts.put(pair.key(), new Outgoing.Put(scope, pair));
        });
    }

    public void commit() throws PmixException, InterruptedException {
        Map<String, Outgoing.Put> handed = new LinkedHashMap<>();
        Call call;
        committing.lock();
        try {
            locked(() -> uncommitted.forEach(key -> handed.put(key, puts.get(key))));
            if (handed.isEmpty()) {
                return;
            }
            call = server.begin(Command.COMMIT, () -> server.outgoing().commit(handed.values()));
        } finally {
            committing.unlock();
        }
        server.awaitDone(call);
        // not what was put meanwhile
        locked(() -> handed.forEach((key, put) -> {
            if (puts.get(key) == put) {
                uncommitted.remove(key);
            }
        }));
    }

    public Optional<PmixValue> get(Proc proc, String key, Duration wait) throws PmixException, InterruptedException {
        PmixValue here = known(proc, key);
        if (here != null) {
            return Optional.of(here);
        }
        int seconds = Waits.seconds(wait);
        Call call = server.begin(Command.GET, () -> server.outgoing().get(proc, key, seconds));
        return got(call, proc, key, server.plus(wait));
    }

    public Map<Proc, PmixValue> getAll(Collection<Proc> procs, String key, Duration wait)
            throws PmixException, InterruptedException {
        int seconds = Waits.seconds(wait);
        Map<Proc, PmixValue> values = new LinkedHashMap<>();
        List<Proc> rest = List.copyOf(new LinkedHashSet<>(procs));
        long deadline = System.nanoTime() + Waits.nanos(server.plus(wait));
        // so that others can ask too
        int most = Math.max(1, server.settings().options().pending() / 2);
        for (int from = 0; from < rest.size(); from += most) {
            getSome(rest.subList(from, Math.min(rest.size(), from + most)), key, seconds, deadline, values);
        }
        return values;
    }

    private void getSome(List<Proc> procs, String key, int seconds, long deadline, Map<Proc, PmixValue> values)
            throws PmixException, InterruptedException {
        List<Call> asked = new ArrayList<>();
        try {
            for (Proc proc : procs) {
                asked.add(
                        known(proc, key) != null
                                ? null
                                : server.begin(
                                        Command.GET, () -> server.outgoing().get(proc, key, seconds)));
            }
            for (Proc proc : procs) {
                Call call = asked.removeFirst();
                Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
                Optional<PmixValue> value =
                        call == null ? Optional.ofNullable(known(proc, key)) : got(call, proc, key, left);
                value.ifPresent(found -> values.put(proc, found));
            }
        } finally {
            asked.stream().filter(call -> call != null).forEach(server.session()::giveUp);
        }
    }

    private Optional<PmixValue> got(Call call, Proc proc, String key, Duration deadline)
            throws PmixException, InterruptedException {
        try (Answer answer = server.answer(call, deadline)) {
            PmixStatus status = answer.status();
            if (status.equals(PmixStatus.NOT_FOUND) || status.equals(PmixStatus.TIMEOUT)) {
                return Optional.empty();
            }
            server.check(answer, status);
            take(answer, () -> data.takeGet(answer));
        }
        return Optional.ofNullable(known(proc, key));
    }

    /// The state of a key in this process.
    ///
    /// @return `null` if the server would have to be asked
    @Nullable
    PmixValue known(Proc proc, String key) {
        lock.lock();
        try {
            Outgoing.Put own = proc.equals(self) ? puts.get(key) : null;
            return own != null ? new PmixValue(own.pair().value()) : data.find(proc, key);
        } finally {
            lock.unlock();
        }
    }

    public Map<String, PmixValue> all(Proc proc) {
        lock.lock();
        try {
            return data.all(proc);
        } finally {
            lock.unlock();
        }
    }

    public void forget(Proc proc) {
        locked(() -> data.forget(proc));
    }

    @Override
    public void close() {
        locked(data::close);
    }

    private void take(Answer answer, Runnable step) throws PmixException {
        answer.read(() -> {
            locked(step);
            return null;
        });
    }

    private void locked(Runnable step) {
        lock.lock();
        try {
            step.run();
        } finally {
            lock.unlock();
        }
    }
}
