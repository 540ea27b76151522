// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.checkpoint.Notice.Word;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A node's part in a checkpoint, in one attempt at a time.
///
/// ```
///      PREPARE             CUT             GO_ON
/// none -------> preparing -----> cutting ---------> going on, and written ---> durable --COMMIT--> none
///    ^              |               |                        |                    |
///    +--------------+---------------+------------------------+--------------------+
///           ABORT, a failure, the deadline: what was held goes on
/// ```
///
/// Whatever comes again is answered again. Of two coordinators that ask at once, the one of the lower rank goes on,
/// but that one waits for whom all nodes are prepared. All on the thread that decides.
final class Participant {

    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final class Part {

        private final int coordinator;
        private final long attempt;
        private final long epoch;
        private final LiveCut live;
        private @Nullable Saving saving;
        private @Nullable Notice answer;
        private @Nullable RankEntry entry;
        private @Nullable Future<?> timer;
        private boolean cuts;
        private boolean goesOn;

        Part(int coordinator, Notice prepare, LiveCut live) {
            this.coordinator = coordinator;
            this.attempt = prepare.attempt();
            this.epoch = prepare.epoch();
            this.live = live;
        }
    }

    private final OobNode node;
    private final CheckpointArchive archive;
    private final Map<String, StateSaver> savers;
    private final Agent agent;
    private final Notice.Voice voice;
    private @Nullable Part part;
    // the last one that has failed here
    private @Nullable Notice failed;

    Participant(
            OobNode node, CheckpointArchive archive, Map<String, StateSaver> savers, Agent agent, Notice.Voice voice) {
        this.node = node;
        this.archive = archive;
        this.savers = savers;
        this.agent = agent;
        this.voice = voice;
    }

    void heard(int coordinator, Notice notice) {
        Part known = part;
        if (known != null && known.attempt == notice.attempt() && known.coordinator == coordinator) {
            step(known, notice);
        } else if (notice.word() == Word.PREPARE) {
            prepare(coordinator, notice);
        } else if (notice.word() == Word.CUT || notice.word() == Word.GO_ON) {
            voice.say(coordinator, failure(notice, "attempt is over or not known: rank=" + node.rank()));
        }
    }

    private Notice failure(Notice of, String why) {
        return failed != null && failed.attempt() == of.attempt()
                ? failed
                : Notice.of(Word.FAILED, of.attempt(), of.epoch(), why);
    }

    private void step(Part of, Notice notice) {
        switch (notice.word()) {
            case CUT -> cut(of);
            case GO_ON -> goOn(of);
            case COMMIT, ABORT -> end(of);
            default -> answerAgain(of);
        }
    }

    private void answerAgain(Part of) {
        if (of.answer != null) {
            voice.say(of.coordinator, of.answer);
        }
    }

    private void answer(Part of, Notice notice) {
        of.answer = notice;
        voice.say(of.coordinator, notice);
    }

    private void prepare(int coordinator, Notice notice) {
        Part other = part;
        if (failed != null && failed.attempt() == notice.attempt()) {
            voice.say(coordinator, failed);
            return;
        }
        if (other != null && other.coordinator == coordinator) {
            // which has given it up
            end(other);
        } else if (other != null && (other.cuts || other.coordinator < coordinator)) {
            // this one is said again
            return;
        } else if (other != null) {
            fail(other, "gives way: rank=" + node.rank() + " coordinator=" + coordinator);
        }
        begin(new Part(coordinator, notice, node.liveCut(Duration.ofMillis(Math.max(0, notice.figure())))), notice);
    }

    private void begin(Part of, Notice prepare) {
        part = of;
        of.timer = agent.later(() -> late(of), TimeUnit.MILLISECONDS.toNanos(prepare.figure()));
        of.live.over().whenComplete((over, failure) -> agent.run(() -> over(of, failure)));
        of.live.ready().whenComplete((ready, failure) -> agent.run(() -> prepared(of, failure)));
    }

    private void late(Part of) {
        if (part == of) {
            fail(of, "deadline has passed: rank=" + node.rank());
        }
    }

    private void prepared(Part of, @Nullable Throwable failure) {
        if (part != of) {
            return;
        }
        if (failure != null) {
            fail(of, reason(failure));
            return;
        }
        // behind what a former attempt writes here: it may begin the folder of this one's epoch, and the coordinator
        // asks for the epoch once more when all are prepared
        agent.store(() -> true, (written, unwritten) -> atRest(of));
    }

    private void atRest(Part of) {
        if (part == of) {
            answer(of, Notice.of(Word.PREPARED, of.attempt, of.epoch, ""));
        }
    }

    private void cut(Part of) {
        if (of.cuts) {
            answerAgain(of);
            return;
        }
        of.cuts = true;
        // what a coordinator hears until the cut is taken
        of.answer = null;
        Saving saving = new Saving(savers);
        of.saving = saving;
        saving.take(of.live, (cut, failure) -> {
            boolean heard = false;
            try {
                heard = agent.run(() -> taken(of, saving, cut, failure));
            } finally {
                if (!heard) {
                    close(saving, cut);
                }
            }
        });
    }

    private static void close(Saving saving, @Nullable NodeCut cut) {
        Throwable failure = Failures.close(saving, null);
        Failures.rethrow(cut == null ? failure : Failures.close(cut, failure));
    }

    private void taken(Part of, Saving saving, @Nullable NodeCut cut, @Nullable Throwable failure) {
        if (cut == null || part != of) {
            close(saving, cut);
            if (part == of) {
                fail(of, failure == null ? "no cut" : reason(failure));
            }
            return;
        }
        boolean handedOn = false;
        try {
            RankImage image = new RankImage(cut, saving.states());
            answer(of, Notice.of(Word.TAKEN, of.attempt, of.epoch, ""));
            agent.store(() -> write(of, image), (entry, thrown) -> written(of, entry, thrown));
            saving.handOver();
            handedOn = true;
        } finally {
            if (!handedOn) {
                close(saving, cut);
            }
        }
    }

    private RankEntry write(Part of, RankImage image) throws Exception {
        try (image) {
            return archive.write(of.epoch, of.attempt, image);
        }
    }

    private void written(Part of, @Nullable RankEntry entry, @Nullable Throwable failure) {
        if (part != of) {
            return;
        }
        if (entry == null) {
            fail(of, failure == null ? "no file" : reason(failure));
            return;
        }
        of.entry = entry;
        durable(of);
    }

    private void goOn(Part of) {
        if (of.goesOn) {
            answerAgain(of);
        } else {
            of.live.end();
        }
    }

    /// The node goes on: all have cut, if that was said before and nothing was wrong.
    private void over(Part of, @Nullable Throwable failure) {
        if (part != of) {
            return;
        }
        if (failure != null) {
            fail(of, reason(failure));
            return;
        }
        of.goesOn = true;
        of.answer = null;
        durable(of);
    }

    /// A file is no part of a checkpoint before its node knows that all have cut.
    private void durable(Part of) {
        RankEntry entry = of.entry;
        if (entry == null || !of.goesOn) {
            return;
        }
        answer(of, new Notice(Word.DURABLE, of.attempt, of.epoch, entry.bytes(), entry.messages(), entry.digests()));
        again(of);
    }

    /// Until it hears what came of it.
    private void again(Part of) {
        agent.later(
                () -> {
                    if (part == of) {
                        answerAgain(of);
                        again(of);
                    }
                },
                AGAIN_NANOS);
    }

    /// What a stage before has failed with, without the wrapping of a stage behind it.
    private static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        return String.valueOf((failure instanceof CompletionException && cause != null ? cause : failure).getMessage());
    }

    private void fail(Part of, String why) {
        end(of);
        failed = Notice.of(Word.FAILED, of.attempt, of.epoch, why);
        voice.say(of.coordinator, failed);
    }

    private void end(Part of) {
        part = null;
        try {
            of.live.end();
        } finally {
            if (of.timer != null) {
                of.timer.cancel(false);
            }
            if (of.saving != null) {
                of.saving.close();
            }
        }
    }

    /// This node takes part in none any more.
    void close() {
        if (part != null) {
            fail(part, "checkpoints are closed: rank=" + node.rank());
        }
    }
}
