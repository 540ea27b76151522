// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Slots at home hold no slab, and none of a slab that is over is handed out.
class FreeSlotsTest {

    private static final int PAGES = SizeClasses.of(4096);
    private static final int MOST = Magazine.slots(PAGES);

    private final Home home = new Home();
    private final FreeSlots free = new FreeSlots();

    @AfterEach
    void memoryEnds() {
        home.close();
    }

    private List<Slot> taken(boolean some) {
        Chain chain = new Chain();
        assertEquals(some, free.take(PAGES, chain));
        List<Slot> slots = Home.slots(chain);
        assertEquals(chain.count, slots.size());
        return slots;
    }

    @Test
    void slotsComeHomeAndLeaveAListAtATime() {
        Slab slab = home.slab(1 << 20);
        Slot first = Home.linked(slab, PAGES, MOST + 3);
        free.bring(PAGES, first);
        assertEquals(1, slab.holders(), "the slots hold it no more");
        assertEquals((MOST + 3) * 4096L, free.bytes());
        HashSet<Slot> all = new HashSet<>(taken(true));
        assertEquals(MOST, all.size());
        assertEquals(1 + MOST, slab.holders());
        assertEquals(3 * 4096L, free.bytes());
        all.addAll(taken(true));
        assertEquals(MOST + 3, all.size());
        assertEquals(List.of(), taken(false));
        assertEquals(0, free.bytes());
    }

    @Test
    void classesAreApart() {
        Slab slab = home.slab(1 << 20);
        free.bring(PAGES, Home.linked(slab, PAGES, 1));
        int other = PAGES + 1;
        free.bring(other, Home.linked(slab, other, 2));
        assertEquals(4096 + 2L * SizeClasses.bytes(other), free.bytes());
        assertEquals(1, taken(true).size());
        assertEquals(List.of(), taken(false));
        Chain chain = new Chain();
        assertTrue(free.take(other, chain));
        assertEquals(2, chain.count);
    }

    @Test
    void slotsOfASlabThatIsOverAreNoSlots() {
        Slab over = home.slab(1 << 20);
        Slab lives = home.slab(1 << 20);
        free.bring(PAGES, Home.linked(over, PAGES, 2));
        free.bring(PAGES, Home.linked(lives, PAGES, 2));
        free.bring(PAGES, Home.linked(over, PAGES, 2));
        over.leave();
        assertEquals(List.of(over), home.emptied);
        assertEquals(2 * 4096L, free.bytes());
        List<Slot> slots = taken(true);
        assertEquals(2, slots.size());
        slots.forEach(slot -> assertEquals(lives, slot.slab));
        assertEquals(3, lives.holders());
        assertEquals(List.of(), taken(false));
    }

    @Test
    void whatIsGoneIsForgottenAndTheRestStays() {
        Slab over = home.slab(1 << 20);
        Slab lives = home.slab(1 << 20);
        Slot gone = Home.linked(over, PAGES, 1);
        free.bring(PAGES, gone);
        free.bring(PAGES, Home.linked(lives, PAGES, 3));
        Slot last = Home.linked(over, PAGES + 1, 1);
        free.bring(PAGES + 1, last);
        over.leave();
        free.forgetGone();
        assertEquals(3 * 4096L, free.bytes());
        assertEquals(3, taken(true).size());
        Chain chain = new Chain();
        assertFalse(free.take(PAGES + 1, chain));
        assertNull(chain.first);
    }

    /// The slab of the first of two may come to its end as they come home.
    @Test
    void nextOneIsReadBeforeASlabIsLeft() {
        Slab one = home.slab(1 << 20);
        Slab other = home.slab(1 << 20);
        Slot first = Home.linked(one, PAGES, 1);
        first.next = Home.linked(other, PAGES, 1);
        one.leave();
        free.bring(PAGES, first);
        assertEquals(List.of(one), home.emptied);
        assertEquals(1, other.holders());
        assertEquals(4096, free.bytes());
    }
}
