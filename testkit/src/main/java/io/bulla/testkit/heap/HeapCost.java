// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.heap;

import io.bulla.testkit.internal.ThreadHeap;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.function.IntConsumer;

/// A bound on the heap that work takes on its thread once it is compiled.
///
/// The work runs in batches until one of them keeps the bound: the first ones load and compile classes.
public final class HeapCost {

    /// Rounds of a batch.
    public static final int ROUNDS = 2000;

    private static final int MOST_BATCHES = 40;

    private HeapCost() {}

    /// Holds work to a bound.
    ///
    /// @param most bytes a round, as the mean of a batch
    /// @param before called before each batch, and not measured
    /// @param round the work, told its number from 0 to `ROUNDS - 1`
    /// @throws AssertionError if no batch keeps the bound
    /// @throws IllegalStateException on a virtual thread, whose heap the JVM does not measure
    public static void atMost(int most, Runnable before, IntConsumer round) {
        long bound = (long) most * ROUNDS;
        long least = Long.MAX_VALUE;
        for (int batch = 0; batch < MOST_BATCHES && least > bound; batch++) {
            before.run();
            long start = ThreadHeap.taken();
            for (int i = 0; i < ROUNDS; i++) {
                round.accept(i);
            }
            least = Math.min(least, ThreadHeap.taken() - start);
        }
        if (least > bound) {
            throw new AssertionError(
                    "work takes more heap than it may: bytesARound=" + (double) least / ROUNDS + " most=" + most);
        }
    }

    /// Holds work to a bound on a thread of its own, for work whose cost depends on the kind of thread.
    ///
    /// @param most bytes a round, as the mean of a batch
    /// @param threads makes that thread, no virtual one
    /// @param round the work
    /// @throws AssertionError if no batch keeps the bound, or the work fails
    /// @throws InterruptedException if the caller is interrupted while it waits for the end
    public static void atMost(int most, ThreadFactory threads, Runnable round) throws InterruptedException {
        FutureTask<Void> measured = new FutureTask<>(() -> atMost(most, () -> {}, i -> round.run()), null);
        threads.newThread(measured).start();
        try {
            measured.get();
        } catch (ExecutionException failure) {
            Throwable cause = Objects.requireNonNull(failure.getCause(), "a task fails for a reason");
            throw new AssertionError(cause.getMessage(), cause);
        }
    }
}
