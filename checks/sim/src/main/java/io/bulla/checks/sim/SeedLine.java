// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The command line of a simulator: which seeds it runs, and what is counted meanwhile.
///
/// ```
/// --range FIRST COUNT   seeds
/// --seconds N FIRST     seeds from FIRST on, for so long
/// --replay WHAT         tells all that happens
/// --digests N           a line for each seed
/// --sights              says at the end what was reached
/// ```
public final class SeedLine {

    /// One simulator.
    public interface Runs {

        /// Runs one, [SeedLine#count]s it, and says what it broke.
        void run(long seed);

        /// Runs one.
        ///
        /// @return of all that happened
        long digest(long seed);

        /// Tells all that happens.
        void replay(String what) throws IOException;

        /// A command of this simulator alone.
        ///
        /// @param words what follows it; what it takes it removes
        /// @return false if there is no such command
        default boolean run(String command, List<String> words) throws IOException {
            return false;
        }

        /// The last lines.
        void figures(double seconds);
    }

    private final String name;
    private final Map<String, Long> sights = new TreeMap<>();
    private long seeds;
    private long steps;
    private long violations;

    /// @param name that begins the lines
    public SeedLine(String name) {
        this.name = name;
    }

    public long seeds() {
        return seeds;
    }

    public long steps() {
        return steps;
    }

    public long violations() {
        return violations;
    }

    public long sights(String what) {
        return sights.getOrDefault(what, 0L);
    }

    public void count(long more, Map<String, Long> seen, boolean broken) {
        seeds++;
        steps += more;
        violations += broken ? 1 : 0;
        seen.forEach((what, times) -> sights.merge(what, times, Long::sum));
    }

    /// Something is wrong with all runs together.
    public void fail() {
        violations++;
    }

    /// Runs all commands, and ends this process: 0 if no rule was broken.
    public void run(Runs runs, String[] args) throws IOException {
        List<String> words = new ArrayList<>(Arrays.asList(args));
        boolean shows = words.remove("--sights");
        long begun = System.nanoTime();
        while (!words.isEmpty()) {
            command(runs, words);
        }
        if (shows) {
            sights.forEach((what, times) -> System.out.println("  " + what + ": " + times));
        }
        if (seeds > 0) {
            runs.figures((System.nanoTime() - begun) / 1e9);
        }
        System.out.flush();
        // threads of what was killed are parked for ever
        Runtime.getRuntime().halt(violations == 0 ? 0 : 1);
    }

    private void command(Runs runs, List<String> words) throws IOException {
        String command = words.removeFirst();
        switch (command) {
            case "--range" -> {
                long first = number(words);
                long count = number(words);
                for (long seed = first; seed < first + count; seed++) {
                    runs.run(seed);
                }
            }
            case "--seconds" -> {
                long end = System.nanoTime() + number(words) * 1_000_000_000L;
                long first = number(words);
                long seed = first;
                for (; System.nanoTime() - end < 0; seed++) {
                    runs.run(seed);
                }
                System.out.println(name + ": new seeds=" + first + ".." + (seed - 1));
            }
            case "--replay" -> runs.replay(words.removeFirst());
            case "--digests" -> {
                long count = number(words);
                for (long seed = 1; seed <= count; seed++) {
                    System.out.printf("%d %016x%n", seed, runs.digest(seed));
                }
            }
            default -> {
                if (!runs.run(command, words)) {
                    throw new IllegalArgumentException("not a command of " + name + ": " + command);
                }
            }
        }
    }

    private static long number(List<String> words) {
        return Long.parseLong(words.removeFirst());
    }

    /// What a replay ends with.
    public static void verdict(String violation) {
        System.out.println(violation == null ? "no rule is broken" : "broken: " + violation);
    }
}
