// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import io.bulla.refcount.internal.OwnThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A thread that does a source's work, step by step, and belongs to no caller ([OwnThread]). It ignores interrupts,
/// and goes on after whatever a step throws.
///
/// ```
/// idle --start()--> runs --the work says that it is done, or the thread is gone--> idle
/// ```
public final class Daemon {

    /// The answer of a step when no more is to be done.
    public static final long DONE = -1;

    private static final long AFTER_FAILURE_NANOS = 5_000_000;
    private static final OwnThread.Report REPORT =
            new OwnThread.Report("io.bulla.buffer", "giving memory back failed, and is tried again");

    private final String name;
    private final LongSupplier work;
    private final Consumer<Thread> starter;
    // volatile: a thread that hands over work wakes it without a lock
    private volatile @Nullable Thread thread;

    /// A thread that does not run yet.
    ///
    /// @param name of the thread
    /// @param work one step; returns how long to wait before the next, in nanoseconds, or [#DONE]
    public Daemon(String name, LongSupplier work) {
        this(name, work, Thread::start);
    }

    /// For tests: with a start that may fail.
    ///
    /// @param name of the thread
    /// @param work as above
    /// @param starter starts the thread that it is given, or throws
    public Daemon(String name, LongSupplier work, Consumer<Thread> starter) {
        this.name = name;
        this.work = work;
        this.starter = starter;
    }

    /// Starts the thread, unless it runs.
    ///
    /// @throws OutOfMemoryError if the machine has no thread for it
    public synchronized void start() {
        Thread now = thread;
        if (now == null || !now.isAlive()) {
            Thread fresh = OwnThread.of(name, this::run);
            starter.accept(fresh);
            thread = fresh;
        }
    }

    /// As [#start()], where a failure may not be the caller's: the next one tries again.
    public void tryStart() {
        try {
            start();
        } catch (Throwable noThread) {
            // or no heap, or whatever the system says: what is to be done waits for the next start
        }
    }

    /// Ends its wait, if it waits. Lock-free.
    public void wake() {
        LockSupport.unpark(thread);
    }

    private void run() {
        long wait = 0;
        while (wait != DONE) {
            try {
                if (wait > 0) {
                    LockSupport.parkNanos(this, wait);
                }
                // an interrupt comes from code that does not know what this is; it would end every wait
                Thread.interrupted();
                wait = AFTER_FAILURE_NANOS;
                wait = work.getAsLong();
            } catch (Throwable failure) {
                report(failure);
            }
        }
    }

    /// Says that a step failed, if that is possible.
    ///
    /// @param failure what it threw
    public static void report(Throwable failure) {
        REPORT.say(failure);
    }
}
