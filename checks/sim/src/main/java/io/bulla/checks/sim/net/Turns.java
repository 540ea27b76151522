// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.bulla.checks.sim.world.Coroutines;
import io.bulla.checks.sim.world.World;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/// When the event loop and the coroutines of one process run. While the process is held up they wait, and once it is
/// killed none of them runs.
public final class Turns {

    private static final long WAKE_UP = 20_000;

    private final World world;
    private final SimProcess process;
    private final SplittableRandom timing;
    private final Runnable loopTurn;
    private final Consumer<Thread> otherThread;
    private final ThreadFactory threads = Coroutines.scheduledBy(this::ready);
    private final Queue<Runnable> held = new ArrayDeque<>();
    private final SimLoop loop;
    private long pausedUntil;
    private long runAt = Long.MAX_VALUE;

    /// @param timing how long each takes to wake up
    /// @param loopTurn runs the loop
    /// @param otherThread told of a thread that makes a coroutine ready and is not the world's
    public Turns(
            World world, SimProcess process, SplittableRandom timing, Runnable loopTurn, Consumer<Thread> otherThread) {
        this.world = world;
        this.process = process;
        this.timing = timing;
        this.loopTurn = loopTurn;
        this.otherThread = otherThread;
        this.loop = new SimLoop(world.thread, process);
    }

    public SimLoop loop() {
        return loop;
    }

    /// Threads that may wait.
    public ThreadFactory threads() {
        return threads;
    }

    /// Something that may wait.
    public Thread thread(Runnable what) {
        Thread thread = threads.newThread(what);
        thread.start();
        return thread;
    }

    /// The loop has something to do.
    public void poke() {
        runAt(world.now() + 1 + timing.nextLong(WAKE_UP));
    }

    private void runAt(long time) {
        long at = Math.max(time, pausedUntil);
        if (at < runAt) {
            runAt = at;
            world.at(at, () -> run(at));
        }
    }

    private void run(long at) {
        if (process.isKilled() || at != runAt) {
            return;
        }
        runAt = Long.MAX_VALUE;
        if (isPaused()) {
            runAt(pausedUntil);
            return;
        }
        world.note(process.rank());
        loopTurn.run();
        long deadline = loop.nextDeadline();
        if (deadline >= 0) {
            runAt(world.now() + Math.max(1, deadline - process.clock()));
        }
    }

    /// A coroutine of the process's may go on.
    private void ready(Runnable continuation) {
        if (Thread.currentThread() != world.thread && !Thread.currentThread().isVirtual()) {
            otherThread.accept(Thread.currentThread());
        }
        inTurn(continuation, 1 + timing.nextLong(WAKE_UP));
    }

    private void inTurn(Runnable what, long nanos) {
        world.after(nanos, () -> {
            if (process.isKilled()) {
                return;
            }
            if (isPaused()) {
                held.add(what);
                return;
            }
            world.note(-1 - process.rank());
            what.run();
        });
    }

    /// Something that the program does at a time of its own; not while it is held up.
    public void later(long nanos, Runnable what) {
        world.after(
                nanos,
                () -> inTurn(
                        () -> {
                            what.run();
                            poke();
                        },
                        0));
    }

    public boolean isPaused() {
        return pausedUntil > world.now();
    }

    /// The process is held up.
    ///
    /// @return how much longer than it was, in nanoseconds
    public long pause(long nanos) {
        long before = Math.max(pausedUntil, world.now());
        pausedUntil = Math.max(pausedUntil, world.now() + nanos);
        world.at(pausedUntil, this::afterPause);
        return pausedUntil - before;
    }

    /// The process goes on.
    ///
    /// @return how much earlier than it would have, in nanoseconds
    public long wake() {
        long left = Math.max(0, pausedUntil - world.now());
        if (left > 0) {
            pausedUntil = world.now();
            afterPause();
        }
        return left;
    }

    private void afterPause() {
        if (!isPaused()) {
            while (!held.isEmpty()) {
                inTurn(held.poll(), 1 + timing.nextLong(WAKE_UP));
            }
            poke();
        }
    }
}
