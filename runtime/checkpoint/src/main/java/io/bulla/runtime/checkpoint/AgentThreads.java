// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Two threads of the machine, its clocks, and chance that no peer can guess.
final class AgentThreads implements Agent {

    private static final Logger LOG = System.getLogger(AgentThreads.class.getPackageName());
    private static final long END_SECONDS = 5;

    private final int rank;
    private final SecureRandom random = new SecureRandom();
    private final ScheduledThreadPoolExecutor decides;
    private final ExecutorService stores;

    AgentThreads(int rank) {
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

    @Override
    public boolean run(Runnable task) {
        try {
            decides.execute(guarded(task));
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }

    @Override
    public Future<?> later(Runnable task, long nanos) {
        try {
            return decides.schedule(guarded(task), nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            CompletableFuture<Void> never = new CompletableFuture<>();
            never.cancel(false);
            return never;
        }
    }

    @Override
    public void block(Runnable task) {
        stores.execute(task);
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public Instant time() {
        return Instant.now();
    }

    @Override
    public long number() {
        return random.nextLong();
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

    @Override
    public void log(String what, Throwable failure) {
        if (failure instanceof IOException trouble) {
            // a medium's, whose message says all
            LOG.log(Level.WARNING, what + " rank=" + rank + " reason=" + trouble.getMessage());
        } else {
            LOG.log(Level.WARNING, what + " rank=" + rank, failure);
        }
    }

    @Override
    public void close() {
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
