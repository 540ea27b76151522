// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.PeerStats;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.fixture.HostMemory;

/// What has to hold of all nodes while a run goes on, when its faults have ended, and when all is closed.
final class RunChecks {

    private static final long HELD_NANOS = 50 * World.MILLI;

    private final Simulation simulation;
    private final Ledger ledger;
    private final Sights sights;

    RunChecks(Simulation simulation) {
        this.simulation = simulation;
        this.ledger = simulation.ledger;
        this.sights = simulation.sights;
    }

    /// What a node keeps for a peer is as much as programs have sent, what members were granted to broadcast, which
    /// is a KiB or more for each, and confirmations up to a bound, whatever the peer says how often.
    void checkHeld() {
        // of its session, and of those before it, of which it may have two windows with handlers and below
        long granted = 3 * simulation.schedule.config("window") / 1024;
        long sends = 2L * simulation.schedule.lines().size() + 8L * simulation.size + 64 + granted;
        long confirmations = Math.max(256, simulation.schedule.config("queueMessages")) + sends;
        for (SimNode node : simulation.nodes()) {
            node.cuts.checkRetained();
            node.suspension.check();
            for (int peer = 0; peer < simulation.size; peer++) {
                SimulatedNode.Held held = peer == node.rank() ? null : SimulatedNode.held(node.node(), peer);
                if (held != null
                        && (held.sends() > sends || held.confirmations() > confirmations || held.doubled() > 0)) {
                    ledger.violation(
                            "keeps what a peer repeats",
                            "node=" + node + " peer=" + peer + " " + held + " most=" + sends + "," + confirmations);
                }
            }
        }
        if (!simulation.isOver()) {
            simulation.world.after(HELD_NANOS, this::checkHeld);
        }
    }

    boolean noOutsider() {
        return simulation.nodes().stream()
                .allMatch(node -> simulation.net.connections(node.rank(), simulation.size) == 0);
    }

    void checkRoom() {
        if (ledger.violation() != null) {
            return;
        }
        for (SimNode node : simulation.nodes()) {
            for (PeerStats peer : node.node().stats()) {
                sights.see("resends", peer.resends());
                sights.see("duplicates", peer.duplicates());
                // what an intruder has begun is held until each relay has given it up
                long waiting = simulation.intruderRank() < 0 ? peer.waitingBytes() : 0;
                if (peer.queuedMessages() != 0
                        || peer.queuedBytes() != 0
                        || waiting != 0
                        || peer.leases() != 0
                        || peer.leasedBytes() != 0) {
                    ledger.violation("room is not given back", "node=" + node + " " + peer);
                }
            }
            for (int peer = 0; peer < simulation.size; peer++) {
                if (simulation.net.connections(node.rank(), peer) > 1 && peer != simulation.intruderRank()) {
                    ledger.violation("more than one connection of two nodes", "node=" + node + " peer=" + peer);
                }
            }
            // outsiders, which say nothing or no hello
            if (simulation.net.connections(node.rank(), simulation.size) > 0) {
                ledger.violation("an outsider stays connected", "node=" + node);
            }
            if (node.node().unclaimedBytes() != 0) {
                ledger.violation(
                        "unclaimed", "node=" + node + " bytes=" + node.node().unclaimedBytes());
            }
        }
    }

    void checkChatter() {
        String wrong = simulation.chatter.check(
                simulation.size, ledger.size(), simulation.world.now() / simulation.schedule.nanos("heartbeat"));
        if (wrong != null) {
            ledger.violation("acknowledgements of acknowledgements", wrong);
        }
    }

    boolean isGone(SimNode node) {
        return node.isKilled()
                || node.isClosed() && node.program.kept() == 0 && node.memory.used() + node.user.used() == 0;
    }

    /// All is closed, and nothing is left.
    void closed() {
        simulation.everyLife().forEach(this::checkGone);
        if (simulation.bulk.open() != 0 && ledger.violation() == null) {
            ledger.violation("memory that peers may write to after the close", "landings=" + simulation.bulk.open());
        }
        for (HostMemory memory : simulation.memories) {
            memory.figures(sights::see);
            if (memory.leases() != 0 && ledger.violation() == null) {
                ledger.violation("leases are not given back", "leases=" + memory.leases());
            }
            if (memory.unclosed() != 0 && ledger.violation() == null) {
                ledger.violation("lent or borrowed after the close", "unclosed=" + memory.unclosed());
            }
        }
    }

    private void checkGone(SimNode node) {
        if (ledger.violation() != null || node.isKilled()) {
            return;
        }
        if (!node.isClosed()) {
            ledger.violation("does not close", "node=" + node);
        }
        long netty = node.nettyBytes();
        if (node.memory.used() != 0 || node.memory.open() != 0 || node.user.used() != 0 || netty != 0) {
            ledger.violation(
                    "memory is not given back",
                    "node=" + node + " bytes=" + node.memory.used() + " handles=" + node.memory.open() + " user="
                            + node.user.used() + " netty=" + netty);
        }
    }
}
