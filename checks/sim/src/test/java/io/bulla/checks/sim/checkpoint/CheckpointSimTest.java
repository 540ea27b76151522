// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/// A few seeds of `./check checkpoint`, which runs many.
class CheckpointSimTest {

    private static final int SEEDS = 25;

    @Test
    void nothingIsLostOrDoubledWhereverAJobCrashes() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            assertNull(
                    SimRun.of(SimPlan.of(seed), null).violation(),
                    "seed=" + seed + ", see ./check checkpoint --replay");
        }
    }

    @Test
    void sameSeedIsTheSameRun() {
        for (long seed = 1; seed <= SEEDS; seed += 8) {
            SimRun.Result first = SimRun.of(SimPlan.of(seed), null);
            SimRun.Result second = SimRun.of(SimPlan.of(seed), null);
            assertEquals(first.digest(), second.digest());
            assertEquals(first.sights(), second.sights());
        }
    }
}
