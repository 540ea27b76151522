// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.ColdReceive;
import io.bulla.iovec.CursorBenchmark;
import io.bulla.posix.SendBenchmark;
import io.bulla.posix.UnixFanOutBenchmark;
import java.util.ArrayList;
import java.util.List;

/// What the way into the kernel may cost.
public final class PosixGoals {

    private PosixGoals() {}

    public static List<Goal> all() {
        Case writev = send("writev");
        Case cursor = Case.jmh(CursorBenchmark.class, "advanceThenWindow", 1);
        List<Goal> goals = new ArrayList<>(List.of(
                Goal.atMost(0.9, "writev-8-regions", writev, send("nioGather")),
                Goal.compare("writev-8-regions-floor", writev, send("baseline")),
                Goal.allocatesNothing("writev-allocation", SendBenchmark.class, "writev"),
                Goal.atMost(
                        1,
                        "send-allocation",
                        Case.jmhAllocation(SendBenchmark.class, "sendShare"),
                        Case.value("handle", "bytes", () -> 32)),
                Goal.atMost(1, "cursor-8-regions", cursor, Case.limit(20, "ns")),
                Goal.compare("cursor-8-regions-floor", cursor, Case.jmh(CursorBenchmark.class, "baseline", 1)),
                Goal.allocatesNothing("cursor-allocation", CursorBenchmark.class, "advanceThenWindow")));
        fanOut(goals, "unix-fan-out-64-256k", 1 << 18, 0.25);
        fanOut(goals, "unix-fan-out-64-4m", 1 << 22, 0.2);
        Case small = HandOver.of("seal", 1 << 12);
        Case large = HandOver.of("seal", 1 << 22);
        goals.add(Goal.compare("hand-over-64-4m", large, HandOver.of("copy", 1 << 22)));
        // 64 bytes are a wake-up of the same JVMs, and little else: more than a hundredth of the copies' time
        goals.add(Goal.atMost(2, "hand-over-64-4m-floor", large, HandOver.of("copy", 64)));
        goals.add(Goal.atMost(2, "hand-over-64-4k-to-64m", HandOver.of("seal", 1 << 26), small));
        goals.add(Goal.compare("hand-over-cold", coldReceive(10), coldReceive(0)));
        return goals;
    }

    private static void fanOut(List<Goal> goals, String name, int size, double wanted) {
        Case shared = fanOut("shared", size);
        goals.add(Goal.atMost(wanted, name, shared, fanOut("copied", size)));
        goals.add(Goal.compare(name + "-as-it-comes", shared, fanOut("copiedAsItComes", size)));
        goals.add(Goal.compare(name + "-pooled", shared, fanOut("copiedPooled", size)));
        goals.add(Goal.compare(name + "-in-turn", shared, fanOut("copiedInTurn", size)));
        goals.add(Goal.compare(name + "-floor", shared, fanOut("baseline", size)));
    }

    private static Case coldReceive(int sleepMillis) {
        return Case.program("us", ColdReceive.class, Integer.toString(sleepMillis));
    }

    private static Case send(String method) {
        return Case.jmh(SendBenchmark.class, method, 1);
    }

    private static Case fanOut(String method, int size) {
        return Case.jmh(UnixFanOutBenchmark.class, method, 1, "size=" + size);
    }
}
