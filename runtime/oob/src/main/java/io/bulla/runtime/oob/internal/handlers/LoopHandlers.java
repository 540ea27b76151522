// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.runtime.oob.internal.core.FlightEvents;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.machine.Environment;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The handlers that run on the event loop, and who watches that they do not hold it up: a thread that is no node's
/// looks at them, names one that runs for too long, and the loop gives it up when it returns.
public final class LoopHandlers {

    /// How a task gets onto the loop. Any thread.
    public interface Loop {

        /// @param whenDown runs if the loop has ended; perhaps behind the task
        void onLoop(Runnable task, Runnable whenDown);
    }

    // of the thread: whether it runs a handler as an event loop
    private static final ThreadLocal<boolean[]> CALLING = ThreadLocal.withInitial(() -> new boolean[1]);

    private final int rank;
    private final Loop loop;
    private final Environment environment;
    private final long limit;
    // volatile: replaced as one, under the lock of the handlers; the loop and who watches take either
    private volatile LoopHandler[] all = {};
    // volatile: written by the handlers' thread before it asks the loop, which has seen it when it answers
    private volatile boolean standing;
    // volatile: written by the loop, read by the thread that watches it
    private volatile @Nullable Thread thread;
    // the loop's
    private boolean[] calling = {};
    // under the lock of the handlers
    private @Nullable Runnable stopWatching;

    /// @param limit nanoseconds that one call may take
    public LoopHandlers(int rank, Loop loop, Environment environment, long limit) {
        this.rank = rank;
        this.loop = loop;
        this.environment = environment;
        this.limit = limit;
    }

    /// Whether the caller is a handler that runs on an event loop, of this node or another one.
    public static boolean isCallingHere() {
        return !Thread.currentThread().isVirtual() && CALLING.get()[0];
    }

    /// @return `null` if the tag has none. Any thread
    @Nullable
    LoopHandler of(int tag) {
        LoopHandler[] now = all;
        int from = 0;
        for (int to = now.length; from < to; ) {
            int middle = (from + to) >>> 1;
            if (now[middle].tag < tag) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from < now.length && now[from].tag == tag ? now[from] : null;
    }

    /// Whether none may run on the loop. On the loop.
    boolean isStanding() {
        return standing;
    }

    /// Under the lock of the handlers.
    void put(LoopHandler on) {
        LoopHandler[] more = Stream.concat(Arrays.stream(without(on.tag)), Stream.of(on))
                .sorted(Comparator.comparingInt(each -> each.tag))
                .toArray(LoopHandler[]::new);
        if (stopWatching == null) {
            stopWatching = environment.watch().every(Math.max(1, limit / 2), this::look);
        }
        all = more;
    }

    /// Under the lock of the handlers.
    void remove(LoopHandler on) {
        LoopHandler[] less = without(on.tag);
        all = less;
        if (less.length == 0) {
            stopWatching();
        }
    }

    private LoopHandler[] without(int tag) {
        return Arrays.stream(all).filter(each -> each.tag != tag).toArray(LoopHandler[]::new);
    }

    /// Under the lock of the handlers.
    void stopWatching() {
        Runnable stop = stopWatching;
        stopWatching = null;
        if (stop != null) {
            stop.run();
        }
    }

    /// From the return on no handler runs on the loop, until [#goOn]. On the handlers' thread.
    public void stand() {
        standing = true;
        if (all.length > 0) {
            waitFor(() -> {});
        }
    }

    public void goOn() {
        standing = false;
    }

    /// Runs a task on the loop, if that has not ended, behind what it does now. Any thread.
    void later(Runnable task) {
        loop.onLoop(task, () -> {});
    }

    /// Runs a task on the loop, and waits for it: the loop never waits for the handlers' thread, which calls this.
    /// What this throws came before the task was put, or while the loop ends, when it perhaps came behind.
    ///
    /// @return false if the loop has ended; the task has perhaps run, and does not run later
    boolean waitFor(Runnable task) {
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        loop.onLoop(
                () -> {
                    try {
                        task.run();
                    } finally {
                        over.complete(true);
                    }
                },
                () -> over.complete(false));
        return join(over);
    }

    /// Waits, though there is no memory for waiting.
    private static boolean join(CompletableFuture<Boolean> over) {
        while (true) {
            try {
                return over.join();
            } catch (OutOfMemoryError noMemory) {
                Thread.yield();
            }
        }
    }

    /// Before a call begins, on the loop: all that may fail.
    void prepare() {
        if (calling.length == 0) {
            thread = Thread.currentThread();
            calling = CALLING.get();
        }
    }

    /// Around each call, on the loop. Cannot fail.
    void begun() {
        calling[0] = true;
    }

    void ended() {
        calling[0] = false;
    }

    /// One look at what runs now. On the thread that watches; the next look comes only if this one returns.
    private void look() {
        try {
            long now = environment.now();
            for (LoopHandler on : all) {
                long nanos = on.look(now, limit);
                if (nanos > 0) {
                    tell(on, nanos / 1_000_000);
                }
            }
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.WATCH, rank, failure);
        }
    }

    private void tell(LoopHandler on, long millis) {
        Thread of = thread;
        FlightEvents.slow(rank, on.tag, millis);
        Throwable where = new Throwable("the event loop is here");
        if (of != null) {
            where.setStackTrace(of.getStackTrace());
        }
        NodeLog.LOG.log(
                Level.WARNING,
                "handler blocks the event loop: rank=" + rank + " tag=" + on.tag + " millis=" + millis
                        + "; once it returns, the tag's messages go to the handlers' thread",
                where);
    }
}
