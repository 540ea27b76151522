// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.world;

import java.util.Map;
import java.util.TreeMap;

/// States that a run has reached: what no run reaches is a hole in the simulation.
public final class Sights {

    private final Map<String, Long> seen = new TreeMap<>();

    public void see(String what) {
        seen.merge(what, 1L, Long::sum);
    }

    public void see(String what, long times) {
        if (times > 0) {
            seen.merge(what, times, Long::sum);
        }
    }

    public void addTo(Map<String, Long> runs) {
        seen.forEach((what, times) -> runs.merge(what, times, Long::sum));
    }

    long of(String what) {
        return seen.getOrDefault(what, 0L);
    }
}
