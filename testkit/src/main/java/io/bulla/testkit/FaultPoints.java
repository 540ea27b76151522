// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Counts the foreign calls that one thread makes, and fails one of them: the first, the second, the n-th.
///
/// A foreign call is a call of code that a library does not own: a memory source, a listener, a codec, a channel. A
/// double of such a thing calls [#reach] where it does its work, before or after it; [FaultySource] and [FaultyTrace]
/// do so for Bulla's own. Calls of other threads are not counted and never fail, but after [#everyThread].
///
/// ```
/// idle --arm(n, kind)--> armed: the n-th call fails --disarm--> idle
/// ```
///
/// Or, for users beside each other: [#random] points, where one call in so many fails, on any thread.
public final class FaultPoints {

    private static final int LONGEST_PAUSE_NANOS = 200_000;
    private static final Kind[] RANDOM = {Kind.EXCEPTION, Kind.ERROR, Kind.STALL};

    /// How a call fails.
    public enum Kind {
        /// It throws an unchecked exception, or an [IOException] where the call may.
        EXCEPTION,
        /// It throws an [OutOfMemoryError].
        ERROR,
        /// It does not return until other threads have done what they do: for promises that no thread waits.
        STALL,
        /// It calls back into the object that asks it, before it does its work: [FaultRun#callingBack()].
        CALL_BACK
    }

    /// Marks what was thrown by [#reach].
    private sealed interface Injected permits InjectedException, InjectedError, InjectedIoException {}

    private static final class InjectedException extends RuntimeException implements Injected {
        private static final long serialVersionUID = 1;

        InjectedException(String message) {
            super(message);
        }
    }

    private static final class InjectedError extends OutOfMemoryError implements Injected {
        private static final long serialVersionUID = 1;

        InjectedError(String message) {
            super(message);
        }
    }

    private static final class InjectedIoException extends IOException implements Injected {
        private static final long serialVersionUID = 1;

        InjectedIoException(String message) {
            super(message);
        }
    }

    /// Whether a thread's next call fails: from a seed of its own, and not while it checks.
    private static final class Chance {

        private final SplittableRandom random;
        private int paused;

        Chance(long seed) {
            this.random = new SplittableRandom(seed);
        }
    }

    private final int oneIn;
    private final @Nullable ThreadLocal<Chance> chances;
    private final LongAdder failures = new LongAdder();
    private final LongAdder calls = new LongAdder();
    // volatile: other threads ask whether they are the armed one
    private volatile @Nullable Thread armed;
    // volatile: a thread that does not see it yet was not there when it was set
    private volatile boolean everyThread;
    // written before the points are armed
    private long failAt;
    private Kind kind = Kind.EXCEPTION;
    private Runnable stalled = () -> {};
    // volatile: each call of every thread has a number of its own
    private final AtomicLong reached = new AtomicLong();
    // volatile: the call may be another thread's
    private volatile @Nullable String failed;
    // taken while a call stalls, or calls back
    private final Semaphore calling = new Semaphore(1);

    /// Points none of which fails yet.
    public FaultPoints() {
        this.oneIn = 0;
        this.chances = null;
    }

    private FaultPoints(long seed, int oneIn) {
        this.oneIn = oneIn;
        this.chances = ThreadLocal.withInitial(
                () -> new Chance(seed ^ Thread.currentThread().threadId()));
    }

    /// Points of which one call in `oneIn` fails, on every thread: by an exception, an error, or after a pause.
    ///
    /// @param seed for threads that do not [#seed] themselves
    /// @param oneIn at least 1
    /// @return points that are not to be armed
    public static FaultPoints random(long seed, int oneIn) {
        return new FaultPoints(seed, oneIn);
    }

    /// Decides from now on which calls of this thread fail.
    ///
    /// @param seed the same one fails the same calls of a thread that makes the same
    public void seed(long seed) {
        Objects.requireNonNull(chances, "not random").set(new Chance(seed));
    }

    /// Runs something while no call of this thread fails.
    ///
    /// @param work what must not fail
    public void paused(Runnable work) {
        Chance mine = Objects.requireNonNull(chances, "not random").get();
        mine.paused++;
        try {
            work.run();
        } finally {
            mine.paused--;
        }
    }

    /// Calls of random points that failed.
    ///
    /// @return a number that only grows
    public long failures() {
        return failures.sum();
    }

    /// Calls of random points.
    ///
    /// @return a number that only grows
    public long calls() {
        return calls.sum();
    }

    /// Counts the calls of all threads, for an operation that calls back on threads of its own. It has to end them,
    /// or what they do, before it returns.
    public void everyThread() {
        everyThread = true;
    }

    /// Lets the `n`-th call from now on fail, of those that the calling thread makes, or after [#everyThread] any.
    ///
    /// @param n from 1; 0 for no call
    /// @param kind how it fails
    /// @param stalled run by a call that stalls or calls back, in its place; it makes no call that counts
    public void arm(long n, Kind kind, Runnable stalled) {
        this.failAt = n;
        this.kind = kind;
        this.stalled = stalled;
        this.reached.set(0);
        this.failed = null;
        // volatile: last, and the thread that arms is the one that counts
        this.armed = Thread.currentThread();
    }

    /// Counts and fails no more.
    public void disarm() {
        armed = null;
    }

    /// Waits until a call of another thread that stalls, or calls back, has returned: what it calls back holds
    /// handles for a while, also when the operation is over.
    void awaitCall() {
        calling.acquireUninterruptibly();
        calling.release();
    }

    /// A foreign call is being made.
    ///
    /// @param point its name, as `MemorySource.allocate`
    public void reach(String point) {
        if (chances != null) {
            take(point, chances.get());
        } else if (isDue(point)) {
            switch (kind) {
                case EXCEPTION -> throw new InjectedException(message(point));
                case ERROR -> throw new InjectedError(message(point));
                case STALL, CALL_BACK -> stall();
            }
        }
    }

    /// A foreign call that may throw an [IOException] is being made.
    ///
    /// @param point its name, as `ReadableByteChannel.read`
    /// @throws IOException if it is this call's turn, and its kind is [Kind#EXCEPTION]
    public void reachIo(String point) throws IOException {
        if (chances != null) {
            take(point, chances.get());
        } else if (isDue(point)) {
            switch (kind) {
                case EXCEPTION -> throw new InjectedIoException(message(point));
                case ERROR -> throw new InjectedError(message(point));
                case STALL, CALL_BACK -> stall();
            }
        }
    }

    /// Calls counted since [#arm].
    ///
    /// @return at least 0
    public long reached() {
        return reached.get();
    }

    /// The call that failed since [#arm].
    ///
    /// @return its name, or `null` if none did
    public @Nullable String failed() {
        return failed;
    }

    /// Whether a call has called back since [#arm].
    boolean calledBack() {
        return failed != null && kind == Kind.CALL_BACK;
    }

    /// Tells whether a failure comes from here: it, a cause of it or something suppressed in it was injected.
    ///
    /// @param failure any, or `null`
    /// @return false for a failure of another origin
    public static boolean isInjected(@Nullable Throwable failure) {
        return isInjected(failure, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean isInjected(@Nullable Throwable failure, Set<Throwable> seen) {
        if (failure == null || !seen.add(failure)) {
            return false;
        }
        if (failure instanceof Injected || isInjected(failure.getCause(), seen)) {
            return true;
        }
        for (Throwable suppressed : failure.getSuppressed()) {
            if (isInjected(suppressed, seen)) {
                return true;
            }
        }
        return false;
    }

    private void take(String point, Chance mine) {
        if (mine.paused > 0) {
            return;
        }
        calls.increment();
        if (mine.random.nextInt(oneIn) == 0) {
            failures.increment();
            switch (RANDOM[mine.random.nextInt(RANDOM.length)]) {
                case EXCEPTION -> throw new InjectedException(message(point));
                case ERROR -> throw new InjectedError(message(point));
                case STALL, CALL_BACK -> LockSupport.parkNanos(mine.random.nextInt(LONGEST_PAUSE_NANOS));
            }
        }
    }

    private boolean isDue(String point) {
        // volatile: null or another thread's means that this call is not watched
        Thread watched = armed;
        if (watched == null || !everyThread && watched != Thread.currentThread()) {
            return false;
        }
        if (reached.incrementAndGet() != failAt) {
            return false;
        }
        failed = point;
        return true;
    }

    private void stall() {
        if (everyThread) {
            // the number is past: no call after this one fails
            calling.acquireUninterruptibly();
            try {
                // volatile: null means that the operation is over, and nothing waits for this call
                if (armed != null) {
                    stalled.run();
                }
            } finally {
                calling.release();
            }
            return;
        }
        Thread watched = armed;
        armed = null;
        stalled.run();
        armed = watched;
    }

    private static String message(String point) {
        return "injected: point=" + point;
    }
}
