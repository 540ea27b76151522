// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.Burst;
import io.bulla.bench.programs.CloseAcross;
import io.bulla.buffer.BuildBenchmark;
import io.bulla.buffer.ReaderBenchmark;
import io.bulla.pool.PoolBenchmark;
import io.bulla.pool.PoolFloorBenchmark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Memory that is used again, against memory from elsewhere.
public final class PoolGoals {

    private static final String CHUNK = "chunk=4194304";
    private static final Path LIBRARIES = Path.of("/usr/lib");
    private static final Map<String, SharedRun> BURSTS = new HashMap<>();

    private PoolGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        Case take = pool("takeThenGive");
        Case build = pool("build");
        List<Goal> goals = new ArrayList<>(List.of(
                // 6 ns where the floor takes 5.7
                Goal.atMost(1.05, "pool-take", take, Case.jmh(PoolFloorBenchmark.class, "take", 1)),
                Goal.compare("pool-take-netty-pooled", take, pool("nettyPooled")),
                Goal.compare("pool-take-malloc", take, pool("mallocThenFree")),
                Goal.atMost(1.25, "pool-build-1k-floor", build, Case.jmh(PoolFloorBenchmark.class, "life", 1)),
                Goal.atMost(1.25, "pool-build-1k", build, rival("mallocThenFree")),
                Goal.atMost(0.35, "pool-build-1k-netty-pooled", build, rival("nettyPooled")),
                Goal.atMost(0.5, "pool-build-1k-netty-adaptive", build, rival("nettyAdaptive")),
                Goal.compare("pool-build-1k-arenas", build, pool("buildOnTheDefaultSource")),
                Goal.compare("pool-read-5-stamped", pool("readStamped"), pool("readPlain")),
                Goal.atMost(1.5, "pool-read-5-record", pool("recordStamped"), pool("readPlain")),
                Goal.atMost(1.05, "pool-read-5-record-once", pool("recordStampedOnce"), pool("readPlain")),
                Goal.compare("pool-reader-5-stamped", pool("readerOverStamped"), pool("readerOverPlain")),
                Goal.compare("pool-read-1000", reader("pool"), reader("byteBuffer")),
                Goal.compare("pool-read-1000-record", reader("recordOfPool"), reader("byteBuffer")),
                Goal.compare("pool-read-1000-record-once", reader("recordOfPoolOnce"), reader("byteBuffer")),
                // slices of the JDK's segment, each with a fence and one look, take longer than was wanted of the
                // buffer
                Goal.atMost(
                        2,
                        "pool-read-1000-record-once-floor",
                        reader("recordOfPoolOnce"),
                        reader("baselineSlicesLooked")),
                Goal.atMost(2, "pool-close-across", across("pool", "across"), across("pool", "same")),
                Goal.compare("pool-close-across-netty", across("pool", "across"), across("netty", "across"))));
        for (String design : List.of("pool", "pool-huge")) {
            goals.add(Goal.atMost(
                    1.25,
                    "pool-trim-bystander-p99.9" + design.substring("pool".length()),
                    FootprintGoals.bystander(design, "p99.9"),
                    FootprintGoals.bystander("netty-trimmed", "p99.9")));
        }
        goals.add(Goal.atMost(1.12, "pool-burst-1g-most", burst("pool", "peak"), burst("malloc", "peak")));
        Case stays = burst("pool", "after");
        Case floor = burst("objects", "after");
        goals.add(Goal.atMost(1.1, "pool-burst-1g", stays, floor));
        goals.add(Goal.atMost(1.1, "pool-burst-1g-huge", burst("pool-huge", "after"), floor));
        goals.add(Goal.compare("pool-burst-1g-before", stays, burst("pool", "before")));
        goals.add(Goal.compare("pool-burst-1g-arenas", stays, burst("arenas", "after")));
        goals.add(Goal.atMost(1, "pool-burst-1g-netty-adaptive", stays, burst("netty-adaptive", "after")));
        goals.add(Goal.compare("pool-burst-1g-netty-pooled", stays, burst("netty-pooled", "after")));
        goals.add(Goal.compare("pool-burst-1g-malloc", stays, burst("malloc", "after")));
        goals.add(Goal.atMost(1, "pool-burst-1g-jemalloc", stays, preloaded("libjemalloc.so.2")));
        goals.add(Goal.atMost(1, "pool-burst-1g-mimalloc", stays, preloaded("libmimalloc.so.2")));
        return goals;
    }

    private static Case pool(String method) {
        return Case.jmh(PoolBenchmark.class, method, 1);
    }

    private static Case reader(String method) {
        return Case.jmh(ReaderBenchmark.class, method, 1);
    }

    private static Case rival(String method) {
        return Case.jmh(BuildBenchmark.class, method, 1, CHUNK);
    }

    private static Case across(String design, String where) {
        return Case.program("ns", CloseAcross.class, design, where);
    }

    /// Resident bytes of a process, before a burst, while all of it is there, and one second after it.
    private static Case burst(String design, String when) {
        return new Case(
                "Burst[" + design + "," + when + "]", "bytes", run(design).reading(when));
    }

    /// Resident mebibytes of a process so long after a burst has begun, in the same run.
    public static Case burstOverTime(String design, int millis) {
        return new Case(
                "Burst[" + design + "," + millis + "]", "MiB", run(design).reading("millis=" + millis));
    }

    private static SharedRun run(String design) {
        return BURSTS.computeIfAbsent(design, _ -> SharedRun.program(Burst.class, _ -> List.of(design)));
    }

    /// What `malloc` of a library keeps that is loaded before the C library.
    private static Case preloaded(String library) {
        SharedRun run = BURSTS.computeIfAbsent(
                library,
                _ -> new SharedRun(
                        (_, _) -> SharedRun.numbers(Case.linesUnder(found(library), Burst.class, "malloc"))));
        return new Case("Burst[malloc," + library + ",after]", "bytes", run.reading("after"));
    }

    private static Path found(String library) throws IOException, Case.Skipped {
        try (Stream<Path> all = Files.find(LIBRARIES, 2, (path, _) -> path.endsWith(library))) {
            return all.findFirst().orElseThrow(() -> new Case.Skipped(library + " is not installed"));
        }
    }
}
