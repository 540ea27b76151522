// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.refcount.internal.OwnThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The thread that gives memory back, while a source has any. It belongs to no caller ([OwnThread]). It ignores
/// interrupts, and goes on after whatever a step throws.
class Sweeper {

    /// Steps in the idle time: a magazine that is not used in so many is emptied.
    static final int STEPS = 4;

    private static final String NAME = "bulla-pool-sweeper";
    private static final OwnThread.Report REPORT =
            new OwnThread.Report("io.bulla.pool", "giving memory back failed, and is tried again");

    private final BooleanSupplier step;
    private final long pauseNanos;
    // volatile: woken without a lock; written under that of the source
    private volatile @Nullable Thread thread;

    /// @param step returns false when there is nothing more to do, and has called [#ended()] then
    Sweeper(BooleanSupplier step, long pauseNanos) {
        this.step = step;
        this.pauseNanos = pauseNanos;
    }

    /// How long a source's thread pauses, at most 250 ms.
    static long pause(long idleNanos) {
        return Math.clamp(idleNanos / STEPS, 1_000_000, 250_000_000);
    }

    /// Starts the thread unless it runs. Where the machine has none, the next call tries again. Under the source's
    /// lock.
    void start() {
        Thread now = thread;
        if (now != null && now.isAlive()) {
            return;
        }
        try {
            Thread fresh = OwnThread.of(NAME, this::run);
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

    private void run() {
        boolean goesOn = true;
        while (goesOn) {
            LockSupport.parkNanos(this, pauseNanos);
            // an interrupt comes from code that does not know what this is; it would end every pause
            Thread.interrupted();
            try {
                goesOn = step.getAsBoolean();
            } catch (Throwable failure) {
                REPORT.say(failure);
            }
        }
    }
}
