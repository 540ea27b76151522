// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The thread on which a node's user code runs, handlers and listeners, one call at a time and without any lock
/// of the library; and what waits for it. A second one checks what the loop has no time for (origins of broadcasts).
public final class HandlerExecutor {

    /// Something to be run, or dropped if the node closes first.
    public abstract static class Item {

        private @Nullable Item next;

        public abstract void run();

        /// Whether it has come so far that it must not be run again, though it failed.
        public boolean isBegun() {
            return true;
        }

        public void drop() {
            // nothing held
        }
    }

    private static final class Items extends IntrusiveStack<Item> {
        @Override
        protected @Nullable Item next(Item item) {
            return item.next;
        }

        @Override
        protected void link(Item item, @Nullable Item next) {
            item.next = next;
        }
    }

    private final Items items = new Items();
    private final String name;
    private final int rank;
    // taken and not run yet: the handlers' thread's, and the loop's while that waits for it; at last the ending one's
    private @Nullable Item rest;
    // to be run before what waits
    private final AtomicReference<@Nullable Item> first = new AtomicReference<>();
    private final Runnable running = this::runAll;
    private final ExecutorService executor;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    // volatile: no order but its own; who reads it late runs one item more
    private volatile boolean closed;
    // volatile: set after items were put, read by the thread that puts the next ones and by each tick
    private volatile boolean asleep;
    // the loop's: what it holds, the newest first, each linked to the one before it
    private @Nullable Item held;
    private @Nullable Item oldestHeld;
    // volatile: the loop that holds; compared with the reader's own thread, which wrote it if they are the same
    private volatile @Nullable Thread holder;
    // volatile: compared with the reader's own thread, which wrote it if they are the same
    private volatile @Nullable Thread runner;

    public HandlerExecutor(String name, int rank, ThreadFactory threads) {
        this.name = name;
        this.rank = rank;
        this.executor =
                new ThreadPoolExecutor(
                        1,
                        1,
                        0,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        task -> named(threads.newThread(task))) {
                    @Override
                    protected void terminated() {
                        dropRest();
                        dropAll();
                        ended.complete(null);
                    }
                };
    }

    private Thread named(Thread thread) {
        thread.setName(name + "-" + rank);
        return thread;
    }

    public void put(Item item) {
        if (isHeldHere()) {
            // it is behind what this thread holds
            letGo();
        }
        if (items.put(item) || asleep) {
            wake();
        }
    }

    /// Keeps it until [#letGo], which has to follow: one step and one wake-up for all that is held. On the loop.
    void hold(Item item) {
        if (held == null) {
            oldestHeld = item;
            if (!isHeldHere()) {
                holder = Thread.currentThread();
            }
        }
        item.next = held;
        held = item;
    }

    /// Puts what is held. On the loop, or once that has ended.
    void letGo() {
        if (putHeld() || asleep) {
            wake();
        }
    }

    /// @return true if something was held, and nothing waited: the thread has to be woken
    private boolean putHeld() {
        Item newest = held;
        Item oldest = oldestHeld;
        if (newest == null || oldest == null) {
            return false;
        }
        held = null;
        oldestHeld = null;
        return items.putAll(newest, oldest);
    }

    private boolean isHeldHere() {
        return Thread.currentThread() == holder;
    }

    /// Puts it before all that waits, unless something else is there.
    public void putFirst(Item item) {
        // release: it is seen by who takes it, and before the one that is put behind it
        if (!first.compareAndSet(null, item)) {
            put(item);
            return;
        }
        put(new Item() {
            @Override
            public void run() {
                // wakes
            }
        });
    }

    private @Nullable Item takeFirst() {
        // volatile: a guess; one that is late is made again before the item that was put behind it
        return first.get() == null ? null : first.getAndSet(null); // acquire: the item is seen
    }

    /// Runs something of the user's in its turn.
    public void tell(Runnable listener) {
        put(new Item() {
            @Override
            public void run() {
                try {
                    listener.run();
                } catch (Throwable failure) {
                    NodeLog.failed(Trouble.LISTENER, rank, failure);
                }
            }
        });
    }

    /// Tries once more what had no thread.
    public void tick() {
        if (asleep) {
            wake();
        }
    }

    /// Whether the caller is user code that this runs.
    public boolean isRunningHere() {
        return Thread.currentThread() == runner;
    }

    /// Ends the thread after what it runs now, and drops the rest.
    public void close() {
        closed = true;
        executor.shutdown();
        if (isHeldHere()) {
            putHeld();
        }
        dropAll();
    }

    /// Completes when the thread has ended.
    public CompletionStage<Void> ended() {
        return ended;
    }

    private void wake() {
        // before the try, which may set it again
        asleep = false;
        try {
            executor.execute(running);
        } catch (RejectedExecutionException isClosed) {
            dropAll();
        } catch (Throwable noThread) {
            asleep = true;
            NodeLog.failed(Trouble.NO_HANDLER_THREAD, rank, noThread);
        }
    }

    private void runAll() {
        runner = Thread.currentThread();
        if (rest != null && !runRest()) {
            return;
        }
        rest = items.takeInOrder();
        runRest();
    }

    /// @return false if what is left is to be tried again later
    private boolean runRest() {
        while (rest != null) {
            Item before = takeFirst();
            if (before != null) {
                finish(before, closed);
            }
            Item item = rest;
            rest = item.next;
            item.next = null;
            // read once: an item that did not begin is dropped by the close that comes meanwhile
            boolean over = closed;
            finish(item, over);
            if (!over && !item.isBegun()) {
                // it stays the first one, until there is memory
                item.next = rest;
                rest = item;
                asleep = true;
                return false;
            }
        }
        return true;
    }

    /// When the thread has ended.
    private void dropRest() {
        for (Item item = rest; item != null; item = rest) {
            rest = item.next;
            item.next = null;
            finish(item, true);
        }
    }

    /// All that is to be run, in order. On the loop, while an item that runs waits for it.
    public List<Item> waiting() {
        putHeld();
        List<Item> waiting = new ArrayList<>();
        Item last = null;
        for (Item item = rest; item != null; item = item.next) {
            waiting.add(item);
            last = item;
        }
        Item newer = items.takeInOrder();
        if (last == null) {
            rest = newer;
        } else {
            last.next = newer;
        }
        for (Item item = newer; item != null; item = item.next) {
            waiting.add(item);
        }
        return waiting;
    }

    private void dropAll() {
        Item before = takeFirst();
        if (before != null) {
            finish(before, true);
        }
        for (Item item = items.takeInOrder(); item != null; item = item.next) {
            finish(item, true);
        }
    }

    /// A failure of one item costs those behind it nothing.
    private void finish(Item item, boolean drop) {
        try {
            if (drop) {
                item.drop();
            } else {
                item.run();
            }
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.HANDLER, rank, failure);
        }
    }
}
