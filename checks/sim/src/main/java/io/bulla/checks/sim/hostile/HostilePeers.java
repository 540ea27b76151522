// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.node.Intruders;
import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.schedule.Line;
import java.util.ArrayList;
import java.util.List;

/// All intruders of a run, and its hostile member, of which there is one at most.
public final class HostilePeers implements Intruders {

    private final Simulation simulation;
    private final List<Intruder> intruders = new ArrayList<>();
    // or null
    private HostileMember member;

    public HostilePeers(Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public void begin(Line line) {
        if (line.what().equals("intrude")) {
            Intruder.begin(simulation, intruders, line);
            return;
        }
        if (member == null) {
            member = new HostileMember(simulation, line.who(0));
        }
        member.begin(line);
    }

    @Override
    public void overhear(Overheard broadcast) {
        intruders.forEach(intruder -> intruder.overhears(broadcast));
    }

    @Override
    public boolean hasMember() {
        return member != null;
    }

    @Override
    public List<String> ways() {
        return member == null || member.isGone()
                ? List.of()
                : member.ways().stream().map(Enum::name).toList();
    }

    @Override
    public void leave() {
        intruders.forEach(Intruder::leave);
        if (member != null) {
            member.leave();
        }
    }
}
