// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.checks.sim.machines.Machines;
import io.bulla.checks.sim.machines.SimHost;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.CheckpointSummary;
import io.bulla.runtime.checkpoint.CheckpointTicket;
import io.bulla.runtime.checkpoint.CheckpointTicket.State;
import io.bulla.runtime.checkpoint.ForgetfulDisk;
import io.bulla.runtime.checkpoint.RestoreLimits;
import io.bulla.runtime.checkpoint.SimulatedCheckpoints;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// One seed: a job whose tokens go round while checkpoints are taken, until some or all of its processes, or the
/// machine with the disk, crash; then another job that goes on from the newest checkpoint; at last one that comes to
/// rest. Every token, message and broadcast is there once, in every checkpoint and at the end.
final class SimRun {

    /// @param violation the first rule that was broken, or `null`
    /// @param sights what was reached, how often
    record Result(String violation, long digest, long steps, long nanos, Map<String, Long> sights) {}

    private record Asked(SimHost host, CheckpointTicket ticket) {

        /// Whether it is answered, or its process is gone.
        boolean isOver() {
            return host.isKilled() || SimRun.isOver(ticket);
        }
    }

    private static final long MILLI = 1_000_000;
    private static final long MOST_STEPS = 400_000;
    // of the last job, for each thing that has to come to its end
    // an attempt that another one gave way to has ended by then
    private static final long OTHERS_END = 3_000 * MILLI;
    private static final long PATIENCE = 60_000 * MILLI;

    final SimPlan plan;
    final Machines machines;
    private final SplittableRandom random;
    private final Consumer<String> story;
    private final Map<String, Long> sights = new TreeMap<>();
    private final List<SimRank> ranks = new ArrayList<>();
    private final List<Asked> asked = new ArrayList<>();
    private ForgetfulDisk disk = new ForgetfulDisk();
    private int life;
    // newest that a ticket has told of
    private long published;
    private final Set<Long> told = new HashSet<>();
    private long stepsOfLife;
    private long crashStep;
    private boolean crashesAll;
    private long fullStep;
    private boolean quiet;
    private String violation;

    private SimRun(SimPlan plan, Consumer<String> story) {
        this.plan = plan;
        this.story = story;
        this.machines = new Machines(
                plan.seed(),
                plan.nodes(),
                plan.delayNanos(),
                plan.delayNanos(),
                plan.socketBytes(),
                plan.pieceBytes(),
                this::logged);
        this.random = machines.random('c', 0);
    }

    /// @param story is told what happens, or `null`
    static Result of(SimPlan plan, Consumer<String> story) {
        SimRun run = new SimRun(plan, story);
        try (run.machines) {
            run.run();
        } catch (IOException | RuntimeException broken) {
            StackTraceElement[] where = broken.getStackTrace();
            run.violation("broken", broken + (where.length == 0 ? "" : " where=" + where[0]));
        }
        run.machines.sights().forEach((what, times) -> run.sights.merge("frame " + what, times, Long::sum));
        return new Result(run.violation, run.machines.digest(), run.machines.steps(), run.machines.now(), run.sights);
    }

    boolean isQuiet() {
        return quiet;
    }

    void violation(String rule, String what) {
        tell("VIOLATION " + rule + ": " + what);
        if (violation == null) {
            violation = rule + ": " + what + " life=" + life + " at=" + machines.now() / 1000 + "us";
        }
    }

    private void see(String what) {
        tell(what);
        sights.merge(what, 1L, Long::sum);
    }

    private void tell(String what) {
        if (story != null) {
            story.accept(machines.now() / 1000 + " " + what);
        }
    }

    private void logged(boolean error, String line) {
        tell("log " + line);
        if (error) {
            violation("error in the log", line);
        }
    }

    /// Of a message: it fails only if a process has died.
    void outcome(SimHost from, Throwable failure) {
        if (failure != null && !quiet && ranks.stream().noneMatch(rank -> rank.host.isKilled())) {
            violation("a send fails", "rank=" + from.rank() + " " + failure);
        }
    }

    private boolean until(BooleanSupplier reached, long nanos) {
        boolean is =
                machines.run(() -> violation != null || tooLong() || reached.getAsBoolean(), machines.now() + nanos);
        return is && violation == null;
    }

    private boolean tooLong() {
        if (machines.steps() > MOST_STEPS * plan.jobs()) {
            violation("too many steps", "steps=" + machines.steps());
        }
        return violation != null;
    }

    private void run() throws IOException {
        for (life = 1; life < plan.jobs() && violation == null; life++) {
            begin();
            live();
            crash();
        }
        if (violation == null) {
            begin();
            live();
            rest();
        }
    }

    /// Processes that go on from the newest checkpoint, or from nothing.
    private void begin() throws IOException {
        ranks.clear();
        asked.clear();
        stepsOfLife = 0;
        crashStep = Long.MAX_VALUE;
        fullStep = Long.MAX_VALUE;
        CheckpointArchive archive = CheckpointArchive.of(SimulatedCheckpoints.store(disk));
        CheckpointManifest latest = archive.latest().orElse(null);
        if ((latest == null ? 0 : latest.epoch()) < published) {
            violation("a published checkpoint is not there", "published=" + published + " latest=" + latest);
            return;
        }
        see(latest == null ? "begins from nothing" : "restored");
        if (latest != null) {
            audit(archive, latest);
        }
        for (int rank = 0; rank < plan.nodes(); rank++) {
            SimRank process = new SimRank(this, rank, life);
            ranks.add(process);
            if (latest == null) {
                process.start(null);
            } else {
                // every other one where the file is
                process.start(
                        rank % 2 == 0
                                ? archive.read(latest, rank, process.host.memory(), RestoreLimits.DEFAULT)
                                : archive.map(latest, rank, RestoreLimits.DEFAULT));
            }
        }
        if (!until(() -> ranks.stream().allMatch(rank -> rank.node != null), PATIENCE)) {
            violation("does not start", "");
            return;
        }
        for (SimRank rank : ranks) {
            open(rank);
        }
    }

    private void audit(CheckpointArchive archive, CheckpointManifest manifest) throws IOException {
        try (CutAudit audit = CutAudit.read(archive, manifest, machines.memory(), plan)) {
            String wrong = audit.wrong();
            if (wrong != null) {
                violation("checkpoint", wrong);
            }
            sights.merge("undelivered in checkpoints", (long) audit.undelivered(), Long::sum);
        }
    }

    private void open(SimRank rank) {
        SimHost host = rank.host;
        SlowDisk.Fate fate = () -> {
            step(host, true);
            if (!host.isKilled() && stepsOfLife >= fullStep) {
                fullStep = Long.MAX_VALUE;
                see("disk full");
                throw new IOException("No space left on device");
            }
        };
        SimAgent agent = new SimAgent(
                host,
                () -> step(host, false),
                (what, failure) -> violation(what, "rank=" + host.rank() + " " + failure));
        rank.open(SimulatedCheckpoints.store(new SlowDisk(host, disk, fate)), agent);
    }

    /// Each decision and each call of the disk is one.
    private void step(SimHost host, boolean ofDisk) {
        if (stepsOfLife++ == crashStep) {
            see((crashesAll ? "all crash" : "one crashes") + (ofDisk ? " at a call of the disk" : " at a decision"));
            if (crashesAll) {
                ranks.forEach(rank -> rank.host.kill());
            } else {
                host.kill();
            }
        }
    }

    private void live() {
        if (violation != null) {
            return;
        }
        boolean last = life == plan.jobs();
        long length = (20 + random.nextLong(200)) * MILLI;
        if (!last && random.nextInt(4) > 0) {
            crashStep = random.nextLong(random.nextBoolean() ? 40L * plan.nodes() : 120L * plan.nodes());
            crashesAll = random.nextInt(3) == 0;
        }
        if (plan.full() && random.nextBoolean()) {
            fullStep = random.nextLong(100);
        }
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            machines.after(random.nextLong(length * 3 / 4), this::ask);
        }
        for (int i = random.nextInt(6); i > 0; i--) {
            machines.after(random.nextLong(length), this::fault);
        }
        until(() -> ranks.stream().allMatch(rank -> rank.host.isKilled()), length);
    }

    private void ask() {
        SimRank rank = ranks.get(random.nextInt(plan.nodes()));
        if (rank.checkpoints == null || rank.host.isKilled()) {
            return;
        }
        int now = life;
        Duration deadline = Duration.ofMillis(random.nextInt(4) == 0 ? 1 + random.nextInt(30) : 2000);
        long abortAfter = random.nextInt(8) == 0 ? random.nextLong(20 * MILLI) : -1;
        rank.host.after(0, () -> {
            CheckpointTicket ticket = rank.checkpoints.take(deadline);
            asked.add(new Asked(rank.host, ticket));
            ticket.done().whenComplete((summary, failure) -> answered(now, summary, failure));
            if (abortAfter >= 0) {
                rank.host.after(abortAfter, () -> ticket.abort("on purpose"));
            }
        });
    }

    private void answered(int of, CheckpointSummary summary, Throwable failure) {
        if (summary == null) {
            see("aborted " + reason(failure.getMessage()));
            return;
        }
        see("published");
        if (of != life || !told.add(summary.epoch())) {
            violation("published out of place", "epoch=" + summary.epoch() + " before=" + published);
        }
        if (summary.epoch() < published) {
            // who asked stood still between the manifest and its answer, and another one took the next meanwhile
            see("published, and told late");
            return;
        }
        published = summary.epoch();
        try {
            CheckpointArchive archive = CheckpointArchive.of(SimulatedCheckpoints.store(disk));
            audit(archive, archive.manifest(published));
        } catch (IOException damaged) {
            violation("a published checkpoint is not whole", damaged.getMessage());
        }
    }

    private static String reason(String message) {
        String state = message.replaceAll(".* state=([A-Z]+) .*", "$1");
        return state + ": "
                + message.replaceAll(".* reason=(rank [0-9]+: )?", "")
                        .replaceAll("[:=].*", "")
                        .replaceAll("[0-9]+", "N");
    }

    private void fault() {
        int from = random.nextInt(plan.nodes());
        int to = (from + 1 + random.nextInt(plan.nodes() - 1)) % plan.nodes();
        long nanos = 1 + random.nextLong(plan.peerTimeoutMillis() / 10 * MILLI);
        long bytes = random.nextLong(4000);
        if (plan.cuts() && random.nextBoolean()) {
            see("connection cut");
            machines.cut(from, to, bytes, random.nextBoolean());
        } else if (plan.stalls() && random.nextBoolean()) {
            see("node stands still");
            ranks.get(from).host.pause(nanos / 2);
        } else if (plan.stalls()) {
            see("way blocked");
            machines.block(from, to, nanos / 2);
        }
    }

    /// All processes end, and perhaps the machine of the disk; at times when those that live have answers.
    private void crash() {
        if (random.nextInt(4) == 0) {
            quiet = true;
            require("tickets are answered", () -> asked.stream().allMatch(Asked::isOver));
            quiet = false;
        }
        ranks.forEach(rank -> rank.host.kill());
        if (violation == null && random.nextBoolean()) {
            see("disk forgets");
            disk = disk.recovered(random.nextInt(4) == 0 ? null : new Random(random.nextLong()));
        }
        until(() -> false, random.nextLong(5 * MILLI));
    }

    /// The last job: nothing goes wrong any more, a checkpoint can be taken, and all comes to rest.
    private void rest() {
        machines.heal();
        fullStep = Long.MAX_VALUE;
        require("tickets are answered", () -> asked.stream().allMatch(Asked::isOver));
        long before = published;
        for (int i = 0; i < 3 && violation == null && published == before; i++) {
            SimRank rank = ranks.get(random.nextInt(plan.nodes()));
            CheckpointTicket[] last = new CheckpointTicket[1];
            rank.host.after(0, () -> {
                last[0] = rank.checkpoints.take(Duration.ofSeconds(10));
                last[0].done().whenComplete((summary, failure) -> answered(life, summary, failure));
            });
            require("the last ticket is answered", () -> last[0] != null && isOver(last[0]));
            until(() -> published > before, OTHERS_END);
        }
        if (violation == null && published == before) {
            violation("no checkpoint at the end", "");
        }
        quiet = true;
        ranks.forEach(rank -> rank.host.after(0, rank::claim));
        require("all come to rest", this::isWhole);
        int[] closed = {0};
        for (SimRank rank : ranks) {
            rank.host.thread(() -> {
                rank.checkpoints.close();
                rank.node.close(Duration.ofSeconds(1));
                closed[0]++;
            });
        }
        require("all are closed", () -> closed[0] == plan.nodes());
        for (SimRank rank : ranks) {
            require("memory is given back", () -> rank.host.bytes() == 0 && rank.host.handles() == 0);
        }
    }

    private static boolean isOver(CheckpointTicket ticket) {
        return ticket.state() == State.PUBLISHED || ticket.state() == State.ABORTED;
    }

    private void require(String what, BooleanSupplier reached) {
        if (violation == null && !until(reached, PATIENCE)) {
            violation("does not happen", what);
        }
    }

    /// Whether each token, and each broadcast everywhere, is there once.
    private boolean isWhole() {
        long tokens = 0;
        for (SimRank rank : ranks) {
            if ((tokens & rank.tokens()) != 0) {
                violation("a token is there twice", Long.toHexString(tokens & rank.tokens()));
            }
            tokens |= rank.tokens();
            for (SimRank from : ranks) {
                if (from != rank && rank.seen(from.host.rank()) != (1L << from.casts()) - 1) {
                    return false;
                }
            }
        }
        return tokens == -1L >>> Long.SIZE - plan.tokens();
    }
}
