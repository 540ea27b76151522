// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.pool.Slab.Slot;
import io.bulla.refcount.internal.StillHeld;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Where a slot comes from, and where it goes.
class SlotCachesTest {

    private static final long SLAB = SlabSource.SLAB;
    private static final int PAGE = 4096;
    private static final int PAGES = SizeClasses.of(PAGE);
    private static final int LIST = Magazine.slots(PAGES);

    private final MemoryBudget budget = new MemoryBudget(4 * SLAB);
    private Runnable whenTaking = () -> {};
    private ByHand hand;
    private final SlotCaches caches = new SlotCaches(
            bytes -> {
                Runnable once = whenTaking;
                whenTaking = () -> {};
                once.run();
                return SlabSupplier.arenas().take(bytes);
            },
            budget,
            16 * PAGE,
            TimeUnit.HOURS.toNanos(1),
            step -> hand = new ByHand(step),
            new StillHeld("slabs", StillHeld.GRACE_NANOS, () -> "not traced", line -> {}));

    @AfterEach
    void allIsGivenBack() {
        caches.slabs().close();
        hand.step();
        assertEquals(0, budget.used());
    }

    private List<Slot> take(int slots) {
        List<Slot> taken = new ArrayList<>();
        for (int i = 0; i < slots; i++) {
            taken.add(caches.take(PAGE));
        }
        return taken;
    }

    private long atHand() {
        return caches.slabs().figures().cachedBytes() / PAGE;
    }

    @Test
    void stripesAreAPowerOfTwoOfAtLeastTheProcessors() {
        int[] processors = {1, 2, 3, 4, 5, 8, 9, 16, 17, 256};
        int[] stripes = {2, 2, 4, 4, 8, 8, 16, 16, 16, 16};
        for (int i = 0; i < processors.length; i++) {
            assertEquals(stripes[i], SlotCaches.stripes(processors[i]), "processors=" + processors[i]);
        }
    }

    @Test
    void restOfAChainIsAtHand() {
        Slot slot = caches.take(PAGE);
        assertNull(slot.next);
        assertEquals(LIST - 1, atHand());
        assertEquals(LIST + 1, slot.slab.holders(), "each of them, and the source");
        caches.giveBack(slot);
        assertEquals(LIST, atHand());
    }

    @Test
    void whatIsTooMuchForAThreadIsAnothers() throws InterruptedException {
        List<Slot> all = take(4 * LIST);
        all.forEach(caches::giveBack);
        assertTrue(depots() > 0);
        assertEquals(4 * LIST - depots(), atHand());
        long before = depots();
        Slot[] other = new Slot[1];
        Thread thread = Thread.ofPlatform().start(() -> other[0] = caches.take(PAGE));
        thread.join();
        assertEquals(before - LIST, depots(), "it took a chain");
        caches.giveBack(other[0]);
    }

    private long depots() {
        return caches.depots[PAGES].bytes() / PAGE;
    }

    @Test
    void slotGoesHomeWhereThereIsNoHeapForAChain() {
        List<Slot> all = take(4 * LIST);
        Slab slab = all.getFirst().slab;
        assertEquals(4 * LIST + 1, slab.holders());
        caches.depots[PAGES] = new FullDepot();
        all.forEach(caches::giveBack);
        assertEquals(1 + atHand(), slab.holders(), "the others are home");
        assertTrue(slab.holders() < 4 * LIST);
    }

    /// The supplier gives a slot back meanwhile, so there is something at hand already.
    @Test
    void restOfAChainIsInTheDepotIfThereIsSomethingAtHand() {
        List<Slot> all = new ArrayList<>();
        whenTaking = () -> all.addAll(take(1));
        all.add(caches.take(PAGE));
        assertEquals(2 * LIST - 2, atHand() + depots());
        assertEquals(LIST - 1, depots());
        all.forEach(caches::giveBack);
    }

    @Test
    void restOfAChainGoesHomeWhereThereIsNoHeapToKeepIt() {
        List<Slot> all = new ArrayList<>();
        whenTaking = () -> all.addAll(take(1));
        caches.depots[PAGES] = new FullDepot();
        Slot slot = caches.take(PAGE);
        all.add(slot);
        assertEquals(LIST - 1, atHand());
        assertEquals(1 + LIST + 1, slot.slab.holders(), "the source, the supplier's list, the slot");
        all.forEach(caches::giveBack);
    }

    @Test
    void virtualThreadDoesWithoutAMagazineIfAllAreInUse() throws InterruptedException {
        for (Magazine each : caches.stripes) {
            assertTrue(each.tryEnter());
        }
        List<Slot> taken = new ArrayList<>();
        Thread.ofVirtual().start(() -> taken.addAll(take(1))).join();
        assertEquals(1, taken.size());
        assertEquals(LIST - 1, depots(), "the rest of the chain");
        Thread.ofVirtual().start(() -> caches.giveBack(taken.getFirst())).join();
        assertEquals(LIST, depots());
        for (Magazine each : caches.stripes) {
            each.exit();
        }
    }

    @Test
    void virtualThreadEntersTheOneMagazineThatIsFree() throws InterruptedException {
        for (int free = 0; free < caches.stripes.length; free++) {
            for (int i = 0; i < caches.stripes.length; i++) {
                if (i != free) {
                    assertTrue(caches.stripes[i].tryEnter());
                }
            }
            Thread.ofVirtual().start(() -> take(1).forEach(caches::giveBack)).join();
            assertEquals(0, depots());
            for (int i = 0; i < caches.stripes.length; i++) {
                assertEquals(i == free ? LIST : 0, caches.stripes[i].bytes() / PAGE, "free=" + free);
                if (i == free) {
                    assertTrue(caches.stripes[i].tryEnter(), "it is left");
                }
                caches.stripes[i].exit();
            }
            caches.slabs().trim();
        }
    }

    /// Threads whose numbers have the same place in the table of magazines.
    @Test
    void threadsOfOnePlaceHaveAMagazineEach() throws InterruptedException {
        Thread one = new Thread(() -> take(1).forEach(caches::giveBack));
        Thread other = one;
        while (other == one || (other.threadId() & 255) != (one.threadId() & 255)) {
            other = new Thread(() -> take(1).forEach(caches::giveBack));
        }
        one.start();
        one.join();
        other.start();
        other.join();
        assertEquals(2, caches.slabs().figures().magazines());
        assertEquals(2, caches.slabs().figures().missed());
    }

    @Test
    void revokedMagazineIsNotUsed() throws InterruptedException {
        take(1).forEach(caches::giveBack);
        Thread other = Thread.ofPlatform().start(caches.slabs()::trim);
        other.join();
        assertEquals(0, budget.used(), "it was left, so all is home");
        assertEquals(0, caches.slabs().figures().magazines());
        take(1).forEach(caches::giveBack);
        assertEquals(1, caches.slabs().figures().magazines());
        assertEquals(LIST, atHand());
    }

    /// The supplier has it emptied meanwhile.
    @Test
    void restOfAChainIsAtHandInAMagazineThatIsAsFresh() {
        whenTaking = caches.slabs()::trim;
        Slot slot = caches.take(PAGE);
        assertEquals(LIST - 1, atHand());
        caches.giveBack(slot);
    }
}
