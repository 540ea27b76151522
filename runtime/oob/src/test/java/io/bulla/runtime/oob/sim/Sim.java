// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Runs schedules from the command line, as `./check sim` says.
///
/// ```
/// --kept FOLDER       the schedules of a folder
/// --range FIRST COUNT seeds
/// --seconds N FIRST   seeds from FIRST on, for so long
/// --replay SEED|FILE  tells all that happens
/// --shrink SEED       prints the shortest schedule that breaks the same rule
/// --digests N         a line for each seed
/// --sights            says at the end which states were reached
/// ```
public final class Sim {

    private final Map<String, Long> sights = new TreeMap<>();
    private long seeds;
    private long steps;
    private long nanos;
    private int violations;

    private Sim() {}

    public static void main(String[] args) throws IOException {
        Sim sim = new Sim();
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
                    "sim: per-second seeds=%.1f steps=%.0f virtual-seconds=%.0f%n",
                    sim.seeds / seconds, sim.steps / seconds, sim.nanos / 1e9 / seconds);
            System.out.printf(
                    "sim: seeds=%d steps=%d virtual-seconds=%d violations=%d%n",
                    sim.seeds, sim.steps, sim.nanos / World.SECOND, sim.violations);
        }
        System.out.flush();
        // coroutines of killed nodes are parked for ever
        Runtime.getRuntime().halt(sim.violations == 0 ? 0 : 1);
    }

    private void command(List<String> words) throws IOException {
        switch (words.removeFirst()) {
            case "--kept" -> kept(Path.of(words.removeFirst()));
            case "--range" -> {
                long first = Long.parseLong(words.removeFirst());
                long count = Long.parseLong(words.removeFirst());
                for (long seed = first; seed < first + count; seed++) {
                    run("seed " + seed, Draw.schedule(seed));
                }
            }
            case "--seconds" -> {
                long end = System.nanoTime() + Long.parseLong(words.removeFirst()) * World.SECOND;
                long first = Long.parseLong(words.removeFirst());
                long seed = first;
                for (; System.nanoTime() - end < 0; seed++) {
                    run("seed " + seed, Draw.schedule(seed));
                }
                System.out.println("sim: new seeds=" + first + ".." + (seed - 1));
            }
            case "--replay" -> {
                Schedule schedule = schedule(words.removeFirst());
                System.out.print(schedule);
                Simulation.Result result = Simulation.run(schedule, System.out::println);
                count(result);
                System.out.println(result.violation() == null ? "no rule is broken" : "broken: " + result.violation());
            }
            case "--shrink" -> System.out.print(new Shrink(schedule(words.removeFirst()), Shrink::rule).shortest());
            case "--digests" -> {
                long count = Long.parseLong(words.removeFirst());
                for (long seed = 1; seed <= count; seed++) {
                    System.out.printf(
                            "%d %016x%n",
                            seed, Simulation.run(Draw.schedule(seed)).digest());
                }
            }
            default -> throw new IllegalArgumentException("not a command; see Sim.java");
        }
    }

    private static Schedule schedule(String what) throws IOException {
        return what.matches("[0-9]+")
                ? Draw.schedule(Long.parseLong(what))
                : Schedule.parse(Files.readString(Path.of(what)));
    }

    private void kept(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                run(file.getFileName().toString(), Schedule.parse(Files.readString(file)));
            }
        }
    }

    /// For a program that has changed the protocol.
    ///
    /// @return which seed or kept schedule breaks a rule, or `null`
    public static String found(Path root, int most) throws IOException {
        try {
            for (long seed = 1; seed <= most; seed++) {
                Simulation.Result result = Simulation.run(Draw.schedule(seed));
                if (result.violation() != null) {
                    return "seed " + seed + ": " + result.violation();
                }
            }
            try (Stream<Path> files = Files.list(root.resolve("runtime/oob/src/test/schedules"))) {
                for (Path file : files.sorted().toList()) {
                    String violation = Simulation.run(Schedule.parse(Files.readString(file)))
                            .violation();
                    if (violation != null) {
                        return file.getFileName() + ": " + violation;
                    }
                }
            }
            return null;
        } finally {
            LogWatch.uninstall();
        }
    }

    private void run(String name, Schedule schedule) {
        Simulation.Result result = Simulation.run(schedule);
        count(result);
        if (result.violation() != null) {
            System.out.println(name + ": " + result.violation());
        }
        if (result.violation() != null && violations == 1) {
            System.out.println(
                    "sim: ./check sim --replay " + schedule.seed() + " tells all of it; the shortest that breaks"
                            + " the same rule, to be kept in runtime/oob/src/test/schedules once it is mended:");
            System.out.print(new Shrink(schedule, Shrink::rule).shortest());
        }
    }

    private void count(Simulation.Result result) {
        seeds++;
        steps += result.steps();
        nanos += result.nanos();
        violations += result.violation() == null ? 0 : 1;
        result.sights().forEach((what, times) -> sights.merge(what, times, Long::sum));
    }
}
