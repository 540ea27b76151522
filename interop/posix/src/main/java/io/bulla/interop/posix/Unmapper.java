// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// The thread that ends mappings, which costs tens of microseconds that no holder's `close()` should pay. One in
/// the process; it starts with the first mapping to end, and ends when it has had nothing to do for a second.
final class Unmapper {

    /// Something to be freed.
    interface Freeable {

        /// Frees it.
        ///
        /// @throws IllegalStateException if a system call of the JDK is in the memory; asked again later
        void free();
    }

    private static final long RETRY_NANOS = 5_000_000;
    private static final long IDLE_NANOS = 1_000_000_000;

    private static final LinkedTransferQueue<Freeable> JOBS = new LinkedTransferQueue<>();
    // volatile: a guess of whether waiting is worth it
    private static final AtomicLong WAITING = new AtomicLong();
    // volatile: whoever sets it starts the thread; the thread looks for jobs again after it has taken it back
    private static final AtomicBoolean RUNNING = new AtomicBoolean();

    private Unmapper() {}

    /// Frees something soon. Does not block.
    static void later(Freeable one) {
        WAITING.incrementAndGet();
        JOBS.add(one);
        start();
    }

    /// Waits until something more was freed, for those who need the memory.
    ///
    /// @param deadline on the clock of `System.nanoTime`
    /// @return false if nothing waits, or the time is over
    static boolean awaitFreed(long deadline) {
        long before = WAITING.get();
        while (before > 0 && System.nanoTime() < deadline) {
            if (WAITING.get() < before) {
                return true;
            }
            Thread.onSpinWait();
            Thread.yield();
        }
        return false;
    }

    private static void start() {
        if (RUNNING.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name("bulla-unmapper").start(Unmapper::run);
        }
    }

    private static void run() {
        Queue<Freeable> busy = new ArrayDeque<>();
        try {
            while (true) {
                Freeable next = JOBS.poll(busy.isEmpty() ? IDLE_NANOS : RETRY_NANOS, TimeUnit.NANOSECONDS);
                if (next != null) {
                    free(next, busy);
                } else if (busy.isEmpty()) {
                    break;
                } else {
                    for (int i = busy.size(); i > 0; i--) {
                        free(busy.remove(), busy);
                    }
                }
            }
        } catch (InterruptedException nobodyElsesThread) {
            JOBS.addAll(busy);
        }
        RUNNING.set(false);
        if (!JOBS.isEmpty()) {
            start();
        }
    }

    private static void free(Freeable one, Queue<Freeable> busy) {
        try {
            one.free();
            WAITING.decrementAndGet();
        } catch (IllegalStateException inUse) {
            busy.add(one);
        }
    }
}
