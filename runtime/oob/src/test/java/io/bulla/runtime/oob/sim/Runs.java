// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import java.util.function.Consumer;

/// Runs schedules, with the peers that they want hostile.
final class Runs {

    private Runs() {}

    static Simulation.Result of(Schedule schedule) {
        return of(schedule, null);
    }

    /// @param story is told what happens, for a person who wants to know why; or `null`
    static Simulation.Result of(Schedule schedule, Consumer<String> story) {
        return Simulation.run(schedule, HostilePeers::new, story);
    }
}
