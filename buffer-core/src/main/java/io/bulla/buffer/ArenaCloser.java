package io.bulla.buffer;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/// The thread of a source: closes arenas, which costs tens of microseconds that no reader's `close()` should
/// pay, and gives free memory back to the system when it has nothing else to do.
///
/// ```
/// close(chunk)      --> arena closed, tried again while a system call of somebody's holds it
/// quarantine(region) --> waits behind [#QUARANTINE] bytes of later ones --> searched --> arena closed
/// ```
///
/// The thread starts with the first chunk and ends once it is told to and no chunk is left.
final class ArenaCloser {

    /// Bytes that a checked source keeps poisoned before it frees them.
    static final long QUARANTINE = 16 << 20;

    private static final long RETRY_MILLIS = 5;
    private static final long IDLE_MILLIS = 500;
    private static final long WORTH_TRIMMING = 8 << 20;

    private final LinkedTransferQueue<Runnable> jobs = new LinkedTransferQueue<>();
    private final Queue<Chunk> busy = new ArrayDeque<>();
    private final Queue<AloneRegion> quarantined = new ArrayDeque<>();
    private final AtomicLong open = new AtomicLong();
    private final AtomicLong lateWrites = new AtomicLong();
    private final AtomicLong trims = new AtomicLong();
    private final LongConsumer giveBack;
    // both under the lock
    private Thread thread;
    private boolean ended;
    // the rest belongs to the thread
    private long quarantinedBytes;
    private long closedSinceTrim;
    private boolean ending;

    /// @param giveBack told the bytes of each arena after it was closed
    ArenaCloser(LongConsumer giveBack) {
        this.giveBack = giveBack;
    }

    /// Another chunk is about to be opened: by then the thread is there, and stays.
    synchronized void opening() {
        if (ended) {
            throw new IllegalStateException("memory source already closed");
        }
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("bulla-arena-closer").start(this::run);
        }
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
        jobs.add(() -> tryClose(chunk));
    }

    /// Lock-free, as [#close(Chunk)].
    void quarantine(AloneRegion region) {
        jobs.add(() -> keep(region));
    }

    void trim() {
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

    private void run() {
        try {
            while (!ending || open.get() > 0) {
                Runnable job = jobs.poll(busy.isEmpty() ? IDLE_MILLIS : RETRY_MILLIS, TimeUnit.MILLISECONDS);
                if (job == null) {
                    whenIdle();
                } else {
                    job.run();
                }
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

    private void whenIdle() {
        if (!busy.isEmpty()) {
            for (int i = busy.size(); i > 0; i--) {
                tryClose(busy.remove());
            }
        } else if (closedSinceTrim >= WORTH_TRIMMING) {
            trimNow();
        }
    }

    private void trimNow() {
        closedSinceTrim = 0;
        if (Machine.trim()) {
            trims.incrementAndGet();
        }
    }

    private void tryClose(Chunk chunk) {
        try {
            chunk.close();
        } catch (IllegalStateException acquired) {
            // a system call of the JDK's still uses it; its end is near
            busy.add(chunk);
            return;
        }
        closedSinceTrim += chunk.byteSize();
        giveBack.accept(chunk.byteSize());
        gone();
    }

    private void keep(AloneRegion region) {
        quarantined.add(region);
        quarantinedBytes += region.byteSize();
        while (ending ? !quarantined.isEmpty() : quarantinedBytes > QUARANTINE) {
            free(quarantined.remove());
        }
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
