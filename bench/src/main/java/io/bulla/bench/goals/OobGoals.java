// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.oob.BareSockets;
import io.bulla.bench.oob.ChainCost;
import io.bulla.bench.oob.NettyPipeline;
import io.bulla.bench.oob.OobPipeline;
import io.bulla.bench.oob.XcastCost;
import java.util.ArrayList;
import java.util.List;

/// What the out-of-band channel may cost: programs, for each needs event loops of its own.
public final class OobGoals {

    private static final int MESSAGE = 4 << 20;
    private static final int LONG_MESSAGE = 64 << 20;
    private static final String DEFAULT_FRAGMENT = "0";
    private static final int[] FRAGMENTS = {128 << 10, 256 << 10, 1 << 20, 2 << 20};
    private static final int[] TLS_BYTES = {64, 64 << 10, 1 << 20};

    private OobGoals() {}

    public static List<Goal> all() {
        List<Goal> goals = new ArrayList<>();
        xcast(goals);
        chain(goals);
        small(goals);
        bulk(goals);
        return goals;
    }

    private static void xcast(List<Goal> goals) {
        Case shared = xcast("ms", 64, MESSAGE, DEFAULT_FRAGMENT, "shared", "time");
        Case reused = xcast("ms", 64, MESSAGE, DEFAULT_FRAGMENT, "shared", "time", "reused");
        Case message = Case.value("message-4m", "bytes", () -> MESSAGE);
        goals.add(Goal.timesFaster(
                1.5, "oob-xcast-64-4m", shared, xcast("ms", 64, MESSAGE, DEFAULT_FRAGMENT, "copy", "time")));
        goals.add(Goal.compare("oob-xcast-64-4m-floor", shared, Case.program("ms", BareSockets.class, "kept")));
        goals.add(Goal.compare("oob-xcast-64-4m-floor-fresh", shared, Case.program("ms", BareSockets.class, "fresh")));
        goals.add(Goal.compare("oob-xcast-64-4m-reused", shared, reused));
        Case pooled = xcast("ms", 64, MESSAGE, DEFAULT_FRAGMENT, "shared", "time", "pool");
        goals.add(Goal.compare("oob-xcast-64-4m-pool", pooled, shared));
        goals.add(
                Goal.atMost(1.6, "oob-xcast-64-4m-pool-floor", pooled, Case.program("ms", BareSockets.class, "kept")));
        goals.add(Goal.compare("oob-xcast-64-4m-reused-floor", reused, Case.program("ms", BareSockets.class, "kept")));
        goals.add(Goal.timesFaster(
                1.5,
                "oob-xcast-64-4m-reused-copy",
                reused,
                xcast("ms", 64, MESSAGE, DEFAULT_FRAGMENT, "copy", "time", "reused")));
        goals.add(Goal.atMost(
                1.05,
                "oob-xcast-64-4m-memory",
                xcast("bytes", 64, MESSAGE, DEFAULT_FRAGMENT, "shared", "memory"),
                message));
        goals.add(Goal.compare(
                "oob-xcast-64-4m-memory-copy",
                xcast("bytes", 64, MESSAGE, DEFAULT_FRAGMENT, "copy", "memory"),
                message));
        Case sixteen = xcast("ms", 16, LONG_MESSAGE, DEFAULT_FRAGMENT, "shared", "time");
        for (int fragment : FRAGMENTS) {
            goals.add(Goal.compare(
                    "oob-xcast-16-64m-fragment-" + fragment,
                    xcast("ms", 16, LONG_MESSAGE, Integer.toString(fragment), "shared", "time"),
                    sixteen));
        }
    }

    private static void chain(List<Goal> goals) {
        Case paced = chain("cut", ChainCost.PACE);
        goals.add(Goal.timesFaster(2, "oob-chain-paced", paced, chain("store", ChainCost.PACE)));
        goals.add(Goal.compare(
                "oob-chain-paced-floor",
                paced,
                Case.value("one-paced-link", "ms", () -> 1e3 * LONG_MESSAGE / ChainCost.PACE)));
        goals.add(Goal.atMost(1 / 0.95, "oob-chain-unpaced", chain("cut", 0), chain("store", 0)));
    }

    private static void small(List<Goal> goals) {
        goals.add(Goal.atMost(
                1 / 0.9, "oob-small", ours("ns", 64, "plain", "thread", "time"), netty(64, "plain", "thread")));
        goals.add(Goal.atMost(
                1 / 0.9, "oob-small-from-loop", ours("ns", 64, "plain", "loop", "time"), netty(64, "plain", "loop")));
        Case limit = Case.value("limit-200", "bytes", () -> 200);
        goals.add(Goal.atMost(1, "oob-send-allocation", ours("bytes", 64, "plain", "thread", "sender"), limit));
        goals.add(Goal.compare("oob-send-allocation-both-ends", ours("bytes", 64, "plain", "thread", "all"), limit));
    }

    private static void bulk(List<Goal> goals) {
        for (int bytes : TLS_BYTES) {
            goals.add(Goal.atMost(
                    1.1,
                    "oob-tls-" + bytes,
                    ours("ns", bytes, "tls", "thread", "time"),
                    netty(bytes, "tls", "thread")));
        }
        for (int bytes : new int[] {TLS_BYTES[1], TLS_BYTES[2]}) {
            boolean large = bytes == TLS_BYTES[2];
            goals.add(Goal.atMost(
                    large ? 0.8 : 1.08,
                    "oob-tls-" + bytes + "-pool",
                    ours("ns", bytes, "tls", "thread", "time", "pool"),
                    netty(bytes, "tls", "thread")));
            goals.add(Goal.atMost(
                    large ? Goal.NONE : 0.95,
                    "oob-tls-" + bytes + "-pool-on-loop",
                    Case.program(
                            "ns",
                            OobPipeline.class,
                            Integer.toString(bytes),
                            "tls",
                            "thread",
                            "time",
                            "pool",
                            "onLoop"),
                    netty(bytes, "tls", "thread")));
            goals.add(Goal.compare(
                    "oob-tls-" + bytes + "-reused",
                    ours("ns", bytes, "tls", "thread", "time", "reused"),
                    netty(bytes, "tls", "thread")));
            goals.add(Goal.compare(
                    "oob-plain-" + bytes,
                    ours("ns", bytes, "plain", "thread", "time"),
                    netty(bytes, "plain", "thread")));
            goals.add(Goal.atMost(
                    large ? 0.95 : 1.1,
                    "oob-plain-" + bytes + "-pool",
                    ours("ns", bytes, "plain", "thread", "time", "pool"),
                    netty(bytes, "plain", "thread")));
            goals.add(Goal.compare(
                    "oob-plain-" + bytes + "-reused",
                    ours("ns", bytes, "plain", "thread", "time", "reused"),
                    netty(bytes, "plain", "thread")));
        }
    }

    private static Case xcast(String unit, int nodes, int bytes, String fragment, String policy, String what) {
        return xcast(unit, nodes, bytes, fragment, policy, what, "fresh");
    }

    private static Case xcast(
            String unit, int nodes, int bytes, String fragment, String policy, String what, String memory) {
        return Case.program(
                unit,
                XcastCost.class,
                Integer.toString(nodes),
                Integer.toString(bytes),
                fragment,
                policy,
                what,
                memory);
    }

    private static Case chain(String relay, long speed) {
        return Case.program("ms", ChainCost.class, relay, Long.toString(speed));
    }

    private static Case ours(String unit, int bytes, String security, String sender, String what) {
        return ours(unit, bytes, security, sender, what, "fresh");
    }

    private static Case ours(String unit, int bytes, String security, String sender, String what, String memory) {
        return Case.program(unit, OobPipeline.class, Integer.toString(bytes), security, sender, what, memory);
    }

    private static Case netty(int bytes, String security, String sender) {
        return Case.program("ns", NettyPipeline.class, Integer.toString(bytes), security, sender);
    }
}
