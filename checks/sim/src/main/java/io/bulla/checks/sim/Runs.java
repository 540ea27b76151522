// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import io.bulla.checks.sim.hostile.HostilePeers;
import io.bulla.checks.sim.node.Phases;
import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.schedule.Schedule;
import java.util.function.Consumer;

/// Runs schedules, with the peers that they want hostile.
public final class Runs {

    private Runs() {}

    static Simulation.Result of(Schedule schedule) {
        return of(schedule, null);
    }

    /// @param story is told what happens, for a person who wants to know why; or `null`
    static Simulation.Result of(Schedule schedule, Consumer<String> story) {
        return Phases.run(schedule, HostilePeers::new, story);
    }
}
