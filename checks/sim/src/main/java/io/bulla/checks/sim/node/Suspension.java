// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.net.Net;
import java.util.ArrayDeque;
import java.util.Deque;

/// Times in which a node has no connection.
final class Suspension {

    private final Simulation simulation;
    private final SimNode of;
    private final Deque<Runnable> calls = new ArrayDeque<>();
    private boolean stays;
    private boolean suspended;
    // all its connections are closed
    private boolean silent;
    private long suspendedAt;
    private long heldUpBefore;

    Suspension(SimNode of) {
        this.simulation = of.simulation;
        this.of = of;
    }

    boolean isSuspended() {
        return suspended;
    }

    boolean isSilent() {
        return silent && !of.isClosing() && !of.isKilled();
    }

    /// A node that is suspended has no connection, also none that has not said hello.
    void check() {
        for (int peer = 0; peer < simulation.hosts && silent && !of.isClosing(); peer++) {
            if (of.net().connections(of.rank(), peer) > 0) {
                simulation.ledger.violation("connected while it is suspended", "node=" + of + " peer=" + peer);
            }
        }
    }

    /// Has no connections for a while.
    void suspend(long nanos) {
        suspend(nanos, () -> {});
    }

    /// Until it is told to go on.
    ///
    /// @param then when it has none
    void suspend(Runnable then) {
        stays = true;
        suspend(Long.MAX_VALUE, then);
    }

    private void suspend(long nanos, Runnable then) {
        if (suspended) {
            return;
        }
        suspended = true;
        suspendedAt = simulation.world.now();
        heldUpBefore = of.heldUp();
        call(() -> of.node().suspend().whenComplete((done, failure) -> {
            if (failure != null && !of.isClosing()) {
                simulation.ledger.violation("does not suspend", of + " " + failure);
            }
            for (int peer = 0; peer < simulation.size && suspended && !of.isClosing(); peer++) {
                if (of.net().connections(of.rank(), peer) > 0) {
                    simulation.ledger.violation("suspended with a connection", of + " peer=" + peer);
                }
            }
            silent = suspended && failure == null;
            then.run();
        }));
        if (!stays) {
            simulation.world.after(nanos, this::resume);
        }
    }

    /// As one thread of the program's calls, also after a time in which all calls had to wait.
    private void call(Runnable what) {
        calls.add(what);
        of.later(0, () -> calls.removeFirst().run());
    }

    void goOn() {
        stays = false;
        resume();
    }

    void resume() {
        if (!suspended || stays || of.isKilled() || of.isClosing()) {
            return;
        }
        suspended = false;
        silent = false;
        // what it was held up meanwhile is counted already
        of.heldUpFor(Math.max(0, simulation.world.now() - suspendedAt - (of.heldUp() - heldUpBefore)));
        call(() -> of.node().resume(Net.address(of.rank())).whenComplete((address, failure) -> {
            if (failure != null && !of.isClosing()) {
                simulation.ledger.violation("does not resume", of + " " + failure);
            }
        }));
    }
}
