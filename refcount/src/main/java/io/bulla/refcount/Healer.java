// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import io.bulla.refcount.internal.OwnThread;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The thread that gives back the claims of collected leases, one for all ledgers of the process.
///
/// It belongs to no caller ([OwnThread]). It ignores interrupts and survives whatever a ledger, a resource or a
/// listener throws. Should it be gone, or never have come up for want of memory, the next lease that is opened starts
/// it.
final class Healer {

    static final String NAME = "bulla-lease-healer";

    private static final OwnThread.Report REPORT =
            new OwnThread.Report("io.bulla.refcount", "healing failed, or its listener");

    /// The one of the process.
    static final Healer SHARED = new Healer(Thread::start, System::nanoTime);

    private static final long AGAIN_NANOS = 1_000_000_000;

    private final ReferenceQueue<Lease> collected = new ReferenceQueue<>();
    private final Consumer<Thread> starter;
    private final LongSupplier nanos;
    // volatile: one starter at a time; the others go on without waiting for it
    private final AtomicBoolean starting = new AtomicBoolean();
    // volatile: seen by the thread that opens the next lease
    private volatile @Nullable Thread thread;
    // the starter's
    private long failedAt;
    private boolean failed;

    /// A healer.
    ///
    /// @param starter starts the thread that it is given
    /// @param nanos a clock, in nanoseconds
    Healer(Consumer<Thread> starter, LongSupplier nanos) {
        this.starter = starter;
        this.nanos = nanos;
    }

    /// Where collected leases arrive, with a thread that takes them.
    ReferenceQueue<Lease> queue() {
        Thread now = thread;
        if ((now == null || !now.isAlive()) && starting.compareAndSet(false, true)) {
            try {
                startAgain(now);
            } finally {
                starting.set(false);
            }
        }
        return collected;
    }

    private void startAgain(@Nullable Thread seen) {
        if (thread != seen || failed && nanos.getAsLong() - failedAt < AGAIN_NANOS) {
            return;
        }
        try {
            Thread fresh = OwnThread.of(NAME, this::run);
            starter.accept(fresh);
            thread = fresh;
            failed = false;
        } catch (Throwable noThread) {
            // opening a lease must not fail for want of a thread; a second later the next one tries again
            failed = true;
            failedAt = nanos.getAsLong();
        }
    }

    private void run() {
        while (true) {
            try {
                LeaseLedger.heal(collected.remove());
            } catch (InterruptedException e) {
                // from code that does not know what it is: claims still have to be given back
            } catch (Throwable failure) {
                REPORT.say(failure);
            }
        }
    }
}
