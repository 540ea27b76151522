// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.checks.sim.SeedLine;
import io.bulla.checks.sim.machines.Machines;
import java.io.IOException;
import java.nio.file.Path;

/// Runs seeds from the command line, as `./check checkpoint` says: the commands of [SeedLine].
public final class CheckpointSim {

    private CheckpointSim() {}

    public static void main(String[] args) throws IOException {
        Seeds seeds = new Seeds();
        seeds.line.run(seeds, args);
    }

    /// For a program that has changed the protocol.
    ///
    /// @return which seed breaks a rule, or `null`
    public static String found(Path root, int most) {
        try {
            for (long seed = 1; seed <= most; seed++) {
                String violation = SimRun.of(SimPlan.of(seed), null).violation();
                if (violation != null) {
                    return "seed " + seed + ": " + violation;
                }
            }
            return null;
        } finally {
            Machines.forgetLog();
        }
    }

    private static final class Seeds implements SeedLine.Runs {

        private final SeedLine line = new SeedLine("checkpoint");

        @Override
        public void figures(double seconds) {
            System.out.printf(
                    "checkpoint: simulated seeds=%d restores=%d published=%d steps=%d per-second=%.1f violations=%d%n",
                    line.seeds(),
                    line.sights("restored"),
                    line.sights("published"),
                    line.steps(),
                    line.seeds() / seconds,
                    line.violations());
        }

        @Override
        public void run(long seed) {
            SimRun.Result result = SimRun.of(SimPlan.of(seed), null);
            line.count(result.steps(), result.sights(), result.violation() != null);
            if (result.violation() != null) {
                System.out.println("seed " + seed + ": " + result.violation());
                System.out.println("checkpoint: ./check checkpoint --replay " + seed + " tells all of it");
            }
        }

        @Override
        public long digest(long seed) {
            return SimRun.of(SimPlan.of(seed), null).digest();
        }

        @Override
        public void replay(String seed) {
            SimPlan plan = SimPlan.of(Long.parseLong(seed));
            System.out.println(plan);
            SeedLine.verdict(SimRun.of(plan, System.out::println).violation());
        }
    }
}
