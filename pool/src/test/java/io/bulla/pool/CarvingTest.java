// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// How a slab becomes slots, and when its source lets go of it.
class CarvingTest {

    private static final int PAGES = SizeClasses.of(4096);
    private static final int MOST = Magazine.slots(PAGES);
    private static final int LARGE = SizeClasses.of(48 << 10);

    private final Home home = new Home();
    private final Carving carving = new Carving();

    @AfterEach
    void memoryEnds() {
        home.close();
    }

    private List<Slot> carved(int sizeClass) {
        Chain chain = new Chain();
        assertTrue(carving.carve(sizeClass, chain));
        List<Slot> slots = Home.slots(chain);
        assertEquals(slots.size(), chain.count);
        return slots;
    }

    private boolean hasRoom(int sizeClass) {
        return carving.carve(sizeClass, new Chain());
    }

    @Test
    void slotsLieOneBehindTheOtherToTheEnd() {
        assertFalse(hasRoom(PAGES), "there is no slab");
        Slab slab = home.slab(MOST * 4096L + 4096 + SizeClasses.bytes(LARGE));
        carving.goOn(slab);
        long at = slab.address();
        for (Slot slot : carved(PAGES)) {
            assertEquals(at, slot.memory.address());
            assertEquals(4096, slot.byteSize());
            assertEquals(PAGES, slot.sizeClass);
            assertEquals(slab, slot.slab);
            at += 4096;
        }
        assertEquals(slab.address() + MOST * 4096L, at);
        assertEquals(1 + MOST, slab.holders());
        assertEquals(MOST * 4096L, slab.carved);
        assertEquals(at, carved(LARGE).getFirst().memory.address());
        assertFalse(hasRoom(LARGE));
        assertEquals(1, carved(PAGES).size(), "as many as there is room for");
        assertFalse(hasRoom(PAGES));
        assertEquals(slab.byteSize(), slab.carved);
        assertEquals(1 + MOST + 1 + 1, slab.holders());
    }

    @Test
    void slabBeforeIsLeftOnce() {
        Slab before = home.slab(1 << 20);
        Slab fresh = home.slab(1 << 20);
        carving.goOn(before);
        carving.goOn(fresh);
        assertEquals(List.of(before), home.emptied);
        assertEquals(1, fresh.holders());
        carving.leave();
        carving.leave();
        assertEquals(List.of(before, fresh), home.emptied);
        assertFalse(hasRoom(PAGES));
    }

    @Test
    void slabOfWhichSomethingIsInUseIsKept() {
        Slab slab = home.slab(1 << 20);
        carving.leaveUnused();
        carving.goOn(slab);
        Slot slot = carved(LARGE).getFirst();
        carving.leaveUnused();
        assertEquals(2, slab.holders());
        slot.slab.leave();
        Object device = new Object();
        Slab.Holder holder = new Slab.Holder() {
            @Override
            public Object owner() {
                return device;
            }

            @Override
            public void wanted() {}
        };
        assertTrue(slab.hold(holder));
        carving.leaveUnused();
        assertEquals(1, slab.holders(), "a device is no use");
        slab.letGo(holder);
        assertEquals(List.of(slab), home.emptied);
    }

    @Test
    void unusedSlabIsKeptWhileItIsCarved() {
        Slab slab = home.slab(1 << 20);
        carving.leaveUnusedIfQuiet();
        carving.goOn(slab);
        carved(LARGE).getFirst().slab.leave();
        carving.leaveUnusedIfQuiet();
        assertEquals(List.of(), home.emptied, "carved since the last look");
        carved(LARGE).getFirst().slab.leave();
        carving.leaveUnusedIfQuiet();
        assertEquals(List.of(), home.emptied, "again");
        carving.leaveUnusedIfQuiet();
        assertEquals(List.of(slab), home.emptied);
        carving.leaveUnusedIfQuiet();
        // the next one is not taken for one that was looked at
        Slab next = home.slab(1 << 20);
        carving.goOn(next);
        carved(LARGE).getFirst().slab.leave();
        carving.leaveUnusedIfQuiet();
        assertEquals(List.of(slab), home.emptied);
    }
}
