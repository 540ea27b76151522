// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The thread that gives memory back, while a source has any. It belongs to no caller: its group is the root one,
/// it has the system's class loader and no inherited thread locals. It ignores interrupts, and goes on after
/// whatever a step throws.
final class Sweeper {

    private static final String NAME = "bulla-pool-sweeper";

    private final BooleanSupplier step;
    private final long pauseNanos;
    // volatile: woken without a lock; written under that of the source
    private volatile @Nullable Thread thread;

    /// @param step returns false when there is nothing more to do, and has called [#ended()] then
    Sweeper(BooleanSupplier step, long pauseNanos) {
        this.step = step;
        this.pauseNanos = pauseNanos;
    }

    /// Starts the thread unless it runs. Where the machine has none, the next call tries again. Under the source's
    /// lock.
    void start() {
        Thread now = thread;
        if (now != null && now.isAlive()) {
            return;
        }
        try {
            Thread fresh = new Thread(outermost(), this::run, NAME, 0, false);
            fresh.setDaemon(true);
            fresh.setPriority(Thread.NORM_PRIORITY);
            fresh.setContextClassLoader(ClassLoader.getSystemClassLoader());
            fresh.start();
            thread = fresh;
        } catch (OutOfMemoryError noThread) {
            // memory is handed out all the same
        }
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    /// The thread is going to end: the next start starts another one. Under the source's lock.
    void ended() {
        thread = null;
    }

    private static ThreadGroup outermost() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        return group;
    }

    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            LockSupport.parkNanos(this, pauseNanos);
            // an interrupt comes from code that does not know what this is; it would end every pause
            Thread.interrupted();
            try {
                goesOn = step.getAsBoolean();
            } catch (Throwable failure) {
                report(failure);
            }
        }
    }

    private static void report(Throwable failure) {
        try {
            System.getLogger("io.bulla.pool")
                    .log(System.Logger.Level.ERROR, "giving memory back failed, and is tried again", failure);
        } catch (Throwable unheard) {
            // what counts is that the thread goes on
        }
    }
}
