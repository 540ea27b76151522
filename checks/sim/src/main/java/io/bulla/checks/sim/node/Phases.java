// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.LogWatch;
import io.bulla.checks.sim.world.World;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/// The phases of a run: faults; then all is mended but for those that are to stay, everything has to end in time, and
/// everybody who lives can talk to everybody; then all is closed, and nothing may be left.
public final class Phases {

    private static final int LATE_OUTSIDERS = 4;
    private static final long MOST_STEPS = 3_000_000;

    private final Simulation simulation;
    private final World world;
    private final Schedule schedule;
    private final Ledger ledger;
    private final RunChecks checks;

    private Phases(Simulation simulation) {
        this.simulation = simulation;
        this.world = simulation.world;
        this.schedule = simulation.schedule;
        this.ledger = simulation.ledger;
        this.checks = new RunChecks(simulation);
        simulation.net.listeners = (from, to) -> new FrameChecks(simulation, from, to);
    }

    /// @param story is told what happens, for a person who wants to know why; or `null`
    public static Simulation.Result run(
            Schedule schedule, Function<Simulation, Intruders> intruders, Consumer<String> story) {
        Simulation simulation = new Simulation(schedule, intruders, story);
        LogWatch.install(new LogChecks(simulation));
        try {
            new Phases(simulation).run();
        } catch (IOException | RuntimeException broken) {
            StackTraceElement[] where = broken.getStackTrace();
            simulation.ledger.violation(
                    "broken", broken + (where.length == 0 ? "" : " where=" + where[0]) + " in the simulator's call");
        } finally {
            LogWatch.forget();
            // Netty keeps a resolver for each event loop that has not ended, and with it the world
            DefaultAddressResolverGroup.INSTANCE.close();
        }
        return simulation.result();
    }

    private void run() throws IOException {
        for (int rank = 0; rank < simulation.size; rank++) {
            if (rank != simulation.intruderRank()) {
                simulation.begin(rank);
            }
        }
        ScheduleLines lines = new ScheduleLines(simulation);
        for (Line line : schedule.lines()) {
            world.at(line.micros() * 1000, () -> lines.execute(line));
        }
        checks.checkHeld();
        stepUntil(() -> false, schedule.nanos("faults"));
        heal();
        settle("everything ends");
        rest();
        simulation.sends.probe();
        stepUntil(() -> false, world.now() + World.MILLI);
        settle("everybody can talk");
        // connections that are refused end, and those that never say hello
        stepUntil(() -> false, world.now() + schedule.nanos("hello") + World.SECOND);
        // one that knocked while the machine was off may have come in meanwhile, and has its deadline before it
        for (int i = 0; i < LATE_OUTSIDERS; i++) {
            stepUntil(checks::noOutsider, world.now() + schedule.nanos("hello") + World.SECOND);
        }
        checks.checkRoom();
        checks.checkChatter();
        closeAll();
    }

    private void stepUntil(BooleanSupplier done, long end) {
        while (ledger.violation() == null && !done.getAsBoolean()) {
            if (world.steps() > MOST_STEPS) {
                ledger.violation("too many steps", "steps=" + world.steps());
            } else if (!world.step(end)) {
                return;
            }
        }
    }

    /// Waits until no send is left without an outcome, and what was acknowledged is handled.
    private void settle(String what) {
        long end = world.now() + simulation.allowances.patience();
        stepUntil(() -> ledger.pending() == 0, end);
        List<String> open = ledger.neverCompleted();
        if (!open.isEmpty()) {
            ledger.violation(what, open.getFirst() + " open=" + open.size());
        }
        for (long wait = 0;
                wait < 8 && ledger.violation() == null && !ledger.unhandled().isEmpty();
                wait++) {
            stepUntil(() -> false, Math.min(end, world.now() + simulation.allowances.patience() / 8));
        }
        List<String> missing = ledger.unhandled();
        if (!missing.isEmpty()) {
            ledger.violation("handled in time", missing.getFirst() + " missing=" + missing.size());
        }
    }

    /// Until connections that only look open are known to be none.
    private void rest() {
        stepUntil(
                () -> false,
                world.now() + 4 * schedule.nanos("heartbeat") + schedule.nanos("peerTimeout") + 2 * World.SECOND);
    }

    private void heal() {
        simulation.mend();
        if (intruderLeaves()) {
            simulation.sights.see("intruder leaves");
            simulation.intruders.leave();
        }
        for (SimNode node : simulation.nodes()) {
            node.wake();
            node.suspension.resume();
            node.memory.refuse(false);
            node.program.slowDown(0);
            node.later(0, node.program::claim);
        }
    }

    /// Broadcasts are beside it, which it holds as long as it is there.
    private boolean intruderLeaves() {
        return schedule.config().getOrDefault("leaves", 0L) != 0;
    }

    private void closeAll() {
        simulation.end();
        for (SimNode node : simulation.nodes()) {
            simulation.close(node, Duration.ZERO, 0);
        }
        stepUntil(
                () -> simulation.everyLife().allMatch(checks::isGone)
                        && simulation.memories.stream().allMatch(memory -> memory.unclosed() == 0),
                world.now() + 20 * World.SECOND);
        checks.closed();
    }
}
