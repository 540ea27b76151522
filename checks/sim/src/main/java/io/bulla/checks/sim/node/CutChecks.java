// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.cut.LiveCut;
import java.time.Duration;
import java.util.Map;

/// Cuts of a node that goes on, what it may say while one is taken, and what it keeps for programs.
final class CutChecks {

    private final Simulation simulation;
    private final SimNode of;
    private Map<Integer, SimulatedNode.Numbers> atCut = Map.of();

    CutChecks(SimNode of) {
        this.simulation = of.simulation;
        this.of = of;
    }

    /// Takes a cut while it goes on, and ends it after a while; the other nodes know nothing of it.
    void liveCut(long nanos) {
        LiveCut live = of.node().liveCut(Duration.ofNanos(nanos + World.SECOND));
        live.ready().whenComplete((ready, notReady) -> {
            simulation.sights.see(notReady == null ? "live cut is ready" : "live cut is over before it is ready");
            if (notReady != null) {
                return;
            }
            live.take(() -> of.program.cut(true)).whenComplete((cut, notTaken) -> {
                of.program.cut(false);
                simulation.sights.see(notTaken == null ? "live cut is taken" : "live cut is over before it is taken");
                if (notTaken == null) {
                    simulation.beside("live cut is taken");
                    atCut = SimulatedNode.numbers(of.node());
                    cut.close();
                }
            });
        });
        of.later(nanos, live::end);
    }

    /// What messages without a receiver keep of its memory is counted.
    void checkRetained() {
        long retained = of.memory.retained(SimulatedNode.unclaimed(of.node()));
        if (retained > of.node().unclaimedBytes()) {
            simulation.ledger.violation(
                    "messages without a receiver keep more than is counted",
                    "node=" + of + " bytes=" + retained + " counted="
                            + of.node().unclaimedBytes());
        }
    }

    /// What it says while its cut is taken and not over: nothing of what has arrived since, and no new message.
    ///
    /// @param small next number that it expects, or that it gives
    void checkHeld(int peer, boolean acknowledges, long small, long bulk, long control) {
        if (of.node() == null || !SimulatedNode.isHeld(of.node())) {
            return;
        }
        SimulatedNode.Numbers then = atCut.get(peer);
        if (then == null || then.session() != SimulatedNode.session(of.node(), peer)) {
            then = SimulatedNode.Numbers.NONE;
        }
        simulation.sights.see("says something while its cut is taken");
        if (!then.covers(acknowledges, small, bulk, control)) {
            simulation.ledger.violation(
                    "goes on in the middle of a cut",
                    "node=" + of + " peer=" + peer + " says=" + small + "," + bulk + "," + control + " cut=" + then);
        }
    }
}
