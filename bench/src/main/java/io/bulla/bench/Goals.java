package io.bulla.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// Measures every goal beside its rival and prints one line for each.
///
/// In a round every case is measured once, in a JVM of its own; what a noisy machine does to one side of a ratio
/// it is likely to do to the other. The printed ratio is the median of the rounds' ratios.
@Command(
        name = "bench/run",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Measures each goal beside its rival, in one run. The status says whether it ran.")
public final class Goals implements Callable<Integer> {

    private static final Map<String, List<Goal>> GROUPS = groups();

    @Option(
            names = "--only",
            paramLabel = "NAME",
            description = "A group or a goal whose name starts with this; all by default.")
    private String only = "";

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds, 5 by default.")
    private int rounds = 5;

    @Option(names = "--quick", description = "Short measurements.")
    private boolean quick;

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
        groups.put("posix", PosixGoals.all());
        groups.put("formats", FormatGoals.all());
        return groups;
    }

    @Override
    public Integer call() throws Exception {
        List<Goal> goals = chosen();
        if (rounds < 1) {
            throw new ParameterException(spec.commandLine(), "at least one round is needed: --rounds=" + rounds);
        }
        System.out.println(machine());
        Map<String, Case> cases = new LinkedHashMap<>();
        for (Goal goal : goals) {
            cases.putIfAbsent(goal.ours().name(), goal.ours());
            cases.putIfAbsent(goal.rival().name(), goal.rival());
        }
        Map<String, double[]> measured = new HashMap<>();
        Map<String, String> skipped = new HashMap<>();
        cases.keySet().forEach(name -> measured.put(name, new double[rounds]));
        Case.Length length = quick ? Case.Length.QUICK : Case.Length.NORMAL;
        for (int round = 0; round < rounds; round++) {
            System.err.println("bench: round " + (round + 1) + " of " + rounds + ", " + cases.size() + " cases");
            for (Case each : cases.values()) {
                try {
                    measured.get(each.name())[round] = each.meter().measure(length);
                } catch (Case.Skipped why) {
                    skipped.put(each.name(), why.getMessage());
                }
            }
            cases.keySet().removeAll(skipped.keySet());
        }
        for (Goal goal : goals) {
            String why = skipped.getOrDefault(
                    goal.ours().name(), skipped.get(goal.rival().name()));
            System.out.println(
                    why != null
                            ? goal.skippedLine(why)
                            : goal.line(
                                    measured.get(goal.ours().name()),
                                    measured.get(goal.rival().name())));
        }
        return 0;
    }

    private List<Goal> chosen() {
        List<Goal> chosen = GROUPS.getOrDefault(
                only,
                GROUPS.values().stream()
                        .flatMap(List::stream)
                        .filter(goal -> goal.name().startsWith(only))
                        .toList());
        if (chosen.isEmpty()) {
            String known = GROUPS.entrySet().stream()
                    .map(group -> group.getKey() + ": "
                            + group.getValue().stream().map(Goal::name).collect(Collectors.joining(" ")))
                    .collect(Collectors.joining("; "));
            throw new ParameterException(spec.commandLine(), "no such goal: --only=" + only + " (" + known + ")");
        }
        return chosen;
    }

    private static String machine() throws IOException {
        Path cpus = Path.of("/proc/cpuinfo");
        String model = Files.isReadable(cpus)
                ? Files.readAllLines(cpus).stream()
                        .filter(line -> line.startsWith("model name"))
                        .map(line -> line.replaceFirst("[^:]*:\\s*", ""))
                        .findFirst()
                        .orElse("unknown")
                : "unknown";
        return String.format(
                Locale.ROOT,
                "machine=\"%s\" cpus=%d load=%.1f memory=%dGiB jdk=%s os=\"%s %s\" commit=%s",
                model,
                Runtime.getRuntime().availableProcessors(),
                system().getSystemLoadAverage(),
                system().getTotalMemorySize() >> 30,
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.version"),
                System.getProperty("bulla.commit", "unknown"));
    }

    private static OperatingSystemMXBean system() {
        return (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    }
}
