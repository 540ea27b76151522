// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.util.ArrayList;
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
        assertEquals(MOST + 1 + 1, slab.holders(), "a full one is left");
    }

    @Test
    void slabIsLeftWhenNoClassFitsIntoItsRest() {
        for (int rest : new int[] {0, SizeClasses.SMALLEST - 1, SizeClasses.SMALLEST}) {
            Slab slab = home.slab(SizeClasses.bytes(LARGE) + rest);
            carving.goOn(slab);
            carved(LARGE);
            assertEquals(rest < SizeClasses.SMALLEST ? 1 : 2, slab.holders(), "rest=" + rest);
        }
        assertEquals(1, carved(0).size());
    }

    @Test
    void restOfASlabIsFilledBeforeTheNextOne() {
        Slab before = home.slab(SizeClasses.bytes(LARGE) + 3 * 4096);
        Slab fresh = home.slab(1 << 20);
        carving.goOn(before);
        carved(LARGE);
        assertFalse(hasRoom(LARGE));
        carving.goOn(fresh);
        assertEquals(fresh, carved(LARGE).getFirst().slab);
        List<Slot> rest = carved(PAGES);
        assertEquals(3, rest.size());
        assertEquals(before, rest.getFirst().slab);
        assertEquals(1 + 3, before.holders());
        assertEquals(fresh, carved(PAGES).getFirst().slab);
    }

    @Test
    void ofTooManyTheOneWithTheLeastRoomIsLeft() {
        List<Slab> slabs = new ArrayList<>();
        for (int i = 0; i < Carving.MOST; i++) {
            // the third has the least
            slabs.add(home.slab((1 << 20) + (long) Math.floorMod(i - 2, Carving.MOST) * 4096));
            carving.goOn(slabs.getLast());
        }
        assertEquals(List.of(), home.emptied);
        carving.goOn(home.slab(1 << 20));
        assertEquals(List.of(slabs.get(2)), home.emptied);
        carving.goOn(home.slab(1 << 20));
        assertEquals(2, home.emptied.size());
        carving.leave();
        carving.leave();
        assertEquals(Carving.MOST + 2, home.emptied.size());
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
