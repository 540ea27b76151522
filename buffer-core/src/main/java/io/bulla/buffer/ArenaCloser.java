// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/// The thread of a source: closes arenas, which costs tens of microseconds that no reader's `close()` should
/// pay, and gives free memory back to the system when it has nothing else to do.
///
/// ```
/// close(chunk)       --> arena closed, tried again while a system call of somebody's holds it
/// quarantine(region) --> waits behind so many bytes of later ones --> searched --> arena closed
/// ```
///
/// When it falls behind, because the program leaves it no processor, those who take new memory close arenas too:
/// memory that waits to be closed is bounded, and is never the reason for a refusal.
///
/// The thread starts with the first chunk or trim, and ends once it is told to and no chunk is left, after a last
/// trim if that is worth it.
final class ArenaCloser {

    /// The most bytes that a checked source keeps poisoned before it frees them.
    static final long QUARANTINE = 16 << 20;

    private static final long BEHIND = 16 << 20;
    private static final long RETRY_NANOS = 5_000_000;
    private static final long PAUSE_NANOS = 20_000;
    private static final long IDLE_NANOS = 500_000_000;
    private static final long WORTH_TRIMMING = 8 << 20;

    private final LinkedTransferQueue<Runnable> jobs = new LinkedTransferQueue<>();
    private final Queue<Chunk> busy = new ArrayDeque<>();
    private final Queue<AloneRegion> quarantined = new ArrayDeque<>();
    // volatile: changed under the lock, so that nobody waits past the last; read outside it as a snapshot
    private final AtomicLong open = new AtomicLong();
    // volatile: counters of bytes, all read as guesses of when to help or to trim. First: handed over and not closed;
    // what a system call holds is not counted
    private final AtomicLong waiting = new AtomicLong();
    private final AtomicLong closedSinceTrim = new AtomicLong();
    // volatile: both written by the thread alone, read as snapshots
    private final AtomicLong lateWrites = new AtomicLong();
    private final AtomicLong trims = new AtomicLong();
    private final LongConsumer giveBack;
    private final long quarantine;
    // both under the lock
    private Thread thread;
    private boolean ended;
    // the rest belongs to the thread
    private long quarantinedBytes;
    private long retried;
    private boolean ending;

    /// @param giveBack told the bytes of each arena after it was closed
    /// @param quarantine bytes to be kept poisoned before they are freed
    ArenaCloser(LongConsumer giveBack, long quarantine) {
        this.giveBack = giveBack;
        this.quarantine = quarantine;
    }

    /// Another chunk is about to be opened: by then the thread is there, and stays.
    synchronized void opening() {
        if (ended) {
            throw new IllegalStateException("memory source already closed");
        }
        start();
        open.incrementAndGet();
    }

    /// A chunk was closed, or could not be opened.
    synchronized void gone() {
        if (open.decrementAndGet() == 0) {
            notifyAll();
        }
    }

    long open() {
        return open.get();
    }

    long lateWrites() {
        return lateWrites.get();
    }

    long trims() {
        return trims.get();
    }

    /// Lock-free: called by the last closer of a buffer.
    void close(Chunk chunk) {
        waiting.addAndGet(chunk.byteSize());
        // the queue's own order: what was done with the chunk before is before the arena's close
        jobs.add(new Closing(this, chunk));
    }

    /// For whoever takes memory: closes arenas in the place of the thread, if that is behind.
    void keepUp() {
        while (waiting.get() > BEHIND && help()) {}
    }

    /// For whoever was refused memory: sees that the bytes which wait to be closed are closed, be it by the
    /// thread.
    ///
    /// @param deadline in the thread's nanoseconds, for a thread that is suspended in the middle
    /// @return false if nothing waited
    boolean awaitClosed(long deadline) {
        if (waiting.get() == 0) {
            return false;
        }
        while (!help() && waiting.get() > 0 && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return System.nanoTime() < deadline;
    }

    /// Lock-free, as [#close(Chunk)].
    void quarantine(AloneRegion region) {
        waiting.addAndGet(region.byteSize());
        jobs.add(() -> keep(region));
    }

    synchronized void trim() {
        if (!ended) {
            start();
        }
        jobs.add(this::trimNow);
    }

    synchronized void end() {
        ended = true;
        jobs.add(this::endQuarantine);
    }

    /// Waits until no chunk is open.
    synchronized boolean awaitNone(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        while (open.get() > 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /// Does one job of closing, if there is one.
    private boolean help() {
        Runnable job = jobs.poll();
        if (job instanceof Closing) {
            job.run();
            return true;
        }
        if (job != null) {
            // the others are the thread's; no order among them matters
            jobs.add(job);
        }
        return false;
    }

    private void start() {
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("bulla-arena-closer").start(this::run);
        }
    }

    private void run() {
        try {
            while (!ending || open.get() > 0) {
                Runnable job = jobs.poll(busy.isEmpty() ? IDLE_NANOS : RETRY_NANOS, TimeUnit.NANOSECONDS);
                if (job != null) {
                    job.run();
                }
                if (!busy.isEmpty() && System.nanoTime() - retried > RETRY_NANOS) {
                    retryBusy();
                } else if (job == null && closedSinceTrim.get() >= WORTH_TRIMMING) {
                    trimNow();
                }
            }
            if (closedSinceTrim.get() >= WORTH_TRIMMING) {
                // by now the program may be on its way down: then nobody needs it
                TimeUnit.NANOSECONDS.sleep(IDLE_NANOS);
                trimNow();
            }
        } catch (InterruptedException e) {
            // a daemon thread of a JVM on its way down
            Thread.currentThread().interrupt();
        }
    }

    private void endQuarantine() {
        ending = true;
        while (!quarantined.isEmpty()) {
            free(quarantined.remove());
        }
    }

    private void retryBusy() {
        retried = System.nanoTime();
        for (int i = busy.size(); i > 0; i--) {
            Chunk chunk = busy.remove();
            if (!tryClose(chunk)) {
                busy.add(chunk);
            }
        }
    }

    private void trimNow() {
        closedSinceTrim.set(0);
        if (Machine.trim()) {
            trims.incrementAndGet();
        }
    }

    private boolean tryClose(Chunk chunk) {
        try {
            chunk.close();
        } catch (IllegalStateException acquired) {
            // a system call of the JDK's still uses it; its end is near
            return false;
        }
        closedSinceTrim.addAndGet(chunk.byteSize());
        giveBack.accept(chunk.byteSize());
        gone();
        return true;
    }

    /// A chunk to be closed, by whoever takes this.
    private record Closing(ArenaCloser closer, Chunk chunk) implements Runnable {

        @Override
        public void run() {
            if (!closer.tryClose(chunk)) {
                closer.jobs.add(() -> closer.busy.add(chunk));
            }
            // after its bytes were given back
            closer.waiting.addAndGet(-chunk.byteSize());
        }
    }

    private void keep(AloneRegion region) {
        quarantined.add(region);
        quarantinedBytes += region.byteSize();
        while (ending ? !quarantined.isEmpty() : quarantinedBytes > quarantine) {
            free(quarantined.remove());
        }
        waiting.addAndGet(-region.byteSize());
    }

    private void free(AloneRegion region) {
        quarantinedBytes -= region.byteSize();
        if (!region.leave()) {
            lateWrites.incrementAndGet();
            System.getLogger("io.bulla.buffer")
                    .log(
                            System.Logger.Level.ERROR,
                            "memory written after it was given back: byteSize=" + region.byteSize());
        }
    }
}
