// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.refcount.internal.OwnThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A thread that frees what takes too long for a holder's `close()`: ends mappings, which costs tens of
/// microseconds each, or closes descriptors that another process chose. One of each kind in the process.
///
/// ```
/// later --> stack of new ones --> taken in order --> freed
///                                      ^               | failed: asked again after a pause
///                                      +---------------+
/// ```
///
/// It starts with the first thing to free, and ends when it has had nothing to do for a second. It belongs to no
/// caller ([OwnThread]). No interrupt and no error ends it, and if it cannot
/// start, the caller frees in its place. Handing over allocates nothing, so it works while memory runs out.
///
/// Ordering
/// 1. **What is freed was handed over whole.** It passes through an [IntrusiveStack].
/// 2. **None is forgotten.** The thread gives its place back first, and looks at the stack again after that; who
///    pushes looks for a thread after the push.
public final class Unmapper {

    /// Something to be freed. It is in one list at a time.
    public abstract static class Freeable {

        private @Nullable Freeable next;

        /// Frees it, or what is left of it when it was asked before.
        ///
        /// @throws RuntimeException if it cannot be freed now: asked again later, as after any error
        public abstract void free();
    }

    private static final class Pushed extends IntrusiveStack<Freeable> {
        @Override
        protected @Nullable Freeable next(Freeable one) {
            return one.next;
        }

        @Override
        protected void link(Freeable one, @Nullable Freeable next) {
            one.next = next;
        }
    }

    /// Ends mappings.
    public static final Unmapper MAPPINGS = new Unmapper("bulla-unmapper");
    /// Closes descriptors that came from another process.
    public static final Unmapper FOREIGN = new Unmapper("bulla-discarder");

    /// With more than these waiting, a thread that takes another one frees one first. A process may have 65,530
    /// mappings and often 1,024 descriptors.
    public static final int MANY = 512;

    private static final long SHORTEST_PAUSE_NANOS = 5_000_000;
    private static final long LONGEST_PAUSE_NANOS = 320_000_000;
    private static final long IDLE_NANOS = 1_000_000_000;

    private final String name;
    private final Consumer<Thread> starting;
    private final long idleNanos;
    // ordering 1
    private final Pushed pushed = new Pushed();
    // volatile: a guess of whether helping or waiting is worth it
    private final AtomicInteger waiting = new AtomicInteger();
    // volatile: ordering 2; who changes it from null starts the thread
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    // both under the lock: taken and not freed yet, oldest first; failed, to be asked again
    private @Nullable Freeable taken;
    private @Nullable Freeable failed;

    private Unmapper(String name) {
        this(name, Thread::start);
    }

    /// @param starting starts a thread, and may fail
    Unmapper(String name, Consumer<Thread> starting) {
        this(name, starting, IDLE_NANOS);
    }

    /// @param idleNanos how long the thread has nothing to do before it ends
    Unmapper(String name, Consumer<Thread> starting, long idleNanos) {
        this.name = name;
        this.starting = starting;
        this.idleNanos = idleNanos;
    }

    /// Frees something soon: the thread does, or the caller if there can be no thread. Does not block otherwise,
    /// and cannot fail.
    public void later(Freeable one) {
        waiting.incrementAndGet();
        pushed.put(one);
        if (!runs()) {
            while (help()) {}
        }
    }

    /// Mappings that were handed over and are not freed.
    public int waiting() {
        return waiting.get();
    }

    /// For a thread that takes more of what is freed here: frees some itself while too many wait.
    public void keepUp() {
        if (waiting.get() > MANY) {
            runs();
            while (waiting.get() > MANY && help()) {}
        }
    }

    /// For a thread that was refused what is freed here: frees all that waits.
    ///
    /// @return false if nothing was freed
    public boolean freeAll() {
        if (waiting.get() == 0) {
            return false;
        }
        runs();
        boolean freed = false;
        for (int i = waiting.get(); i > 0 && help(); i--) {
            freed = true;
        }
        return freed;
    }

    /// Waits until something more was freed, for those who need the memory.
    ///
    /// @param deadline on the clock of `System.nanoTime`
    /// @return false if nothing waits, or the time is over
    public boolean awaitFreed(long deadline) {
        int before = waiting.get();
        if (before > 0) {
            runs();
        }
        while (before > 0 && System.nanoTime() - deadline < 0) {
            if (waiting.get() < before || help()) {
                return true;
            }
            // another thread is freeing the last ones, or a system call holds them
            Thread.yield();
        }
        return false;
    }

    /// @return false if nothing waits but what has failed, or it fails now
    private boolean help() {
        Freeable one = take();
        return one != null && free(one);
    }

    private synchronized @Nullable Freeable take() {
        if (taken == null) {
            // ordering 1
            taken = pushed.takeInOrder();
        }
        Freeable one = taken;
        if (one != null) {
            taken = one.next;
            one.next = null;
        }
        return one;
    }

    private boolean free(Freeable one) {
        try {
            one.free();
        } catch (Throwable notNow) {
            synchronized (this) {
                one.next = failed;
                failed = one;
            }
            if (thread.get() != Thread.currentThread()) {
                // a helper asks once; that there is one who asks again
                runs();
            }
            return false;
        }
        waiting.decrementAndGet();
        return true;
    }

    private synchronized boolean hasFailed() {
        return failed != null;
    }

    private synchronized boolean hasWork() {
        return !pushed.isEmpty() || taken != null || failed != null;
    }

    /// Those that failed are asked again, after those that wait.
    private synchronized void again() {
        while (failed != null) {
            Freeable one = failed;
            failed = one.next;
            pushed.put(one);
        }
    }

    /// Wakes the thread, or starts one.
    ///
    /// @return false if there can be none
    private boolean runs() {
        Thread current = thread.get();
        // one that an error ended outside its loop has left its name here
        if (current != null && current.getState() != Thread.State.TERMINATED) {
            LockSupport.unpark(current);
            return true;
        }
        try {
            Thread next = OwnThread.of(name, this::run);
            if (thread.compareAndSet(current, next)) {
                try {
                    starting.accept(next);
                } catch (Throwable refused) {
                    thread.compareAndSet(next, null);
                    throw refused;
                }
            }
            return true;
        } catch (Throwable noThread) {
            return false;
        }
    }

    private void run() {
        long pause = SHORTEST_PAUSE_NANOS;
        long idleSince = System.nanoTime();
        while (true) {
            Freeable one = take();
            if (one != null) {
                pause = free(one) ? SHORTEST_PAUSE_NANOS : pause;
                idleSince = System.nanoTime();
                continue;
            }
            boolean someFailed = hasFailed();
            if (!someFailed && System.nanoTime() - idleSince > idleNanos) {
                // volatile: ordering 2
                thread.set(null);
                if (!hasWork() || !thread.compareAndSet(null, Thread.currentThread())) {
                    return;
                }
                continue;
            }
            // an interrupt would make every pause end at once; it means nothing here
            Thread.interrupted();
            LockSupport.parkNanos(this, someFailed ? pause : idleNanos);
            if (someFailed) {
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
                again();
            }
        }
    }
}
