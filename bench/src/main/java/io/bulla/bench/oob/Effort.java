// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import java.util.concurrent.TimeUnit;

/// How long a program warms up, and how much it measures afterwards. On two processors the compilers need some
/// seconds until they are out of the way of the event loops: after half a second, a broadcast took half as long
/// again as after five.
public enum Effort {
    QUICK(2_000, 9, 4),
    NORMAL(6_000, 25, 7);

    /// The property that says which.
    public static final String PROPERTY = "bulla.bench.effort";

    final long warmupMillis;
    final int rounds;
    final int windows;

    Effort(long warmupMillis, int rounds, int windows) {
        this.warmupMillis = warmupMillis;
        this.rounds = rounds;
        this.windows = windows;
    }

    /// What this process was told.
    static Effort ofProcess() {
        return valueOf(System.getProperty(PROPERTY, NORMAL.name()));
    }

    /// Whether something that began at `start` has gone on for long enough to be measured.
    ///
    /// @param start by [System#nanoTime()]
    boolean isWarm(long start) {
        return System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(warmupMillis);
    }
}
