// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.numbers.Medians;
import io.bulla.bench.programs.FirstMessage;
import io.bulla.bench.programs.TrimBystander;
import io.bulla.buffer.BuildBenchmark;
import io.bulla.buffer.FanOutBenchmark;
import io.bulla.pack.StringsBenchmark;
import io.bulla.refcount.CountBenchmark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What a program pays besides the time of an operation: heap, the first message, and how late a bystander is.
public final class FootprintGoals {

    private static final String[] SIZE = {"size=65536", "fanOut=64"};
    private static final String CHUNK = "chunk=4194304";
    private static final Map<String, SharedRun> STARTS = new HashMap<>();
    private static final Map<String, SharedRun> BYSTANDERS = new HashMap<>();

    private FootprintGoals() {}

    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        allocations(goals);
        goals.add(Goal.atMost(1, "first-message-netty", start("bulla", "main"), start("netty", "main")));
        goals.add(Goal.compare("first-message-byte-buffer", start("bulla", "main"), start("byte-buffer", "main")));
        goals.add(Goal.compare("first-message-process", start("bulla", "process"), start("byte-buffer", "process")));
        for (String percentile : List.of("p50", "p99", "p99.9")) {
            Case kept = bystander("kept", percentile);
            String name = "trim-bystander-" + percentile;
            goals.add(
                    percentile.equals("p50")
                            ? Goal.atMost(1.25, name, bystander("trimmed", percentile), kept)
                            : Goal.compare(name, bystander("trimmed", percentile), kept));
            goals.add(Goal.compare(
                    name + "-netty", bystander("trimmed", percentile), bystander("netty-trimmed", percentile)));
            goals.add(Goal.compare(
                    name + "-arenas", bystander("trimmed", percentile), bystander("arena-each", percentile)));
        }
        return goals;
    }

    /// Heap bytes of an operation, each beside what it is held against.
    private static void allocations(List<Goal> goals) {
        Class<CountBenchmark> count = CountBenchmark.class;
        goals.add(Goal.allocatesAtMost(32, "share-heap", count, "shareThenCloseEscaping"));
        goals.add(Goal.allocatesAtMost(32, "shares-64-heap", count, "sharesThenCloses"));
        goals.add(Goal.compare(
                "fan-out-64-of-64k-heap",
                Case.jmhAllocation(FanOutBenchmark.class, "shared", SIZE),
                Case.jmhAllocation(FanOutBenchmark.class, "copyHeap", SIZE)));
        goals.add(Goal.compare(
                "build-1k-heap",
                Case.jmhAllocation(BuildBenchmark.class, "sealed", CHUNK),
                Case.value("body", "bytes", () -> 1024)));
        goals.add(Goal.compare(
                "unpack-strings-heap",
                Case.jmhAllocation(StringsBenchmark.class, "unpack", "format=PMIX_4"),
                Case.jmhAllocation(StringsBenchmark.class, "baselineOut", "format=PMIX_4")));
    }

    /// Milliseconds, the median of some starts: `main` from its first line on, `process` from before the JVM.
    private static Case start(String design, String part) {
        SharedRun run = STARTS.computeIfAbsent(design, _ -> new SharedRun((length, _) -> starts(design, length)));
        return new Case("FirstMessage[" + design + "," + part + "]", "ms", run.reading(part));
    }

    private static Map<String, Double> starts(String design, Case.Length length)
            throws IOException, InterruptedException {
        double[] main = new double[length.starts];
        double[] process = new double[length.starts];
        for (int i = 0; i < main.length; i++) {
            long start = System.nanoTime();
            String line = Case.lines(FirstMessage.class, design).getLast();
            process[i] = (System.nanoTime() - start) / 1e6;
            main[i] = Double.parseDouble(line.substring(line.indexOf('=') + 1)) / 1e6;
        }
        return Map.of("main", Medians.of(main), "process", Medians.of(process));
    }

    static Case bystander(String design, String percentile) {
        SharedRun run = BYSTANDERS.computeIfAbsent(
                design,
                _ -> SharedRun.program(
                        TrimBystander.class, length -> List.of(design, length == Case.Length.QUICK ? "700" : "2000")));
        return new Case("TrimBystander[" + design + "," + percentile + "]", "ns", run.reading(percentile));
    }
}
