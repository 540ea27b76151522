// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.checks.sim.machines.SimHost;
import io.bulla.runtime.checkpoint.SimulatedCheckpoints;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/// The threads of a simulated process's checkpoints: each step is an event of the world, before which the process may
/// be killed.
final class SimAgent implements SimulatedCheckpoints.Threads {

    private static final long WAKE_UP = 20_000;
    private static final long LOOK = 50_000;

    private final SimHost host;
    private final Runnable beforeStep;
    private final BiConsumer<String, Throwable> trouble;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final Queue<Runnable> stores = new ArrayDeque<>();
    private boolean storing;
    private boolean closed;

    /// @param beforeStep called before each step; it may kill the process
    /// @param trouble told what must not be
    SimAgent(SimHost host, Runnable beforeStep, BiConsumer<String, Throwable> trouble) {
        this.host = host;
        this.beforeStep = beforeStep;
        this.trouble = trouble;
    }

    @Override
    public boolean run(Runnable task) {
        if (closed) {
            return false;
        }
        tasks.add(task);
        host.after(1 + host.random().nextLong(WAKE_UP), () -> step(tasks.poll()));
        return true;
    }

    private void step(Runnable task) {
        beforeStep.run();
        if (!host.isKilled()) {
            try {
                task.run();
            } catch (Throwable failure) {
                trouble.accept("a step fails", failure);
            }
        }
    }

    @Override
    public Future<?> later(Runnable task, long nanos) {
        CompletableFuture<Void> timer = new CompletableFuture<>();
        host.after(nanos, () -> {
            if (!closed && !timer.isDone()) {
                run(() -> {
                    if (timer.complete(null)) {
                        task.run();
                    }
                });
            }
        });
        return timer;
    }

    @Override
    public void block(Runnable task) {
        stores.add(task);
        if (!storing) {
            storing = true;
            host.thread(this::storeAll);
        }
    }

    private void storeAll() {
        while (!stores.isEmpty()) {
            stores.poll().run();
        }
        storing = false;
    }

    @Override
    public void log(String what, Throwable failure) {
        // a warning
    }

    @Override
    public long now() {
        return host.clock();
    }

    @Override
    public Instant time() {
        return Instant.ofEpochSecond(0, host.clock());
    }

    @Override
    public long number() {
        return host.random().nextLong();
    }

    /// On a thread of the process.
    @Override
    public void close() {
        closed = true;
        while (!tasks.isEmpty() || storing) {
            host.sleep(LOOK);
        }
    }
}
