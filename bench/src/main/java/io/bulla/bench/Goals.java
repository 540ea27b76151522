// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.CheckpointGoals;
import io.bulla.bench.goals.FanOutGoals;
import io.bulla.bench.goals.FootprintGoals;
import io.bulla.bench.goals.FormatGoals;
import io.bulla.bench.goals.Goal;
import io.bulla.bench.goals.GrpcGoals;
import io.bulla.bench.goals.LifetimeGoals;
import io.bulla.bench.goals.LocalGoals;
import io.bulla.bench.goals.OobGoals;
import io.bulla.bench.goals.PoolGoals;
import io.bulla.bench.goals.PosixGoals;
import io.bulla.bench.goals.RegistrationGoals;
import io.bulla.bench.goals.Results;
import io.bulla.bench.goals.Rounds;
import io.bulla.bench.goals.SharedGoals;
import io.bulla.bench.goals.WebSocketGoals;
import io.bulla.bench.numbers.Machine;
import io.bulla.bench.pages.Curve;
import io.bulla.bench.pages.Curves;
import io.bulla.bench.pages.FanOutMatrix;
import io.bulla.bench.pages.Scoreboard;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// Measures every goal beside its rival and prints one line for each, see [Rounds]. The printed ratio is the
/// median of the rounds' ratios.
@Command(
        name = "bench/run",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Measures each goal beside its rival, in one run. The status says whether it ran.")
public final class Goals implements Callable<Integer> {

    private static final Map<String, List<Goal>> GROUPS = groups();
    private static final int ROUNDS = 5;

    /// Goals that a change of shape would miss by far: a loop that is no longer turned into vector
    /// instructions, an object that no longer stays off the heap, a count that two threads pull to and fro.
    private static final List<String> SHAPES = List.of(
            "share-close-2t",
            "shares-64",
            "read-5-fields",
            "read-1000",
            "bytes-per-share",
            "scalars",
            "items",
            "int32-4096-pack",
            "int32-4096-unpack",
            "writev-allocation",
            "cursor-allocation",
            "opal-pack-allocation",
            "opal-unpack-allocation",
            "pmix-pack-allocation",
            "pmix-unpack-allocation",
            "strings-pack-allocation",
            "mixed-pack-allocation",
            "oob-xcast-64-4m-memory",
            "oob-send-allocation");

    private static final double GROSS = 2;

    /// What a quick run of everything has no time for: a row for each size of a chunk or of a fragment, 64 JVMs a
    /// number, and rows of the out-of-band channel that others lie beside, of some seconds each.
    private static final List<String> SLOW = List.of(
            "checkpoint-",
            "chunk-",
            "grpc-",
            "hand-over-64-",
            "local-",
            "oob-chain-unpaced",
            "oob-plain-",
            "oob-send-allocation-both-ends",
            "oob-small-from-loop",
            "oob-tls-1048576",
            "oob-tls-64",
            "oob-tls-65536-pool",
            "oob-tls-65536-reused",
            "oob-xcast-16-64m-",
            "oob-xcast-64-4m-floor",
            "oob-xcast-64-4m-memory-copy",
            "oob-xcast-64-4m-pool",
            "oob-xcast-64-4m-reused",
            "pool-burst-",
            "registration-",
            "shared-",
            "websocket-");

    @Option(
            names = "--only",
            paramLabel = "NAME",
            description = "A group, or the goals and curves whose names start with this.")
    private String only = "";

    @Option(names = "--goals", description = "The goals, no curves and no tables: the default.")
    private boolean goalsOnly;

    @Option(names = "--full", description = "The goals, the tables of fan-outs, and the curves.")
    private boolean full;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds; by default 5, or 1 with --quick.")
    private int rounds;

    @Option(
            names = "--quick",
            description = "Short measurements, one round of them, and without --only no goals that take long.")
    private boolean quick;

    @Option(
            names = "--guard",
            description = "Only the goals that a lost vector loop, a new allocation or a contended count would miss;"
                    + " status 1 if one is missed more than twofold, and again when it is measured alone.")
    private boolean guard;

    @Option(
            names = "--publish",
            description = "Keeps the raw numbers in bench/results, and writes docs/scoreboard.md and its pictures.")
    private boolean publish;

    @Option(names = "--redraw", description = "Measures nothing: writes the pages and the pictures from bench/results.")
    private boolean redraw;

    @Option(
            names = "--check-pages",
            description = "Measures nothing: status 1 if a page or a picture says something else than bench/results.")
    private boolean checkPages;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.")
    private boolean help;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Goals()).execute(args));
    }

    private static Map<String, List<Goal>> groups() {
        Map<String, List<Goal>> groups = new LinkedHashMap<>();
        groups.put("lifetime", LifetimeGoals.all());
        groups.put(Scoreboard.POOL, PoolGoals.all());
        groups.put("posix", PosixGoals.all());
        groups.put("shared", SharedGoals.all());
        groups.put("ipc", SharedGoals.pairs());
        groups.put("local", LocalGoals.all());
        groups.put("registration", RegistrationGoals.all());
        groups.put("formats", FormatGoals.all());
        groups.put(Scoreboard.FAN_OUT, FanOutGoals.all());
        groups.put("footprint", FootprintGoals.all());
        groups.put("oob", OobGoals.all());
        groups.put("checkpoint", CheckpointGoals.all());
        groups.put("grpc", GrpcGoals.all());
        groups.put("websocket", WebSocketGoals.all());
        return groups;
    }

    static Scoreboard scoreboard(Path root) {
        return new Scoreboard(root, GROUPS, Curves.all());
    }

    @Override
    public Integer call() throws Exception {
        Scoreboard scoreboard = scoreboard(Path.of(System.getProperty("bulla.root", ".")));
        if (redraw) {
            scoreboard.write();
            return 0;
        }
        if (checkPages) {
            List<Path> stale = scoreboard.stale();
            List<String> overloaded = scoreboard.overloaded();
            System.out.println("pages: stale=" + stale.size() + (stale.isEmpty() ? "" : " " + stale) + " overloaded="
                    + overloaded.size() + (overloaded.isEmpty() ? "" : " " + overloaded));
            return stale.isEmpty() ? 0 : 1;
        }
        check();
        Map<String, List<Goal>> goals = chosenGoals();
        List<Curve> curves = chosenCurves();
        List<Curve> curvesOfGroups = chosenCurvesOfGroups();
        List<FanOutMatrix> matrices = chosenMatrices();
        if (goals.isEmpty() && curves.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "no such goal: --only=" + only + " (" + known() + ")");
        }
        String machine = Machine.line();
        System.out.println(machine);
        if (publish && Machine.load(machine) > Machine.MOST_LOAD) {
            throw new ParameterException(
                    spec.commandLine(),
                    "the machine is too busy to publish: load=" + Machine.load(machine) + " most=" + Machine.MOST_LOAD);
        }
        long start = System.nanoTime();
        List<Case> cases = Stream.of(
                        goals.values().stream().flatMap(List::stream).flatMap(Goal::cases),
                        matrices.stream().flatMap(FanOutMatrix::cases),
                        Stream.concat(curves.stream(), curvesOfGroups.stream()).flatMap(Curve::cases))
                .flatMap(each -> each)
                .toList();
        Results results = new Rounds()
                .add(cases)
                .measure(
                        machine,
                        rounds,
                        quick ? Case.Length.QUICK : Case.Length.NORMAL,
                        what -> System.err.println("bench: " + what));
        goals.values().forEach(group -> group.forEach(goal -> System.out.println(goal.line(results))));
        matrices.forEach(matrix -> matrix.lines(results).forEach(System.out::println));
        Stream.concat(curves.stream(), curvesOfGroups.stream())
                .forEach(curve -> curve.lines(results).forEach(System.out::println));
        System.out.printf(
                Locale.ROOT,
                "took: seconds=%d spread=%.2f%n",
                (System.nanoTime() - start) / 1_000_000_000,
                results.spread());
        if (publish) {
            String unfit = results.unfit();
            if (unfit != null) {
                System.err.println("bench: " + unfit);
                return 1;
            }
            publish(scoreboard, goals, curves, results);
        }
        return guard ? grossLosses(goals, results, machine) : 0;
    }

    private void check() {
        if (rounds == 0) {
            rounds = quick ? 1 : ROUNDS;
        }
        if (rounds < 1) {
            throw new ParameterException(spec.commandLine(), "at least one round is needed: --rounds=" + rounds);
        }
        if (full && goalsOnly) {
            throw new ParameterException(spec.commandLine(), "--goals leaves out the curves that --full adds");
        }
        if (publish
                && (guard
                        || quick
                        || !only.isEmpty() && !GROUPS.containsKey(only) && !only.equals(Scoreboard.CURVES))) {
            throw new ParameterException(
                    spec.commandLine(), "only whole groups at full length are published: --only=" + only);
        }
    }

    private Map<String, List<Goal>> chosenGoals() {
        Map<String, List<Goal>> chosen = new LinkedHashMap<>();
        GROUPS.forEach((group, goals) -> {
            List<Goal> some = goals.stream()
                    .filter(goal -> guard ? SHAPES.contains(goal.name()) : group.equals(only) || starts(goal.name()))
                    .filter(goal -> !leftOut(goal))
                    .toList();
            if (!some.isEmpty()) {
                chosen.put(group, some);
            }
        });
        return chosen;
    }

    private boolean leftOut(Goal goal) {
        return quick && only.isEmpty() && SLOW.stream().anyMatch(goal.name()::startsWith);
    }

    private List<Curve> chosenCurves() {
        if (guard || only.isEmpty() && !full) {
            return List.of();
        }
        return Curves.all().stream()
                .filter(curve -> only.equals(Scoreboard.CURVES) || starts(curve.name()))
                .toList();
    }

    private List<Curve> chosenCurvesOfGroups() {
        return !guard && (only.equals(Scoreboard.POOL) || full && only.isEmpty()) ? List.of(Curves.burst()) : List.of();
    }

    private List<FanOutMatrix> chosenMatrices() {
        return !guard && (only.equals(Scoreboard.FAN_OUT) || full && only.isEmpty()) ? FanOutMatrix.all() : List.of();
    }

    private boolean starts(String name) {
        return !GROUPS.containsKey(only) && !only.equals(Scoreboard.CURVES) && name.startsWith(only);
    }

    private static void publish(
            Scoreboard scoreboard, Map<String, List<Goal>> goals, List<Curve> curves, Results results)
            throws IOException {
        for (Map.Entry<String, List<Goal>> group : goals.entrySet()) {
            Stream<Case> cases = group.getValue().stream().flatMap(Goal::cases);
            if (group.getKey().equals(Scoreboard.FAN_OUT)) {
                cases = Stream.concat(cases, FanOutMatrix.all().stream().flatMap(FanOutMatrix::cases));
            }
            if (group.getKey().equals(Scoreboard.POOL)) {
                cases = Stream.concat(cases, Curves.burst().cases());
            }
            results.only(cases).write(scoreboard.file(group.getKey()));
        }
        if (!curves.isEmpty()) {
            results.only(curves.stream().flatMap(Curve::cases)).write(scoreboard.file(Scoreboard.CURVES));
        }
        scoreboard.write();
    }

    /// Status 1 if a goal is missed by more than twice, or there is a number where there should be none. Such goals
    /// are measured again, alone and at full length: the rounds of a busy machine differ by as much.
    private static int grossLosses(Map<String, List<Goal>> goals, Results results, String machine) throws Exception {
        List<Goal> lost = missedGrossly(goals.values().stream().flatMap(List::stream), results);
        if (!lost.isEmpty()) {
            Results again = new Rounds()
                    .add(lost.stream().flatMap(Goal::cases).toList())
                    .measure(machine, ROUNDS, Case.Length.NORMAL, what -> System.err.println("bench, again: " + what));
            lost.forEach(goal -> System.out.println("again: " + goal.line(again)));
            lost = missedGrossly(lost.stream(), again);
        }
        System.out.println("guard: goals="
                + goals.values().stream().mapToInt(List::size).sum() + " lost=" + lost.size()
                + (lost.isEmpty() ? "" : " " + lost.stream().map(Goal::name).toList()));
        return lost.isEmpty() ? 0 : 1;
    }

    private static List<Goal> missedGrossly(Stream<Goal> goals, Results results) {
        return goals.filter(goal -> goal.missing(results) == null && goal.ratio(results) > GROSS * goal.wanted())
                .toList();
    }

    private static String known() {
        return Stream.concat(
                        GROUPS.entrySet().stream()
                                .map(group -> group.getKey() + ": "
                                        + group.getValue().stream()
                                                .map(Goal::name)
                                                .collect(Collectors.joining(" "))),
                        Stream.of(Scoreboard.CURVES + ": "
                                + Curves.all().stream().map(Curve::name).collect(Collectors.joining(" "))))
                .collect(Collectors.joining("; "));
    }
}
