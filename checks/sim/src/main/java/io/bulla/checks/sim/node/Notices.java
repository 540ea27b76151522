// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.runtime.oob.SimulatedNode;
import java.nio.ByteBuffer;

/// What the program of one node tells those of others by notices: none reaches a successor of the one it was for.
final class Notices {

    private final Simulation simulation;
    private final SimNode node;

    Notices(SimNode node) {
        this.simulation = node.simulation;
        this.node = node;
    }

    /// Begins to hear them.
    void receive() {
        node.node().receiveNotices(task -> node.later(0, task), this::noticed);
    }

    /// A notice, and the life that its node had a session with right before and right after it was queued: the loop
    /// may hear that a life is over when the program has said its word and the loop has not taken it.
    static final class Said {
        private SimNode before;
        private SimNode after;

        private boolean isNotOf(SimNode node) {
            return before != null
                    && before == after
                    && (before.life != node.life || before.generation != node.generation);
        }
    }

    void send(int peer, int topic) {
        Said said = new Said();
        SimulatedNode.onLoop(node.node(), () -> said.before = known(peer));
        node.node()
                .notice(
                        peer,
                        topic,
                        ByteBuffer.allocate(4).putInt(simulation.said(said)).array());
        SimulatedNode.onLoop(node.node(), () -> said.after = known(peer));
    }

    /// The life of the peer's that it has a session with, as far as the two agree, or `null`.
    private SimNode known(int peer) {
        long known = SimulatedNode.known(node.node(), peer);
        SimNode found = null;
        for (SimNode each : simulation.lives(peer)) {
            if (known != 0 && each.node() != null && SimulatedNode.session(each.node(), node.rank()) == known) {
                found = each;
            }
        }
        simulation.sights.see(found == null ? "notice to an unknown peer" : "notice");
        return found;
    }

    private void noticed(int peer, int topic, byte[] text) {
        if (peer == simulation.intruderRank()) {
            return;
        }
        Said said = simulation.said(ByteBuffer.wrap(text).getInt());
        simulation.sights.see("notice heard");
        if (said.isNotOf(node)) {
            simulation.ledger.violation(
                    "notice reaches a successor",
                    "node=" + node + " peer=" + peer + " topic=" + topic + " of=" + said.before);
        }
    }
}
