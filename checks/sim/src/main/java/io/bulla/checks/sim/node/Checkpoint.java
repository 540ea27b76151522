// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.runtime.oob.cut.NodeCut;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/// All nodes are suspended; if no broadcast is on its way, each process ends at its cut, and when all have, others
/// go on from the cuts.
final class Checkpoint {

    private final Simulation simulation;
    private final List<SimNode> nodes;
    private final Map<SimNode, NodeCut> cuts = new LinkedHashMap<>();
    private int waiting;
    private boolean putOff;

    Checkpoint(Simulation simulation, List<SimNode> nodes) {
        this.simulation = simulation;
        this.nodes = new ArrayList<>(nodes);
    }

    void begin() {
        if (nodes.size() < simulation.size - (simulation.intruderRank() < 0 ? 0 : 1)
                || nodes.stream().anyMatch(node -> node.suspension.isSuspended())) {
            return;
        }
        simulation.sights.see("checkpoint");
        waiting = nodes.size();
        for (SimNode node : nodes) {
            node.suspension.suspend(() -> {
                if (--waiting == 0) {
                    each(this::looked);
                }
            });
        }
    }

    private void each(BiConsumer<SimNode, NodeCut> then) {
        waiting = nodes.size();
        for (SimNode node : nodes) {
            node.later(0, () -> node.node().cut(() -> {}).whenComplete((cut, failure) -> then.accept(node, cut)));
        }
    }

    /// Whether all can be cut: between two looks nothing moves.
    private void looked(SimNode node, NodeCut cut) {
        if (cut == null) {
            putOff = true;
        } else {
            cut.close();
        }
        if (--waiting > 0) {
            return;
        }
        if (putOff) {
            simulation.sights.see("checkpoint put off");
            nodes.forEach(each -> each.suspension.goOn());
        } else {
            each(this::ended);
        }
    }

    private void ended(SimNode node, NodeCut cut) {
        if (cut == null) {
            simulation.ledger.violation("cut fails the second time", "node=" + node);
            return;
        }
        simulation.endAtCut(node);
        cuts.put(node, cut);
        simulation.sights.see("undelivered in cuts", cut.undelivered());
        if (--waiting == 0) {
            cuts.forEach(simulation::goOn);
        }
    }
}
