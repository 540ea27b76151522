// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.buffer.BuildBenchmark;
import io.bulla.pool.PoolBenchmark;
import java.util.List;

/// Memory that is used again, against memory from elsewhere.
public final class PoolGoals {

    private static final String CHUNK = "chunk=4194304";

    private PoolGoals() {}

    /// The goals, in the order in which they are printed.
    ///
    /// @return a fresh list
    public static List<Goal> all() {
        Case take = pool("takeThenGive");
        Case build = pool("build");
        return List.of(
                Goal.atMost(0.05, "pool-take-netty-pooled", take, pool("nettyPooled")),
                Goal.atMost(0.25, "pool-take-malloc", take, pool("mallocThenFree")),
                Goal.atMost(1.45, "pool-build-1k", build, rival("mallocThenFree")),
                Goal.atMost(0.5, "pool-build-1k-netty-pooled", build, rival("nettyPooled")),
                Goal.atMost(0.5, "pool-build-1k-netty-adaptive", build, rival("nettyAdaptive")),
                Goal.compare("pool-build-1k-arenas", build, pool("buildOnTheDefaultSource")),
                Goal.atMost(1.05, "pool-read-5-stamped", pool("readStamped"), pool("readPlain")),
                Goal.compare("pool-reader-5-stamped", pool("readerOverStamped"), pool("readerOverPlain")));
    }

    private static Case pool(String method) {
        return Case.jmh(PoolBenchmark.class, method, 1);
    }

    private static Case rival(String method) {
        return Case.jmh(BuildBenchmark.class, method, 1, CHUNK);
    }
}
