// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.runtime.oob.sim.Machines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Runs seeds from the command line, as `./check checkpoint` says.
///
/// ```
/// --range FIRST COUNT   seeds
/// --seconds N FIRST     seeds from FIRST on, for so long
/// --replay SEED         tells all that happens
/// --digests N           a line for each seed
/// --sights              says at the end what was reached
/// ```
public final class CheckpointSim {

    private final Map<String, Long> sights = new TreeMap<>();
    private long seeds;
    private long steps;
    private long violations;

    private CheckpointSim() {}

    public static void main(String[] args) {
        CheckpointSim sim = new CheckpointSim();
        List<String> words = new ArrayList<>(Arrays.asList(args));
        boolean shows = words.remove("--sights");
        long begun = System.nanoTime();
        while (!words.isEmpty()) {
            sim.command(words);
        }
        if (shows) {
            sim.sights.forEach((what, times) -> System.out.println("  " + what + ": " + times));
        }
        if (sim.seeds > 0) {
            double seconds = (System.nanoTime() - begun) / 1e9;
            System.out.printf(
                    "checkpoint: simulated seeds=%d restores=%d published=%d steps=%d per-second=%.1f violations=%d%n",
                    sim.seeds,
                    sim.sights.getOrDefault("restored", 0L),
                    sim.sights.getOrDefault("published", 0L),
                    sim.steps,
                    sim.seeds / seconds,
                    sim.violations);
        }
        System.out.flush();
        // threads of killed processes are parked for ever
        Runtime.getRuntime().halt(sim.violations == 0 ? 0 : 1);
    }

    private void command(List<String> words) {
        switch (words.removeFirst()) {
            case "--range" -> {
                long first = Long.parseLong(words.removeFirst());
                long count = Long.parseLong(words.removeFirst());
                for (long seed = first; seed < first + count; seed++) {
                    run(seed);
                }
            }
            case "--seconds" -> {
                long end = System.nanoTime() + Long.parseLong(words.removeFirst()) * 1_000_000_000L;
                long first = Long.parseLong(words.removeFirst());
                long seed = first;
                for (; System.nanoTime() - end < 0; seed++) {
                    run(seed);
                }
                System.out.println("checkpoint: new seeds=" + first + ".." + (seed - 1));
            }
            case "--replay" -> {
                SimPlan plan = SimPlan.of(Long.parseLong(words.removeFirst()));
                System.out.println(plan);
                String violation = SimRun.of(plan, System.out::println).violation();
                System.out.println(violation == null ? "no rule is broken" : "broken: " + violation);
            }
            case "--digests" -> {
                long count = Long.parseLong(words.removeFirst());
                for (long seed = 1; seed <= count; seed++) {
                    System.out.printf(
                            "%d %016x%n",
                            seed, SimRun.of(SimPlan.of(seed), null).digest());
                }
            }
            default -> throw new IllegalArgumentException("not a command; see CheckpointSim.java");
        }
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

    private void run(long seed) {
        SimRun.Result result = SimRun.of(SimPlan.of(seed), null);
        seeds++;
        steps += result.steps();
        result.sights().forEach((what, times) -> sights.merge(what, times, Long::sum));
        if (result.violation() != null) {
            violations++;
            System.out.println("seed " + seed + ": " + result.violation());
            System.out.println("checkpoint: ./check checkpoint --replay " + seed + " tells all of it");
        }
    }
}
