// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RefCountTest {

    private static final int ROUNDS = 8;

    private final Counted thing = new Counted();

    @AfterEach
    void noCellIsLeftBehind() {
        assertEquals(0, Stripes.inUse());
    }

    @Test
    void stripingKeepsTheHoldersAndTheLastReleaseDropsTheCells() {
        thing.retain(9);
        thing.stripe();
        assertTrue(thing.isStriped());
        assertEquals(10, thing.holders());
        assertEquals(Counted.CELLS, Stripes.inUse());
        for (int left = 10; left > 0; left--) {
            assertEquals(0, thing.frees.get(), "freed with holders left: " + left);
            assertEquals(left, thing.holders());
            thing.release();
        }
        assertEquals(1, thing.frees.get());
        assertEquals(0, thing.holders());
        assertFalse(thing.isStriped());
    }

    @Test
    void holdersAreAlikeWhateverCellTheyCameFrom() {
        thing.retain(1);
        thing.stripe();
        for (int home = 0; home < 8; home++) {
            assertTrue(thing.at(home).retain(home));
        }
        assertEquals(30, thing.holders());
        thing.at(2);
        for (int i = 0; i < 30; i++) {
            thing.release();
        }
        assertEquals(1, thing.frees.get());
    }

    @Test
    void foldBringsTheHoldersOfTheCellsBack() {
        thing.retain(9);
        thing.stripe();
        thing.foldByTakingOwn();
        assertFalse(thing.isStriped());
        assertEquals(8, thing.holders());
        assertEquals(0, Stripes.inUse());
        assertEquals(0, thing.frees.get());
        thing.release(8);
        assertEquals(1, thing.frees.get());
    }

    @Test
    void fewHoldersAreNotSpread() {
        thing.stripe();
        assertFalse(thing.isStriped());
        assertEquals(0, Stripes.inUse());
        thing.retain(1);
        thing.stripe();
        assertTrue(thing.isStriped());
        thing.release();
        thing.release();
        thing.stripe();
        assertFalse(thing.isStriped());
        assertEquals(1, thing.frees.get());
    }

    /// Between the look of a thread that stripes and its step, others stripe and fold; the last of them has not come
    /// to giving the folded cells back.
    private static final class FoldedInBetween extends RefCount {

        private final AtomicInteger frees = new AtomicInteger();
        private boolean others = true;

        private FoldedInBetween() {
            super(null);
        }

        @Override
        int cellCount() {
            if (others) {
                others = false;
                stripe();
                cellsOf(this).fold(this);
            }
            return Counted.CELLS;
        }

        @Override
        protected void free() {
            frees.incrementAndGet();
        }
    }

    private static Stripes cellsOf(RefCount count) {
        try {
            Field cells = RefCount.class.getDeclaredField("stripes");
            cells.setAccessible(true);
            return (Stripes) cells.get(count);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /// Another thread shares between the last holder's look and its step.
    @Test
    void lastStepIsNotTakenFromTwoHolders() throws ReflectiveOperationException {
        Method isLast = RefCount.class.getDeclaredMethod("isLast");
        isLast.setAccessible(true);
        assertTrue(thing.retain(1));
        assertEquals(false, isLast.invoke(thing));
        assertEquals(2, thing.holders());
        thing.release(2);
        assertEquals(1, thing.frees.get());
    }

    @Test
    void foldersAtOnceCarryEachCellOverOnce() throws InterruptedException {
        for (int round = 0; round < 2_000; round++) {
            Counted count = new Counted();
            count.retain(9);
            count.stripe();
            Stripes cells = cellsOf(count);
            AtomicInteger there = new AtomicInteger();
            Runnable folds = () -> {
                there.incrementAndGet();
                while (there.get() < 2) {
                    Thread.yield();
                }
                cells.fold(count);
            };
            Thread other = Thread.ofPlatform().start(folds);
            folds.run();
            other.join();
            cells.drop();
            assertFalse(count.isStriped());
            assertEquals(10, count.holders());
            count.release(10);
            assertEquals(1, count.frees.get());
        }
    }

    @Test
    void freshCellsGiveBackThoseWhoseFolderIsLate() {
        FoldedInBetween count = new FoldedInBetween();
        count.retain(9);
        count.stripe();
        assertTrue(count.isStriped());
        assertEquals(10, count.holders());
        assertEquals(Counted.CELLS, Stripes.inUse());
        count.release(10);
        assertEquals(1, count.frees.get());
    }

    @Test
    void countOfManyFromTheStartHasThemAndTheUsualCells() {
        AtomicInteger frees = new AtomicInteger();
        RefCount many = new RefCount(null, 100) {
            @Override
            protected void free() {
                frees.incrementAndGet();
            }
        };
        assertEquals(100, many.holders());
        many.stripe();
        assertEquals(Stripes.CELLS, Stripes.inUse());
        many.release(99);
        assertEquals(0, frees.get());
        many.release();
        assertEquals(1, frees.get());
    }

    @Test
    void stripingAStripedCountChangesNothing() {
        thing.retain(9);
        thing.stripe();
        thing.stripe();
        assertEquals(Counted.CELLS, Stripes.inUse());
        assertEquals(10, thing.holders());
        thing.release(10);
        assertEquals(1, thing.frees.get());
    }

    @Test
    void countThatFoldedEightTimesStaysOneWord() {
        thing.retain(1000);
        int rounds = 0;
        for (int i = 0; i < 2 * ROUNDS; i++) {
            thing.stripe();
            if (thing.isStriped()) {
                rounds++;
                thing.foldByTakingOwn();
            }
        }
        assertEquals(ROUNDS, rounds);
        thing.release((int) thing.holders());
        assertEquals(1, thing.frees.get());
    }

    @Test
    void manyHoldersComeInOneStep() throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong torn = new AtomicLong();
        Thread observer = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                long seen = thing.holders();
                if (seen != 1 && seen != 65) {
                    torn.set(seen);
                }
            }
        });
        for (int i = 0; i < 200_000; i++) {
            thing.retain(64);
            thing.release(64);
        }
        stop.set(true);
        observer.join();
        assertEquals(0, torn.get());
        thing.release();
        assertEquals(1, thing.frees.get());
    }

    @Test
    void lateRetainBesideTheLastReleaseFreesOnce() throws InterruptedException {
        for (int run = 0; run < 20; run++) {
            Counted[] counts = new Counted[2000];
            Arrays.setAll(counts, i -> new Counted());
            SideBySide.run(counts.length, i -> counts[i].release(1), i -> {
                if (counts[i].retain(1)) {
                    counts[i].release(1);
                }
            });
            for (Counted count : counts) {
                assertEquals(1, count.frees.get());
                assertEquals(0, count.holders());
            }
        }
        thing.release();
    }

    @Test
    void retainOfNoneCountsNoneAndTellsWhetherItLives() {
        assertTrue(thing.retain(0));
        assertEquals(1, thing.holders());
        thing.release();
        assertFalse(thing.retain(0));
    }

    @Test
    void lateRetainsAfterAStripedEndFailAndUndoThemselves() {
        thing.retain(9);
        thing.stripe();
        thing.release(10);
        for (int k : new int[] {1, 3, 64, Integer.MAX_VALUE}) {
            assertFalse(thing.retain(k));
            assertEquals(0, thing.holders());
        }
        assertEquals(1, thing.frees.get());
    }

    @Test
    void numbersBeyondAnyHeapAreCounted() {
        for (int i = 0; i < 1000; i++) {
            assertTrue(thing.retain(Integer.MAX_VALUE));
        }
        long all = 1000L * Integer.MAX_VALUE + 1;
        assertEquals(all, thing.holders());
        assertFalse(thing.isStriped());
        thing.stripe();
        assertTrue(thing.isStriped());
        assertEquals(all, thing.holders());
        for (int i = 0; i < 1000; i++) {
            assertTrue(thing.retain(Integer.MAX_VALUE));
        }
        assertEquals(2 * all - 1, thing.holders());
        for (int i = 0; i < 2000; i++) {
            thing.release(Integer.MAX_VALUE);
        }
        assertEquals(1, thing.holders());
        assertEquals(0, thing.frees.get());
        thing.release();
        assertEquals(1, thing.frees.get());
    }

    @Test
    void releaseTooManyIsAnErrorAndFreesNothing() {
        thing.release();
        for (int i = 0; i < 3; i++) {
            assertEquals(
                    "released more often than retained: state=1",
                    assertThrows(IllegalStateException.class, thing::release).getMessage());
        }
        assertEquals(1, thing.frees.get());
        assertEquals(0, thing.holders());
    }

    /// Another thread is in the middle of its fold.
    @Test
    void manyThatFindSomeCellsFoldedAreCountedOnce() {
        thing.retain(39);
        thing.stripe();
        Cells.of(thing).fold(0, thing);
        assertEquals(40, thing.holders());
        assertTrue(thing.at(0).retain(64));
        assertEquals(104, thing.holders());
        assertTrue(thing.at(1).retain(64));
        assertEquals(168, thing.holders());
        assertTrue(thing.at(0).retain(1));
        assertEquals(169, thing.holders());
        for (int i = 0; i < 169; i++) {
            assertEquals(0, thing.frees.get());
            thing.release();
        }
        assertEquals(1, thing.frees.get());
    }

    @Test
    void threadsThatFightStripeTheCount() throws InterruptedException {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "no two threads run at once on one processor");
        thing.retain(99);
        AtomicBoolean stop = new AtomicBoolean();
        // many, so that two of them run at once beside whatever else the machine does
        Thread[] fighters = fighters(8, () -> !stop.get());
        long deadline = System.nanoTime() + 600_000_000_000L;
        while (!thing.isStriped() && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        boolean striped = thing.isStriped();
        stop.set(true);
        join(fighters);
        assertTrue(striped);
        assertEquals(100, thing.holders());
        for (int i = 0; i < 100; i++) {
            thing.release();
        }
        assertEquals(1, thing.frees.get());
    }

    @Test
    void threadsThatShareAndCloseAroundStripingAndFoldingFreeOnce() throws InterruptedException {
        for (int run = 0; run < 200; run++) {
            Counted count = new Counted();
            Claim first = Claim.first(count, null);
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                Claim[] mine = first.shares(16, null);
                threads[i] = Thread.ofPlatform().start(() -> {
                    for (Claim each : mine) {
                        for (int n = 0; n < 10; n++) {
                            each.share().close();
                        }
                        count.stripe();
                        each.close();
                    }
                });
            }
            first.close();
            join(threads);
            assertEquals(1, count.frees.get());
            assertEquals(0, count.holders());
        }
    }

    private Thread[] fighters(int n, BooleanSupplier goOn) {
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                while (goOn.getAsBoolean()) {
                    thing.retain(1);
                    thing.release();
                }
            });
        }
        return threads;
    }

    private static void join(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
