// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.pool.PoolFigures;
import io.bulla.pool.SlabSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A pool under load beside late readers, then the random life of buffers. Arguments: `--seconds N`, `--seed N`.
public final class PoolCheck {

    private static final long MOST_OPERATIONS = 10_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private PoolCheck() {}

    /// Ends with a line of figures, and with status 1 if one of them is wrong.
    ///
    /// @param args see above
    /// @throws InterruptedException if the thread is interrupted
    public static void main(String... args) throws InterruptedException {
        List<String> words = List.of(args);
        long seconds = words.contains("--seconds") ? Long.parseLong(words.get(words.indexOf("--seconds") + 1)) : 60;
        long seed =
                words.contains("--seed") ? Long.parseLong(words.get(words.indexOf("--seed") + 1)) : System.nanoTime();
        System.out.println("pool: seconds=" + seconds + " seed=" + seed);
        MemoryBudget budget = new MemoryBudget(1L << 30);
        SlabSource memory =
                SlabSource.builder().budget(budget).idle(Duration.ofMillis(50)).build();
        StaleReader stale = new StaleReader(memory);
        stale.run(TimeUnit.SECONDS.toNanos(seconds) * 2 / 3, seed);
        System.out.println("stale reader: " + memory.figures());
        memory.trim();
        long left = memory.figures().liveBytes();
        PoolModel model = new PoolModel(memory);
        left += model.run(TimeUnit.SECONDS.toNanos(seconds) / 3, MOST_OPERATIONS, seed);
        PoolFigures figures = memory.figures();
        System.out.println("model: operations=" + model.operations() + " " + figures);
        memory.close(PATIENCE);
        System.out.println("pool: reads=" + stale.reads() + " exceptions=" + stale.exceptions() + " wrong="
                + stale.wrong() + " live=" + left + " budget=" + budget.used());
        if (stale.reads() == 0
                || stale.exceptions() == 0
                || model.operations() == 0
                || stale.wrong() + left + budget.used() > 0) {
            System.exit(1);
        }
    }
}
