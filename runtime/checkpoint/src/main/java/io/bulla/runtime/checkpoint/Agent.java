// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The two threads of a node's checkpoints: one that decides and never blocks, and one for the store, which may.
final class Agent {

    private static final Logger LOG = System.getLogger(Agent.class.getPackageName());
    private static final long END_SECONDS = 5;

    /// What to do with a result.
    interface Then<T> {

        /// @param result if there is no failure
        void accept(@Nullable T result, @Nullable Throwable failure);
    }

    private final int rank;
    private final ScheduledThreadPoolExecutor decides;
    private final ExecutorService stores;

    Agent(int rank) {
        this.rank = rank;
        this.decides = new ScheduledThreadPoolExecutor(1, task -> thread("bulla-checkpoint-" + rank, task));
        this.decides.setRemoveOnCancelPolicy(true);
        this.decides.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.stores = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> thread("bulla-checkpoint-store-" + rank, task));
    }

    private static Thread thread(String name, Runnable task) {
        return Thread.ofPlatform().daemon().name(name).unstarted(task);
    }

    /// Any thread.
    ///
    /// @return false if this is closed: then nothing happens
    boolean run(Runnable task) {
        try {
            decides.execute(guarded(task));
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }

    /// On the thread that decides.
    Future<?> later(Runnable task, long nanos) {
        return decides.schedule(guarded(task), nanos, TimeUnit.NANOSECONDS);
    }

    /// Does what blocks, and goes on with its result on the thread that decides, if that still runs.
    <T> void store(Callable<T> task, Then<T> then) {
        stores.execute(() -> {
            T result = null;
            Throwable failure = null;
            try {
                result = task.call();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            T done = result;
            Throwable why = failure;
            run(() -> then.accept(done, why));
        });
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable failure) {
                LOG.log(Level.ERROR, "checkpoint failed: rank=" + rank, failure);
            }
        };
    }

    void log(String what, Throwable failure) {
        LOG.log(Level.WARNING, what + ": rank=" + rank, failure);
    }

    /// Does what was asked for, and ends; waits a while for a store that blocks.
    void close() {
        decides.shutdown();
        try {
            decides.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
            stores.shutdown();
            stores.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException stopWaiting) {
            Thread.currentThread().interrupt();
        } finally {
            stores.shutdown();
        }
    }
}
