// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.Goal;
import io.bulla.bench.goals.Results;
import io.bulla.bench.pictures.Bars;
import io.bulla.buffer.FanOutBenchmark;
import io.bulla.refcount.CountBenchmark;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The picture of the first page: what a user pays for sharing, and for building, which costs more than `malloc`.
final class Overview {

    static final String NAME = "overview";
    static final String TITLE = "What takes how many times as long as Bulla";
    static final String SIGHT = "A bar to the right of the line at 1 is slower than Bulla, a shorter one is faster:"
            + " sharing beats every copy, nothing beats the kernel's own copies, and a fresh KiB costs more than `malloc`'s.";

    private static final String CURVES = "curves";
    private static final String LIFETIME = "lifetime";

    private final Map<String, List<Goal>> goals;
    private final Map<String, Results> results;

    /// @param goals by group
    /// @param results by group
    Overview(Map<String, List<Goal>> goals, Map<String, Results> results) {
        this.goals = goals;
        this.results = results;
    }

    String svg() {
        List<Bars.Group> groups = new ArrayList<>();
        add(
                groups,
                CURVES,
                "Queue 64 KiB for 64 sends and complete them, no kernel",
                new Rival("Netty retainedDuplicate", sends("shared"), sends("nettyRetainedDuplicate")),
                new Rival("a pooled copy per send", sends("shared"), sends("copyPooled")));
        add(
                groups,
                LIFETIME,
                "Share and close one buffer, two threads at once",
                new Rival("Netty retainedDuplicate", twice("shareThenClose"), twice("nettyRetainedDuplicate")));
        add(
                groups,
                "posix",
                "Send 4 MiB to 64 peers over unix sockets",
                goal("posix", "unix-fan-out-64-4m-floor", "the kernel's copies alone"),
                goal("posix", "unix-fan-out-64-4m-pooled", "a pooled copy per send"));
        add(
                groups,
                "posix",
                "Hand 4 MiB to 64 processes of one host, as a descriptor",
                goal("posix", "hand-over-64-4m", "the bytes, by a socket each"));
        add(
                groups,
                "oob",
                "Broadcast 4 MiB to 64 nodes down a tree",
                goal("oob", "oob-xcast-64-4m", "a copy per send"));
        add(groups, "formats", "Pack 1000 int32 as OPAL DSS", goal("formats", "opal-pack", "Open MPI's C library"));
        add(
                groups,
                LIFETIME,
                "Build 1 KiB, seal it, close it",
                goal(LIFETIME, "build-1k-netty-pooled", "Netty, pooled"),
                goal(LIFETIME, "build-1k", "malloc, fill, free"));
        return new Bars(TITLE, groups).svg();
    }

    private record Rival(String label, Case ours, Case theirs) {}

    private Rival goal(String group, String name, String label) {
        Goal goal = goals.get(group).stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
        return new Rival(label, goal.ours(), goal.rival());
    }

    private void add(List<Bars.Group> groups, String group, String what, Rival... rivals) {
        Results measured = results.get(group);
        if (measured == null || measured.of(rivals[0].ours()) == null) {
            return;
        }
        List<Bars.Bar> bars = new ArrayList<>();
        bars.add(Drawing.bar("Bulla", rivals[0].ours(), rivals[0].ours(), measured));
        for (Rival rival : rivals) {
            if (measured.of(rival.theirs()) != null) {
                bars.add(Drawing.bar(rival.label(), rival.ours(), rival.theirs(), measured));
            }
        }
        groups.add(new Bars.Group(what, bars));
    }

    private static Case sends(String method) {
        return Case.jmh(FanOutBenchmark.class, method, 1, "size=65536", "fanOut=64");
    }

    private static Case twice(String method) {
        return Case.jmh(CountBenchmark.class, method, 2);
    }
}
