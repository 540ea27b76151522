// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.schedule.Line;
import java.util.List;

/// Those of a run that do not keep to the protocol: peers that never say who they are, and a member of the job.
public interface Intruders {

    /// Beyond the nodes': where those come from that are no members.
    int HOSTS = 1;

    /// The longest message that one announces.
    int LONGEST = 40_000;

    /// A tag that no program of the job uses.
    int FORGED = 999;

    /// A broadcast that somebody has begun to hand on.
    record Overheard(int origin, long session, long number, long total) {}

    /// Lets one begin: a line `intrude` or `hostile`.
    void begin(Line line);

    void overhear(Overheard broadcast);

    /// Whether a member that speaks the protocol has begun to break it.
    boolean hasMember();

    /// In which ways it does, as long as it is there.
    List<String> ways();

    /// All go, as processes do that end.
    void leave();
}
