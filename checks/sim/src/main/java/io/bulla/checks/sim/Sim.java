// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.LogWatch;
import io.bulla.checks.sim.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// Runs schedules from the command line, as `./check sim` says: the commands of [SeedLine], and these.
///
/// ```
/// --kept FOLDER       the schedules of a folder
/// --sometimes FILE    fails if a sight of the file was not seen so far; one behind a ? is told only
/// --replay SEED|FILE  tells all that happens
/// --plain             draws the seeds that follow without [DrawFeatures]
/// --shrink SEED|FILE  prints the shortest schedule that breaks the same rule, and what it took to find it
/// ```
public final class Sim implements SeedLine.Runs {

    private final SeedLine line = new SeedLine("sim");
    private long nanos;
    private boolean plain;

    private Sim() {}

    public static void main(String[] args) throws IOException {
        Sim sim = new Sim();
        sim.line.run(sim, args);
    }

    @Override
    public void figures(double seconds) {
        System.out.printf(
                "sim: per-second seeds=%.1f steps=%.0f virtual-seconds=%.0f%n",
                line.seeds() / seconds, line.steps() / seconds, nanos / 1e9 / seconds);
        System.out.printf(
                "sim: seeds=%d steps=%d virtual-seconds=%d violations=%d%n",
                line.seeds(), line.steps(), nanos / World.SECOND, line.violations());
    }

    @Override
    public boolean run(String command, List<String> words) throws IOException {
        switch (command) {
            case "--plain" -> plain = true;
            case "--kept" -> kept(Path.of(words.removeFirst()));
            case "--sometimes" -> sometimes(Path.of(words.removeFirst()));
            case "--shrink" -> print(new Shrink(schedule(words.removeFirst()), Shrink::rule));
            default -> {
                return false;
            }
        }
        return true;
    }

    @Override
    public void run(long seed) {
        run((plain ? "--plain " : "") + "seed " + seed, Draw.schedule(seed, !plain));
    }

    @Override
    public long digest(long seed) {
        return Runs.of(Draw.schedule(seed, !plain)).digest();
    }

    @Override
    public void replay(String what) throws IOException {
        Schedule schedule = schedule(what);
        System.out.print(schedule);
        Simulation.Result result = Runs.of(schedule, System.out::println);
        count(result);
        SeedLine.verdict(result.violation());
    }

    private Schedule schedule(String what) throws IOException {
        return what.matches("[0-9]+")
                ? Draw.schedule(Long.parseLong(what), !plain)
                : Schedule.parse(Files.readString(Path.of(what)));
    }

    private void sometimes(Path file) throws IOException {
        long seen = 0;
        for (String what : Files.readAllLines(file)) {
            boolean mayMiss = what.startsWith("? ");
            String sight = mayMiss ? what.substring(2) : what;
            if (what.isBlank() || what.startsWith("#")) {
                continue;
            }
            if (line.sights(sight) > 0) {
                seen++;
            } else {
                System.out.println("sim: never seen: " + sight + (mayMiss ? ", which may be" : ""));
                if (!mayMiss) {
                    line.fail();
                }
            }
        }
        System.out.println("sim: seen at least once=" + seen);
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
            try (Stream<Path> files = Files.list(root.resolve("checks/sim/schedules"))) {
                for (Path file : files.sorted().toList()) {
                    String violation =
                            Runs.of(Schedule.parse(Files.readString(file))).violation();
                    if (violation != null) {
                        return file.getFileName() + ": " + violation;
                    }
                }
            }
            for (long seed = 1; seed <= most; seed++) {
                Simulation.Result result = Runs.of(Draw.schedule(seed));
                if (result.violation() != null) {
                    return "seed " + seed + ": " + result.violation();
                }
            }
            return null;
        } finally {
            LogWatch.uninstall();
        }
    }

    /// For the same program: shrinks a seed that was found.
    ///
    /// @return lines before and after, seconds and runs
    public static String shrunk(long seed) {
        try {
            Shrink shrink = new Shrink(Draw.schedule(seed), Shrink::rule);
            shrink.shortest();
            return shrink.figures();
        } finally {
            LogWatch.uninstall();
        }
    }

    private void run(String name, Schedule schedule) {
        Simulation.Result result = Runs.of(schedule);
        count(result);
        if (result.violation() != null) {
            System.out.println(name + ": " + result.violation());
        }
        if (result.violation() != null && line.violations() == 1) {
            System.out.println("sim: ./check sim " + (plain ? "--plain " : "") + "--replay " + schedule.seed()
                    + " tells all of it; the shortest that breaks"
                    + " the same rule, to be kept in checks/sim/schedules once it is mended:");
            print(new Shrink(schedule, Shrink::rule));
        }
    }

    private static void print(Shrink shrink) {
        System.out.print(shrink.shortest());
        System.out.println("sim: shrunk " + shrink.figures());
    }

    private void count(Simulation.Result result) {
        nanos += result.nanos();
        line.count(result.steps(), result.sights(), result.violation() != null);
    }
}
