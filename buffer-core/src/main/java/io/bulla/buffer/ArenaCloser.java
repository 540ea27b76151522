// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.internal.Daemon;
import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.buffer.internal.RetryList;
import io.bulla.refcount.internal.StillHeld;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Closes arenas on a thread of the source's, since that costs tens of microseconds that no reader's `close()`
/// should pay.
///
/// ```
/// close(chunk)       --> arena closed; tried again while a system call holds it, or the close failed
/// quarantine(region) --> waits behind so many bytes of later ones --> searched --> arena closed
/// ```
///
/// When the thread falls behind, because the program leaves it no processor, those who take new memory close arenas
/// too: memory that waits to be closed is bounded, and is never the reason for a refusal.
///
/// The thread starts with the first chunk or trim, and ends once it is told to and no chunk is left, after a last
/// trim if that is worth it. Should it be gone before, the next chunk, refusal or wait for the end starts it again.
final class ArenaCloser {

    private static final long BEHIND = 16 << 20;
    private static final long PAUSE_NANOS = 20_000;
    static final long IDLE_NANOS = 500_000_000;

    private static final class AloneRegions extends IntrusiveStack<AloneRegion> {
        @Override
        protected @Nullable AloneRegion next(AloneRegion region) {
            return region.next;
        }

        @Override
        protected void link(AloneRegion region, @Nullable AloneRegion next) {
            region.next = next;
        }
    }

    // put once per chunk, by its last holder
    private final Chunk.Stack closing = new Chunk.Stack();
    private final RetryList<Chunk> inUse = new RetryList<>(new Chunk.Stack(), System::nanoTime, IDLE_NANOS);
    private final AloneRegions poisoned = new AloneRegions();
    // volatile: changed under the lock, so that no thread waits past the last; read outside it as a snapshot
    private final AtomicLong open = new AtomicLong();
    // volatile: bytes handed over and not closed, a guess of when to help; what a system call holds is not counted
    private final AtomicLong waiting = new AtomicLong();
    private final LongConsumer giveBack;
    private final Quarantine quarantine;
    private final Trimmer trimmer = new Trimmer();
    private final Daemon daemon;
    private final long idleNanos;
    private final StillHeld stillHeld;
    // volatile: written under the lock, seen by the thread when it is woken
    private volatile boolean ended;
    // the thread's
    private long idleSince = System.nanoTime();

    /// @param giveBack told the bytes of each arena after it was closed
    /// @param quarantine bytes to be kept poisoned before they are freed
    ArenaCloser(LongConsumer giveBack, long quarantine) {
        this(giveBack, quarantine, Thread::start);
    }

    /// For tests: with a thread whose start may fail.
    ArenaCloser(LongConsumer giveBack, long quarantine, Consumer<Thread> starter) {
        this(giveBack, quarantine, starter, IDLE_NANOS);
    }

    /// For tests: says nothing of what is held after the end.
    ArenaCloser(LongConsumer giveBack, long quarantine, Consumer<Thread> starter, long idleNanos) {
        this(
                giveBack,
                quarantine,
                starter,
                idleNanos,
                new StillHeld("chunks", StillHeld.GRACE_NANOS, () -> "not traced", line -> {}));
    }

    /// @param idleNanos how long the thread waits with nothing to do, unless it is woken
    /// @param stillHeld looks at what is open once this has ended
    ArenaCloser(LongConsumer giveBack, long quarantine, Consumer<Thread> starter, long idleNanos, StillHeld stillHeld) {
        this.giveBack = giveBack;
        this.idleNanos = idleNanos;
        this.stillHeld = stillHeld;
        this.quarantine = new Quarantine(quarantine);
        this.daemon = new Daemon("bulla-arena-closer", this::step, starter);
    }

    /// Another chunk is about to be opened: by then the thread is there, and stays.
    synchronized void opening() {
        if (ended) {
            throw new IllegalStateException("memory source already closed: openChunks=" + open.get());
        }
        daemon.start();
        open.incrementAndGet();
    }

    /// A chunk was closed, or could not be opened.
    synchronized void gone() {
        if (open.decrementAndGet() == 0) {
            notifyAll();
            daemon.wake();
        }
    }

    long open() {
        return open.get();
    }

    long lateWrites() {
        return quarantine.lateWrites();
    }

    long trims() {
        return trimmer.trims();
    }

    /// Lock-free, and cannot fail: called by the last closer of a buffer.
    void close(Chunk chunk) {
        waiting.addAndGet(chunk.byteSize());
        closing.put(chunk);
        daemon.wake();
    }

    /// For a thread that takes memory: closes arenas in the place of the thread, if that is behind.
    void keepUp() {
        while (waiting.get() > BEHIND && help()) {}
    }

    /// For a thread that was refused memory: sees that the bytes which wait to be closed are closed, be it by the
    /// thread.
    ///
    /// @param deadline in the thread's nanoseconds, for a thread that is suspended in the middle
    /// @return false if nothing waited
    boolean awaitClosed(long deadline) {
        if (waiting.get() == 0) {
            return false;
        }
        daemon.tryStart();
        while (!help() && waiting.get() > 0 && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return System.nanoTime() < deadline;
    }

    /// Lock-free, and cannot fail, as [#close(Chunk)].
    void quarantine(AloneRegion region) {
        waiting.addAndGet(region.byteSize());
        poisoned.put(region);
        daemon.wake();
    }

    synchronized void trim() {
        trimmer.want();
        if (!ended) {
            daemon.start();
        }
        daemon.wake();
    }

    synchronized void end() {
        ended = true;
        daemon.wake();
    }

    /// Waits until no chunk is open.
    boolean awaitNone(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        if (open.get() > 0) {
            daemon.tryStart();
            while (help()) {}
        }
        return awaitLast(deadline);
    }

    private synchronized boolean awaitLast(long deadline) throws InterruptedException {
        while (open.get() > 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /// Closes one chunk, if one waits.
    private boolean help() {
        Chunk chunk = closing.poll();
        if (chunk == null) {
            return false;
        }
        long bytes = chunk.byteSize();
        try {
            if (!tryClose(chunk)) {
                inUse.put(chunk);
            }
        } finally {
            // after they were given back
            waiting.addAndGet(-bytes);
        }
        return true;
    }

    /// Closes a chunk and books it off, if no system call holds it.
    ///
    /// @return whether it is closed
    private boolean tryClose(Chunk chunk) {
        boolean closed = false;
        try {
            closed = chunk.tryClose();
        } catch (Throwable failure) {
            Daemon.report(failure);
        }
        if (closed) {
            bookOff(chunk.byteSize());
        }
        return closed;
    }

    private void bookOff(long bytes) {
        trimmer.closed(bytes);
        try {
            giveBack.accept(bytes);
        } catch (Throwable failure) {
            Daemon.report(failure);
        } finally {
            gone();
        }
    }

    /// What the thread does each time, and how long it waits then. Tests do it in its place.
    long step() {
        if (work()) {
            idleSince = System.nanoTime();
            return 0;
        }
        long idle = System.nanoTime() - idleSince;
        if (trimmer.isWanted() || trimmer.isWorthIt() && idle >= IDLE_NANOS) {
            trimmer.trim();
        }
        if (ended && open.get() == 0 && !trimmer.isWorthIt()) {
            return Daemon.DONE;
        }
        if (ended) {
            stillHeld.look(open.get(), System.nanoTime());
        }
        if (!inUse.isEmpty()) {
            return inUse.pauseNanos();
        }
        return trimmer.isWorthIt() ? Math.max(1, IDLE_NANOS - idle) : idleNanos;
    }

    private boolean work() {
        boolean worked = help();
        worked |= takePoisoned();
        if (ended) {
            quarantine.end();
        }
        inUse.retry(this::tryClose);
        return worked;
    }

    private boolean takePoisoned() {
        AloneRegion oldest = poisoned.takeInOrder();
        long bytes = 0;
        for (AloneRegion one = oldest; one != null; one = one.next) {
            bytes += one.byteSize();
        }
        if (oldest != null) {
            try {
                quarantine.keep(oldest);
            } finally {
                waiting.addAndGet(-bytes);
            }
        }
        return oldest != null;
    }
}
