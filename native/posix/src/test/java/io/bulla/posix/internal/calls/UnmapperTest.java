// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.fixtures.Capabilities;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/// The thread that frees does so whatever happens to it, and to the thread that hands over.
class UnmapperTest {

    private static final int PATIENCE_SECONDS = 30;
    private static final int CLONE3 = 435;

    private final AtomicInteger freed = new AtomicInteger();
    private final AtomicReference<Thread> by = new AtomicReference<>();
    // asked while it lives
    private volatile ThreadGroup group;

    private final class One extends Unmapper.Freeable {

        private int failures;

        private One(int failures) {
            this.failures = failures;
        }

        @Override
        public void free() {
            if (failures-- > 0) {
                throw failures % 2 == 0 ? new OutOfMemoryError("as it comes") : new StackOverflowError();
            }
            group = Thread.currentThread().getThreadGroup();
            by.set(Thread.currentThread());
            freed.incrementAndGet();
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - end < 0, "not within " + PATIENCE_SECONDS + " s");
            Thread.sleep(2);
        }
    }

    @Test
    void everyErrorIsSurvivedAndTheThingAskedAgain() throws InterruptedException {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        unmapper.later(new One(3));
        unmapper.later(new One(0));
        await(() -> freed.get() == 2);
        await(() -> unmapper.waiting() == 0);
    }

    @Test
    void interruptsAreIgnored() throws InterruptedException {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        for (int i = 1; i <= 20; i++) {
            int all = i;
            unmapper.later(new One(i % 3));
            Thread thread = by.get();
            if (thread != null) {
                thread.interrupt();
            }
            await(() -> freed.get() == all);
        }
        await(() -> unmapper.waiting() == 0);
        // one that stays would end every pause at once
        Thread last = by.get();
        last.interrupt();
        await(() -> !last.isInterrupted());
    }

    @Test
    void callerFreesWhereNoThreadCanStart() {
        Unmapper unmapper = new Unmapper("test-unmapper", _ -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        unmapper.later(new One(0));
        assertEquals(1, freed.get());
        assertEquals(Thread.currentThread(), by.get());
        assertEquals(0, unmapper.waiting());
    }

    @Test
    void threadIsStartedOnceItCan() throws InterruptedException {
        AtomicInteger refusals = new AtomicInteger(2);
        Unmapper unmapper = new Unmapper("test-unmapper", thread -> {
            if (refusals.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            thread.start();
        });
        // fails in the caller's hands, and no thread is there to ask again
        unmapper.later(new One(1));
        assertEquals(1, unmapper.waiting());
        unmapper.later(new One(0));
        await(() -> unmapper.waiting() == 0);
        assertEquals(2, freed.get());
    }

    /// The kernel refuses the thread, in the middle of a user's `close()`.
    @Test
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void budgetComesBackWhereTheSystemHasNoThread() throws Exception {
        await(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("bulla-unmapper")));
        MemoryBudget budget = new MemoryBudget(1 << 20);
        MemfdSource source = MemfdSource.create(budget, null);
        CompletableFuture<Boolean> filtered = new CompletableFuture<>();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        SealedBuffer buffer = BufferBuilder.create(source).put(new byte[10_000]).seal();
        // sealing has ended a mapping by itself
        Thread.ofPlatform().start(() -> {
            try {
                filtered.complete(Capabilities.forbid(CLONE3));
                buffer.close();
                closed.complete(null);
            } catch (Throwable failure) {
                closed.completeExceptionally(failure);
            }
        });
        Piece.FILTERS.orSkip(filtered.get() ? null : "system calls cannot be filtered");
        closed.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        await(() -> budget.used() == 0);
        BufferBuilder.create(source).put(new byte[10_000]).seal().close();
        await(() -> budget.used() == 0);
    }

    @Test
    void threadBelongsToNoCaller() throws Exception {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        ThreadGroup callers = new ThreadGroup("caller's");
        ClassLoader loader = new ClassLoader(null) {};
        Thread caller = new Thread(callers, () -> unmapper.later(new One(0)), "caller");
        caller.setContextClassLoader(loader);
        caller.setPriority(Thread.MIN_PRIORITY);
        caller.start();
        caller.join();
        await(() -> freed.get() == 1);
        assertNotSame(callers, group);
        assertNull(group.getParent());
        assertNotSame(loader, by.get().getContextClassLoader());
        assertTrue(by.get().isDaemon());
        assertEquals(Thread.NORM_PRIORITY, by.get().getPriority());
        callers.interrupt();
        unmapper.later(new One(0));
        await(() -> freed.get() == 2);
    }

    @Test
    void threadEndsWhenIdleAndComesBack() throws InterruptedException {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        unmapper.later(new One(0));
        await(() -> freed.get() == 1);
        Thread first = by.get();
        await(() -> !first.isAlive());
        unmapper.later(new One(0));
        await(() -> freed.get() == 2);
        assertNotSame(first, by.get());
    }

    /// Ordering 2: a thread that ends all the time forgets none that came beside its end.
    @Test
    void nothingIsForgottenBesideTheEndOfTheThread() throws InterruptedException {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start, 0);
        for (int i = 1; i <= 1_000; i++) {
            int all = i;
            unmapper.later(new One(0));
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (freed.get() < all) {
                assertTrue(System.nanoTime() - end < 0, () -> "forgotten: freed=" + freed + " of=" + all);
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void whatSeveralThreadsHandOverIsFreed() throws InterruptedException {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        int each = 5_000;
        Runnable handsOver = () -> {
            for (int i = 0; i < each; i++) {
                unmapper.later(new One(0));
            }
        };
        Thread other = Thread.ofPlatform().start(handsOver);
        handsOver.run();
        other.join();
        await(() -> unmapper.waiting() == 0);
        assertEquals(2 * each, freed.get());
    }

    @Test
    void oldestIsFreedFirst() {
        Unmapper unmapper = new Unmapper("test-unmapper", _ -> {});
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            unmapper.later(new Unmapper.Freeable() {
                @Override
                public void free() {
                    order.add(number);
                }
            });
        }
        assertTrue(unmapper.freeAll());
        assertEquals(List.of(0, 1, 2, 3), order);
    }

    @Test
    void whatFailedIsAllAskedAgain() throws InterruptedException {
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        CountDownLatch allThere = new CountDownLatch(1);
        unmapper.later(new Unmapper.Freeable() {
            @Override
            public void free() {
                try {
                    allThere.await();
                } catch (InterruptedException _) {
                    // ends with the test
                }
            }
        });
        for (int i = 0; i < 3; i++) {
            unmapper.later(new One(1));
        }
        allThere.countDown();
        await(() -> unmapper.waiting() == 0);
        assertEquals(3, freed.get());
    }

    @Test
    void oneThreadIsStartedByTwoAtOnce() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            AtomicInteger started = new AtomicInteger();
            // never runs, so it is never followed
            Unmapper unmapper = new Unmapper("test-unmapper", _ -> started.incrementAndGet());
            CyclicBarrier both = new CyclicBarrier(2);
            Runnable handsOver = () -> {
                try {
                    both.await();
                } catch (InterruptedException | BrokenBarrierException e) {
                    throw new AssertionError(e);
                }
                unmapper.later(new One(0));
            };
            Thread other = Thread.ofPlatform().start(handsOver);
            handsOver.run();
            other.join();
            assertEquals(1, started.get());
        }
    }

    /// What an error outside its loop does to it.
    @Test
    void deadThreadIsFollowed() throws Exception {
        AtomicReference<Thread> dead = new AtomicReference<>(new Thread());
        dead.get().start();
        dead.get().join();
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        Field thread = Unmapper.class.getDeclaredField("thread");
        thread.setAccessible(true);
        thread.set(unmapper, dead);
        unmapper.later(new One(0));
        await(() -> freed.get() == 1);
    }

    @Test
    void noThreadIsStartedForNothing() {
        AtomicInteger started = new AtomicInteger();
        Unmapper unmapper = new Unmapper("test-unmapper", _ -> started.incrementAndGet());
        assertFalse(unmapper.freeAll());
        assertFalse(unmapper.awaitFreed(System.nanoTime() + 1));
        unmapper.keepUp();
        assertEquals(0, unmapper.waiting());
        assertEquals(0, started.get());
    }

    /// Without it a caller that is faster than the thread fills the process.
    @Test
    void whoTakesMoreFreesWhatWaits() throws InterruptedException {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Unmapper unmapper = new Unmapper("test-unmapper", Thread::start);
        unmapper.later(new Unmapper.Freeable() {
            @Override
            public void free() {
                begun.countDown();
                try {
                    stuck.await();
                } catch (InterruptedException _) {
                    // ends with the test
                }
            }
        });
        begun.await();
        for (int i = 0; i < 3 * Unmapper.MANY; i++) {
            unmapper.keepUp();
            unmapper.later(new One(0));
            assertTrue(unmapper.waiting() <= Unmapper.MANY + 1);
        }
        assertTrue(unmapper.freeAll());
        assertEquals(1, unmapper.waiting());
        assertFalse(unmapper.freeAll());
        stuck.countDown();
        await(() -> unmapper.waiting() == 0);
        assertEquals(3 * Unmapper.MANY, freed.get());
    }
}
