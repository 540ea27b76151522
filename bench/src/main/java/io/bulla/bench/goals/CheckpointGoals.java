// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.oob.CheckpointTraffic;
import io.bulla.bench.oob.CutCost;
import io.bulla.bench.oob.RestoreCost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// What a checkpoint of a job may cost that goes on meanwhile.
public final class CheckpointGoals {

    private static final SharedRun TRAFFIC = inFolder(CheckpointTraffic.class);
    private static final SharedRun RESTORE = inFolder(RestoreCost.class);

    /// Of what the threads and handles alone take.
    private static final double FLOOR = 1.5;

    private CheckpointGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        return List.of(
                // three threads that wake one another, and 1,000 handles: more than a fifth of the copies of 1 KiB, and
                // more than a thirtieth of those of 16 KiB
                Goal.atMost(FLOOR, "checkpoint-cut-floor", cut(1 << 10, "handles"), cut(1 << 10, "hand-overs")),
                Goal.compare("checkpoint-cut-1k", cut(1 << 10, "handles"), cut(1 << 10, "copies")),
                Goal.compare("checkpoint-cut-16k", cut(16 << 10, "handles"), cut(16 << 10, "copies")),
                Goal.timesFaster(1000, "checkpoint-cut-256k", cut(256 << 10, "handles"), cut(256 << 10, "copies")),
                Goal.atMost(2, "checkpoint-cut-any-size", cut(256 << 10, "handles"), cut(64, "handles")),
                Goal.atMost(
                        2, "checkpoint-longest-wait", traffic("us", "checkpoint wait"), traffic("us", "plain wait")),
                Goal.compare("checkpoint-longest-wait-drain", traffic("us", "drain wait"), traffic("us", "plain wait")),
                Goal.atMost(
                        1 / 0.95,
                        "checkpoint-throughput",
                        traffic("ns", "checkpoint time"),
                        traffic("ns", "plain time")),
                Goal.compare("checkpoint-throughput-drain", traffic("ns", "drain time"), traffic("ns", "plain time")),
                Goal.atMost(1, "checkpoint-bytes", traffic("bytes", "written"), traffic("bytes", "allowed")),
                Goal.compare("checkpoint-restore", restore("restore"), restore("read")),
                Goal.atMost(2, "checkpoint-restore-map", restore("map"), restore("read")),
                Goal.compare("checkpoint-restore-first", restore("map"), restore("start")),
                Goal.compare("checkpoint-restore-verify", restore("restore"), restore("verify")),
                Goal.atMost(1.2, "checkpoint-restore-cold", restore("restore-cold"), restore("fresh-cold")),
                Goal.compare("checkpoint-restore-cold-read", restore("restore-cold"), restore("read-cold")));
    }

    private static Case cut(int bytes, String what) {
        return Case.program("us", CutCost.class, Integer.toString(bytes), what);
    }

    private static Case traffic(String unit, String what) {
        return new Case("CheckpointTraffic[" + what + "]", unit, TRAFFIC.reading(what));
    }

    private static Case restore(String what) {
        return new Case("RestoreCost[" + what + "]", "ms", RESTORE.reading(what));
    }

    /// A program that gets a folder of its own, which is deleted afterwards.
    private static SharedRun inFolder(Class<?> main) {
        return new SharedRun((length, _) -> {
            Path folder = Files.createTempDirectory("checkpoint");
            try {
                return lines(length, main, folder);
            } finally {
                delete(folder);
            }
        });
    }

    private static Map<String, Double> lines(Case.Length length, Class<?> main, Path folder)
            throws IOException, InterruptedException {
        return SharedRun.numbers(Case.lines(length, main, folder.toString()));
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
