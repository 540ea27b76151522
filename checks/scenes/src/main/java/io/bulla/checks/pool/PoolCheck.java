// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.pool.PoolFigures;
import io.bulla.pool.SlabSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A pool under load beside late readers, then the random life of buffers. Arguments: `--seconds N` (by default 60:
/// two thirds for the readers, the rest for the lives), `--operations N` (so many operations of the lives, however
/// long they take; the readers have all seconds then), `--seed N`.
public final class PoolCheck {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private PoolCheck() {}

    /// Ends with a line of figures, and with status 1 if one of them is wrong.
    ///
    /// @param args see above
    /// @throws InterruptedException if the thread is interrupted
    public static void main(String... args) throws InterruptedException {
        List<String> words = List.of(args);
        long seconds = number(words, "--seconds", 60);
        long operations = number(words, "--operations", 0);
        long seed = number(words, "--seed", System.nanoTime());
        System.out.println("pool: seconds=" + seconds + " operations=" + operations + " seed=" + seed);
        long nanos = TimeUnit.SECONDS.toNanos(seconds);
        MemoryBudget budget = new MemoryBudget(1L << 30);
        SlabSource memory =
                SlabSource.builder().budget(budget).idle(Duration.ofMillis(50)).build();
        StaleReader stale = new StaleReader(memory);
        stale.run(operations > 0 ? nanos : nanos * 2 / 3, seed);
        System.out.println("stale reader: " + memory.figures());
        memory.trim();
        long left = memory.figures().liveBytes();
        PoolModel model = new PoolModel(memory);
        left += model.run(operations > 0 ? 0 : nanos / 3, operations, seed);
        PoolFigures figures = memory.figures();
        System.out.println("model: operations=" + model.operations() + " " + figures);
        memory.close(PATIENCE);
        System.out.println("pool: reads=" + stale.reads() + " exceptions=" + stale.exceptions() + " wrong="
                + stale.wrong() + " live=" + left + " budget=" + budget.used());
        if (stale.reads() == 0
                || stale.exceptions() == 0
                || model.operations() < Math.max(1, operations)
                || stale.wrong() + left + budget.used() > 0) {
            System.exit(1);
        }
    }

    private static long number(List<String> words, String name, long otherwise) {
        int at = words.lastIndexOf(name);
        return at < 0 ? otherwise : Long.parseLong(words.get(at + 1));
    }
}
