// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.pool.Slab.Slot;
import io.bulla.refcount.internal.StillHeld;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The steps of a source's thread, each taken by the test: the thread itself is never started.
class SlabsTest {

    private static final long SLAB = SlabSource.SLAB;
    private static final int PAGE = 4096;
    private static final int PAGES = SizeClasses.of(PAGE);
    private static final long HOUR = Duration.ofHours(1).toNanos();

    private final MemoryBudget budget = new MemoryBudget(4 * SLAB);
    private final List<String> said = new ArrayList<>();
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger endFails = new AtomicInteger();
    private boolean takeFails;
    private boolean keepsAddresses;
    private boolean endFailsForGood;
    private ByHand hand;
    private final SlotCaches caches = caches(HOUR);
    private final Slabs slabs = caches.slabs();

    private SlotCaches caches(long idleNanos) {
        return new SlotCaches(
                this::memory,
                budget,
                1 << 20,
                idleNanos,
                step -> hand = new ByHand(step),
                new StillHeld("slabs", 0, () -> "not traced", said::add));
    }

    private SlabSupplier.Memory memory(long bytes) {
        taken.incrementAndGet();
        if (takeFails) {
            throw new OutOfMemoryError("by the test");
        }
        SlabSupplier.Memory arena = SlabSupplier.arenas().take(bytes);
        return new SlabSupplier.Memory() {
            @Override
            public MemorySegment segment() {
                return arena.segment();
            }

            @Override
            public boolean discard() {
                return keepsAddresses;
            }

            @Override
            public void end() {
                if (endFailsForGood) {
                    throw new InternalError("by the test");
                }
                if (endFails.getAndDecrement() > 0) {
                    throw new IllegalStateException("by the test");
                }
                arena.end();
            }
        };
    }

    private boolean step() {
        return hand.step();
    }

    @AfterEach
    void allIsGivenBack() {
        endFails.set(0);
        endFailsForGood = false;
        slabs.close();
        step();
        assertEquals(0, budget.used());
    }

    @Test
    void threadIsStartedForASlabAndForWhatACloseLeaves() {
        Slot slot = caches.take(SLAB);
        assertEquals(1, hand.started);
        slabs.close();
        assertEquals(2, hand.started);
        caches.giveBack(slot);
    }

    @Test
    void closeThatLeavesNothingStartsNoThread() {
        caches.giveBack(caches.take(SLAB));
        slabs.close();
        assertEquals(1, hand.started, "for the slab");
        assertEquals(0, budget.used());
    }

    @Test
    void threadIsWokenByTheLastRegionOfAClosedSourceAlone() {
        Slot one = caches.take(SLAB);
        Slot other = caches.take(SLAB);
        caches.giveBack(one);
        assertEquals(0, hand.woken);
        slabs.close();
        caches.giveBack(other);
        assertEquals(1, hand.woken);
    }

    @Test
    void whoWaitsForTheEndWakesTheThread() {
        Slot slot = caches.take(SLAB);
        slabs.close();
        caches.giveBack(slot);
        hand.stepsWhenWoken = true;
        int started = hand.started;
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> slabs.awaitNone(HOUR), "it waits");
        assertEquals(0, budget.used());
        assertEquals(started + 1, hand.started, "it may not have come up before");
    }

    @Test
    void whoWaitsForTheEndWithoutTimeDoesNotWait() throws InterruptedException {
        Slot slot = caches.take(SLAB);
        slabs.close();
        Thread.currentThread().interrupt();
        boolean none = slabs.awaitNone(0);
        assertTrue(Thread.interrupted());
        assertFalse(none);
        caches.giveBack(slot);
    }

    @Test
    void whoWaitsForTheEndOfNothingIsTold() throws InterruptedException {
        caches.giveBack(caches.take(SLAB));
        assertEquals(SLAB, slabs.booked());
        slabs.close();
        assertEquals(0, slabs.booked());
        assertTrue(slabs.awaitNone(HOUR));
    }

    @Test
    void closeThatFailsLeavesTheRestToTheThread() {
        caches.giveBack(caches.take(SLAB));
        endFailsForGood = true;
        assertThrows(InternalError.class, slabs::close);
        assertEquals(2, hand.started);
    }

    @Test
    void emptySlabIsTakenBeforeAnother() {
        Slot slot = caches.take(SLAB);
        caches.giveBack(slot);
        caches.giveBack(caches.take(SLAB));
        assertEquals(1, taken.get());
    }

    @Test
    void slabThatWasSeenIsGivenBackByWhoFindsIt() {
        caches.quarantine(caches.take(SLAB));
        assertEquals(SLAB, budget.used());
        assertEquals(0, slabs.open());
        assertEquals(0, budget.used());
    }

    @Test
    void closedSourceSaysWhatWasAskedFor() {
        slabs.close();
        assertEquals(
                "memory source already closed: requested=4096 slabs=0",
                assertThrows(IllegalStateException.class, () -> caches.take(PAGE - 1))
                        .getMessage());
        assertEquals(
                "memory source already closed: requested=2097151 slabs=0",
                assertThrows(IllegalStateException.class, () -> caches.take(SLAB - 1))
                        .getMessage());
        assertEquals(0, taken.get());
    }

    /// A thread that lives, and uses nothing.
    private void besideAnIdleThread(Runnable then) throws InterruptedException {
        CountDownLatch has = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread idle = Thread.ofPlatform().start(() -> {
            caches.giveBack(caches.take(PAGE));
            has.countDown();
            try {
                end.await();
            } catch (InterruptedException over) {
                Thread.currentThread().interrupt();
            }
        });
        has.await();
        try {
            then.run();
        } finally {
            end.countDown();
            idle.join();
        }
    }

    @Test
    void trimTakesWhatAnIdleThreadHasAtHand() throws InterruptedException {
        besideAnIdleThread(() -> {
            slabs.trim();
            assertEquals(0, budget.used());
        });
    }

    @Test
    void stepTakesWhatAnIdleThreadHasAtHand() throws InterruptedException {
        besideAnIdleThread(() -> {
            for (int i = 0; i <= Sweeper.STEPS + 1; i++) {
                step();
            }
            assertEquals(SLAB, slabs.figures().idleBytes());
        });
    }

    @Test
    void emptySlabIsNoOpenOne() {
        Slot slot = caches.take(SLAB);
        assertEquals(1, slabs.open());
        caches.giveBack(slot);
        assertEquals(0, slabs.open());
    }

    @Test
    void threadGoesOnUntilNothingIsBooked() {
        Slot slot = caches.take(SLAB);
        assertTrue(step());
        caches.giveBack(slot);
        assertTrue(step(), "it is idle, and not for long");
        assertEquals(0, hand.ended);
        slabs.trim();
        assertFalse(step());
        assertEquals(1, hand.ended);
    }

    @Test
    void addressesEndWithTheSource() {
        keepsAddresses = true;
        caches.giveBack(caches.take(SLAB));
        slabs.trim();
        assertFalse(step(), "nothing is booked");
        endFails.set(2);
        slabs.close();
        assertEquals(2, hand.started, "the addresses are left");
        assertTrue(step());
        assertEquals(1, hand.ended);
        assertFalse(step());
        assertEquals(2, hand.ended);
    }

    @Test
    void idleSlabIsGivenBackWhenItsTimeIsOver() {
        caches.giveBack(caches.take(SLAB));
        ByHand patient = hand;
        SlotCaches restless = caches(0);
        restless.giveBack(restless.take(SLAB));
        assertFalse(step(), "it was empty before this step");
        restless.slabs().close();
        hand = patient;
        assertTrue(step());
        assertEquals(SLAB, budget.used());
    }

    @Test
    void stepSaysWhatCannotBeGivenBack() {
        ByHand patient = hand;
        SlotCaches restless = caches(0);
        restless.giveBack(restless.take(SLAB));
        endFailsForGood = true;
        assertThrows(InternalError.class, this::step);
        assertEquals(0, hand.ended);
        endFailsForGood = false;
        assertFalse(step());
        restless.slabs().close();
        hand = patient;
    }

    @Test
    void stepSaysWhichAddressesCannotBeGivenBack() {
        keepsAddresses = true;
        caches.giveBack(caches.take(SLAB));
        slabs.trim();
        endFailsForGood = true;
        slabs.close();
        assertThrows(InternalError.class, this::step);
        endFailsForGood = false;
        assertFalse(step());
    }

    @Test
    void supplierThatHasNoMoreIsAskedOnce() {
        takeFails = true;
        boolean refused = false;
        try {
            caches.take(SLAB);
        } catch (OutOfMemoryError full) {
            // JUnit ends the run at such an error
            refused = true;
        }
        assertTrue(refused);
        assertEquals(1, taken.get());
        assertEquals(0, budget.used());
    }

    @Test
    void largestRegionIsRefusedByTheBudgetAlone() {
        assertThrows(MemoryLimitException.class, () -> caches.take(Long.MAX_VALUE - SLAB));
        assertThrows(IllegalArgumentException.class, () -> caches.take(Long.MAX_VALUE - SLAB + 1));
        assertEquals(0, taken.get());
    }

    @Test
    void whatThreadsLeftBehindThatHadTheLockComesFirst() {
        Slot slot = caches.take(PAGE);
        slot.next = null;
        Depot.Chain chain = new Depot.Chain().of(slot, 1);
        caches.depots[PAGES].put(chain);
        assertSame(chain, slabs.supply(PAGES));
        caches.giveBack(slot);
    }

    @Test
    void slotsOfAThreadThatEndedComeBeforeAnotherSlab() throws InterruptedException {
        int eighth = (int) (SLAB / 8);
        Thread other = Thread.ofPlatform().start(() -> {
            List<Slot> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(caches.take(eighth));
            }
            all.forEach(caches::giveBack);
        });
        other.join();
        List<Slot> here = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            here.add(caches.take(eighth));
        }
        assertEquals(SLAB, budget.used());
        here.forEach(caches::giveBack);
    }

    @Test
    void chainThatIsNotNeededBetweenTwoStepsComesHome() {
        Slot slot = caches.take(PAGE);
        long holders = slot.slab.holders();
        caches.depots[PAGES].put(new Depot.Chain().of(slot, 1));
        step();
        assertEquals(holders, slot.slab.holders(), "it has just come");
        step();
        assertEquals(holders - 1, slot.slab.holders());
    }

    @Test
    void slabThatIsCarvedNoMoreIsIdle() {
        caches.giveBack(caches.take(PAGE));
        for (int i = 0; i <= Sweeper.STEPS + 1; i++) {
            step();
        }
        PoolFigures figures = slabs.figures();
        assertEquals(0, figures.slabs());
        assertEquals(SLAB, figures.idleBytes());
    }

    /// Notes that it was asked, and lets go.
    private static final class Device implements Slab.Holder {

        private final Slab slab;
        private int asked;

        Device(Slab slab) {
            this.slab = slab;
            assertTrue(slab.hold(this));
        }

        @Override
        public Object owner() {
            return this;
        }

        @Override
        public void wanted() {
            asked++;
            slab.letGo(this);
        }
    }

    @Test
    void deviceIsAskedWhenItsSlabIsIdle() {
        ByHand patient = hand;
        SlotCaches restless = caches(0);
        assertEquals(1, timesAsked(restless, 5));
        restless.slabs().close();
        hand = patient;
        assertEquals(0, timesAsked(caches, 5), "it is not idle for an hour");
        slabs.close();
        step();
    }

    private int timesAsked(SlotCaches source, int steps) {
        Slot slot = source.take(SLAB);
        Device device = new Device(slot.slab);
        source.giveBack(slot);
        for (int i = 0; i < steps; i++) {
            step();
        }
        return device.asked;
    }

    @Test
    void threadOfAClosedSourceHasNoMagazine() {
        Thread me = Thread.currentThread();
        Magazine mine = slabs.magazine(me, 1 << 20);
        assertSame(mine, slabs.magazine(me, 1 << 20));
        slabs.close();
        assertNull(slabs.magazine(me, 1 << 20));
    }

    @Test
    void magazineThatIsNotUsedForTheIdleTimeIsEmptied() {
        caches.giveBack(caches.take(PAGE));
        for (int i = 0; i <= Sweeper.STEPS; i++) {
            assertTrue(slabs.figures().cachedBytes() > 0, "step=" + i);
            step();
        }
        assertEquals(0, slabs.figures().cachedBytes());
        assertEquals(1, slabs.figures().magazines(), "its thread's");
    }

    @Test
    void closedSourceSaysWhatIsHeld() {
        Slot slot = caches.take(SLAB);
        step();
        step();
        assertEquals(List.of(), said, "it is open");
        slabs.close();
        step();
        step();
        assertEquals(1, said.size());
        assertTrue(said.getFirst().contains("slabs=1"), said::toString);
        caches.giveBack(slot);
    }

    @Test
    void regionOfAClosedSourceGoesHomeAtOnce() {
        Slot slot = caches.take(PAGE);
        slabs.close();
        assertEquals(1, slabs.open());
        caches.giveBack(slot);
        assertEquals(0, slabs.open());
        assertEquals(1, hand.woken);
    }
}
