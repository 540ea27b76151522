// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.runtime.checkpoint.CheckpointTicket.State;
import io.bulla.runtime.checkpoint.Notice.Word;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Takes a checkpoint of all nodes: says each step to all, again to those who have not answered, and the next one
/// when all have. Its manifest, which is last, makes the checkpoint.
///
/// ```
/// PREPARE --all PREPARED--> CUT --all TAKEN--> GO_ON --all DURABLE--> manifest --> COMMIT
/// ```
///
/// All on the thread that decides.
final class Coordinator {

    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    // epochs before a checkpoint, in which something may be left
    private static final long LOOKS_BACK = 1000;

    private static final String NOT_KNOWN = "; whether the checkpoint exists, CheckpointArchive.manifest knows";

    private static final class Attempt {

        private final CheckpointTicket ticket;
        private final long number;
        private final long asked;
        private final long deadline;
        private final @Nullable RankEntry[] entries;
        private final boolean[] answered;
        private long epoch;
        private Word step = Word.PREPARE;
        private boolean publishing;

        Attempt(CheckpointTicket ticket, long number, long asked, long deadline, int nodes) {
            this.ticket = ticket;
            this.number = number;
            this.asked = asked;
            this.deadline = deadline;
            this.entries = new RankEntry[nodes];
            this.answered = new boolean[nodes];
        }
    }

    private final int nodes;
    private final CheckpointStore store;
    private final CheckpointArchive archive;
    private final int keeps;
    private final Agent agent;
    private final Notice.Voice voice;
    // up to here no attempt has left anything; plain: one that is stale looks once more
    private long clean;
    private @Nullable Attempt attempt;
    // what came of the last one
    private @Nullable Notice outcome;
    private @Nullable Future<?> timer;

    Coordinator(int nodes, CheckpointStore store, int keeps, Agent agent, Notice.Voice voice) {
        this.nodes = nodes;
        this.store = store;
        this.archive = CheckpointArchive.of(store);
        this.keeps = keeps;
        this.agent = agent;
        this.voice = voice;
    }

    void take(CheckpointTicket ticket, long deadlineNanos) {
        if (attempt != null) {
            ticket.aborted("another checkpoint is being taken: epoch=" + attempt.epoch, null);
            return;
        }
        long now = agent.now();
        Attempt of = new Attempt(ticket, agent.number(), now, now + deadlineNanos, nodes);
        try {
            ticket.at(State.REQUESTED, 0, all());
            begun(of);
            agent.store(store::nextEpoch, (epoch, failure) -> {
                if (attempt == of) {
                    begin(of, epoch, failure);
                }
            });
        } catch (Throwable noMemory) {
            attempt = null;
            ticket.aborted("it cannot begin", noMemory);
        }
    }

    /// An attempt always has a timer: if there is no heap for one, what was before goes on.
    private void begun(Attempt of) {
        Future<?> limit = agent.later(
                () -> late(of, (of.deadline - of.asked) / 1_000_000), Math.max(0, of.deadline - agent.now()));
        if (timer != null) {
            timer.cancel(false);
        }
        timer = limit;
        attempt = of;
    }

    /// A store that does not answer while the manifest is written keeps no ticket. The attempt is over when it has
    /// answered; until then there is no other.
    private void late(Attempt of, long millis) {
        if (attempt == of && of.publishing) {
            of.ticket.aborted("the store has not answered: millis=" + millis + NOT_KNOWN, null);
        } else {
            abort(of, "deadline has passed: millis=" + millis, null);
        }
    }

    private List<Integer> all() {
        return IntStream.range(0, nodes).boxed().toList();
    }

    private void begin(Attempt of, @Nullable Long epoch, @Nullable Throwable failure) {
        if (epoch == null) {
            abort(of, String.valueOf(failure == null ? "no epoch" : failure.getMessage()), failure);
            return;
        }
        of.epoch = epoch;
        step(of, Word.PREPARE, State.PREPARING);
        again(of);
    }

    private void step(Attempt of, Word word, State state) {
        of.step = word;
        Arrays.fill(of.answered, false);
        of.ticket.at(state, of.epoch, all());
        sayToMissing(of);
    }

    private void again(Attempt of) {
        agent.later(
                () -> {
                    if (attempt == of) {
                        sayToMissing(of);
                        again(of);
                    }
                },
                AGAIN_NANOS);
    }

    private void sayToMissing(Attempt of) {
        long left = Math.max(0, TimeUnit.NANOSECONDS.toMillis(of.deadline - agent.now()));
        Notice notice = new Notice(of.step, of.number, of.epoch, left, 0, "");
        for (int rank = 0; rank < nodes; rank++) {
            if (!of.answered[rank]) {
                say(rank, notice);
            }
        }
    }

    void heard(int rank, Notice notice) {
        Attempt of = attempt;
        if (of == null || of.number != notice.attempt()) {
            if (notice.word() != Word.FAILED) {
                say(rank, outcomeOf(notice));
            }
            return;
        }
        Word expected = switch (of.step) {
            case PREPARE -> Word.PREPARED;
            case CUT -> Word.TAKEN;
            default -> Word.DURABLE;
        };
        if (notice.word() == Word.FAILED) {
            abort(of, "rank " + rank + ": " + notice.text(), null);
        } else if (notice.word() == expected && !of.answered[rank]) {
            answered(of, rank, notice);
        }
    }

    private Notice outcomeOf(Notice notice) {
        return outcome != null && outcome.attempt() == notice.attempt()
                ? outcome
                : Notice.of(Word.ABORT, notice.attempt(), notice.epoch(), "attempt is not known");
    }

    private void answered(Attempt of, int rank, Notice notice) {
        if (notice.word() == Word.DURABLE) {
            try {
                of.entries[rank] = RankEntry.of(rank, notice.figure(), notice.messages(), notice.text());
            } catch (IllegalArgumentException wrong) {
                abort(of, "rank " + rank + ": " + wrong.getMessage(), wrong);
                return;
            }
        }
        of.answered[rank] = true;
        of.ticket.answered(rank);
        for (boolean each : of.answered) {
            if (!each) {
                return;
            }
        }
        switch (of.step) {
            case PREPARE -> agent.store(store::nextEpoch, (epoch, failure) -> prepared(of, epoch, failure));
            case CUT -> step(of, Word.GO_ON, State.WRITING);
            default -> publish(of);
        }
    }

    /// All nodes are in this attempt, so no other one takes the epoch from here on. One may have since it was asked
    /// for: its files are not touched, and this checkpoint is the next.
    private void prepared(Attempt of, @Nullable Long epoch, @Nullable Throwable failure) {
        if (attempt != of) {
            return;
        }
        if (epoch != null && epoch == of.epoch) {
            step(of, Word.CUT, State.CUTTING);
        } else {
            Attempt next = new Attempt(of.ticket, agent.number(), of.asked, of.deadline, nodes);
            begun(next);
            begin(next, epoch, failure);
        }
    }

    private void publish(Attempt of) {
        of.publishing = true;
        agent.store(
                () -> archive.publish(manifest(of, agent.time())),
                (summary, failure) -> published(of, summary, failure));
    }

    @SuppressWarnings("NullAway") // all have answered
    private static CheckpointManifest manifest(Attempt of, Instant taken) {
        return new CheckpointManifest(of.epoch, of.number, taken, Arrays.asList(of.entries));
    }

    private void published(Attempt of, @Nullable CheckpointSummary summary, @Nullable Throwable failure) {
        of.publishing = false;
        if (summary == null) {
            abort(of, String.valueOf(failure == null ? "no manifest" : failure.getMessage()), failure);
            return;
        }
        attempt = null;
        try {
            over(Notice.of(Word.COMMIT, of.number, of.epoch, ""));
            agent.store(
                    () -> {
                        deleteOlder(of.epoch);
                        return true;
                    },
                    (deleted, left) -> {
                        if (left != null) {
                            agent.log("older checkpoints are left: epoch=" + of.epoch, left);
                        }
                    });
        } finally {
            of.ticket.published(summary);
        }
    }

    /// Those that are too many, and what is left of attempts before this one. No attempt at an older epoch runs: each
    /// node takes part in one, and all took part in this one.
    private void deleteOlder(long newest) throws Exception {
        List<Long> epochs = store.epochs();
        Exception first = null;
        for (Long epoch : epochs.stream().skip(keeps).toList()) {
            first = delete(epoch, false, first);
        }
        long oldestKept = epochs.size() < keeps ? 0 : epochs.get(keeps - 1);
        // once: a look may be a call to another host
        for (long epoch = newest - 1; epoch > Math.max(clean, newest - LOOKS_BACK - 1); epoch--) {
            if (!epochs.contains(epoch)) {
                first = delete(epoch, epoch > oldestKept, first);
            }
        }
        if (first != null) {
            throw first;
        }
        clean = newest;
    }

    /// One that cannot be deleted keeps no other.
    ///
    /// @param mayBeKept whether it is kept if another job in the same folder has published it meanwhile
    /// @return the first failure, if there is one
    private @Nullable Exception delete(long epoch, boolean mayBeKept, @Nullable Exception first) {
        try {
            if (!mayBeKept || !store.epochs().contains(epoch)) {
                store.delete(epoch);
            }
            return first;
        } catch (Exception failure) {
            if (first == null || first == failure) {
                return failure;
            }
            first.addSuppressed(failure);
            return first;
        }
    }

    /// Whatever runs: the outcome of a manifest that is being written is heard no more.
    void close(String why) {
        Attempt of = attempt;
        if (of != null && of.publishing) {
            of.ticket.aborted(why + NOT_KNOWN, null);
        } else if (of != null) {
            abort(of, why, null);
        }
    }

    /// A node that was given up before the attempt: no verdict falls meanwhile that would end it.
    void notReached(int rank, String why) {
        Attempt of = attempt;
        if (of != null && !of.answered[rank]) {
            abort(of, why, null);
        }
    }

    void abort(CheckpointTicket ticket, String why) {
        if (attempt != null && attempt.ticket == ticket) {
            abort(attempt, why, null);
        }
    }

    private void abort(Attempt of, String why, @Nullable Throwable cause) {
        if (attempt == of && !of.publishing) {
            attempt = null;
            try {
                over(Notice.of(Word.ABORT, of.number, of.epoch, why));
            } finally {
                of.ticket.aborted(why, cause);
            }
        }
    }

    private void over(Notice what) {
        outcome = what;
        if (timer != null) {
            timer.cancel(false);
        }
        for (int rank = 0; rank < nodes; rank++) {
            say(rank, what);
        }
    }

    /// A rank that is not told asks again, or is told again; the others, and the ticket, hear all the same.
    private void say(int rank, Notice what) {
        try {
            voice.say(rank, what);
        } catch (Throwable notSaid) {
            agent.log("not said: rank=" + rank + " word=" + what.word() + " epoch=" + what.epoch(), notSaid);
        }
    }
}
