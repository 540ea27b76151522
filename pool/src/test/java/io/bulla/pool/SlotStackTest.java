// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// One list of a magazine: nothing is lost, and it has as many as there is room for.
class SlotStackTest {

    private static final int PAGES = SizeClasses.of(4096);

    private final Home home = new Home();
    private final Slab slab = home.slab(1 << 20);
    private final SlotStack stack = new SlotStack();

    @AfterEach
    void memoryEnds() {
        home.close();
    }

    private List<Slot> slots(int count) {
        return Home.slots(new Chain().of(Home.linked(slab, PAGES, count), count));
    }

    private List<Slot> pushed(int count) {
        stack.prepare(count);
        stack.addRoom(count - stack.room());
        List<Slot> slots = slots(count);
        slots.forEach(slot -> assertTrue(stack.tryPush(slot)));
        return slots;
    }

    private List<Slot> polled() {
        List<Slot> polled = new ArrayList<>();
        for (Slot slot = stack.poll(); slot != null; slot = stack.poll()) {
            polled.add(slot);
        }
        return polled;
    }

    @Test
    void roomIsWhatIsAdded() {
        stack.prepare(8);
        Slot slot = slots(1).getFirst();
        assertFalse(stack.hasRoom());
        assertFalse(stack.tryPush(slot));
        assertTrue(stack.isEmpty());
        stack.addRoom(1);
        stack.addRoom(1);
        assertEquals(2, stack.room());
        assertTrue(stack.hasRoom());
        assertTrue(stack.tryPush(slot));
        assertFalse(stack.isEmpty());
        assertTrue(stack.hasRoom());
        stack.closeRoom();
        assertEquals(1, stack.room(), "for what is there");
        assertFalse(stack.hasRoom());
        assertEquals(1, stack.size());
    }

    @Test
    void lastPushedIsPolledFirst() {
        List<Slot> slots = pushed(5);
        Collections.reverse(slots);
        assertEquals(slots, polled());
        assertEquals(0, stack.size());
        assertNull(stack.poll());
    }

    @Test
    void otherSlotAtAPlaceIsTheOneThatIsPolled() {
        pushed(3);
        stack.poll();
        Slot other = slots(1).getFirst();
        assertTrue(stack.tryPush(other));
        assertSame(other, stack.poll());
    }

    @Test
    void placesStayWhenTheyAreThere() {
        List<Slot> slots = pushed(3);
        stack.prepare(3);
        assertEquals(slots.reversed(), polled());
    }

    @Test
    void loadedSlotsArePolledInTheirOrder() {
        stack.prepare(4);
        stack.addRoom(4);
        List<Slot> slots = slots(3);
        stack.load(slots.getFirst(), 3);
        assertEquals(3, stack.size());
        assertEquals(slots, polled());
    }

    @Test
    void firstPushedAreMovedAndTheOthersStay() {
        List<Slot> slots = pushed(5);
        Chain chain = stack.moveInto(new Chain(), 2);
        assertEquals(2, chain.count);
        assertEquals(List.of(slots.get(1), slots.get(0)), Home.slots(chain));
        assertEquals(3, stack.size());
        assertTrue(stack.hasRoom());
        assertEquals(slots.subList(2, 5).reversed(), polled());
        List<Slot> few = pushed(3);
        Chain rest = stack.moveInto(new Chain(), 9);
        assertEquals(3, rest.count);
        assertEquals(few.reversed(), Home.slots(rest));
        assertTrue(stack.isEmpty());
    }

    @Test
    void unloadedOneIsAsFresh() {
        List<Slot> slots = pushed(3);
        assertEquals(slots.reversed(), Home.slots(new Chain().of(stack.unload(), 3)));
        assertEquals(0, stack.size());
        assertEquals(0, stack.room());
        assertNull(stack.unload());
        stack.prepare(2);
        stack.addRoom(2);
        assertTrue(stack.tryPush(slots.getFirst()));
        assertSame(slots.getFirst(), stack.poll());
    }
}
