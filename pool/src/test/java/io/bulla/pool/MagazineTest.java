// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class MagazineTest {

    private static final int CLASS = SizeClasses.of(4096);

    private final Magazine magazine = new Magazine(null, 1 << 20);

    @Test
    void lastGivenIsTakenFirst() {
        Slot one = slot();
        Slot other = slot();
        magazine.give(one);
        magazine.give(other);
        assertEquals(8192, magazine.bytes());
        assertSame(other, magazine.take(CLASS));
        assertSame(one, magazine.take(CLASS));
        assertNull(magazine.take(CLASS));
        assertEquals(0, magazine.bytes());
    }

    @Test
    void fullListGoesToTheDepotWhole() {
        int full = Magazine.slots(CLASS);
        for (int i = 0; i < 2 * full; i++) {
            assertTrue(magazine.hasRoom(CLASS), "" + i);
            magazine.give(slot());
        }
        assertFalse(magazine.hasRoom(CLASS));
        Chain chain = magazine.spill(CLASS, new Chain());
        assertEquals(full, chain.count);
        int linked = 0;
        for (Slot each = chain.first; each != null; each = each.next) {
            linked++;
        }
        assertEquals(full, linked);
        assertTrue(magazine.hasRoom(CLASS));
        assertEquals(full * 4096L, magazine.bytes());
    }

    @Test
    void bytesAreBoundedOverAllClasses() {
        Magazine small = new Magazine(null, 10_000);
        small.give(slot());
        small.give(slot());
        small.give(slot());
        assertFalse(small.hasRoom(CLASS));
        small.spill(CLASS, new Chain());
        assertTrue(small.hasRoom(CLASS));
    }

    @Test
    void lastSlotOfTheBytesHasRoom() {
        Magazine small = new Magazine(null, 8192);
        small.give(slot());
        assertTrue(small.hasRoom(CLASS));
        assertTrue(small.tryGive(slot()));
        assertFalse(small.hasRoom(CLASS));
    }

    @Test
    void placeOfASlotThatWasLoadedAndTakenIsFree() {
        Slot first = slot();
        first.next = slot();
        magazine.prepare(CLASS);
        magazine.load(CLASS, first, 2);
        Slot taken = magazine.take(CLASS);
        assertSame(first, taken);
        assertTrue(magazine.tryGive(taken));
    }

    @Test
    void magazineThatIsUsedIsNotQuiet() {
        magazine.give(slot());
        assertEquals(0, magazine.quietFor());
        assertEquals(1, magazine.quietFor());
        assertEquals(2, magazine.quietFor());
        magazine.give(magazine.take(CLASS));
        assertEquals(0, magazine.quietFor());
    }

    @Test
    void roomThatAClassDoesNotUseIsAnothers() {
        int larger = SizeClasses.of(8192);
        Magazine small = new Magazine(null, 64 << 10);
        fill(small, CLASS, 16);
        for (int i = 0; i < 16; i++) {
            small.take(CLASS);
        }
        fill(small, larger, 8);
        assertEquals(64 << 10, small.bytes());
        assertTrue(small.hasRoom(CLASS), "one of each class");
    }

    private static void fill(Magazine magazine, int sizeClass, int most) {
        for (int i = 0; i < most; i++) {
            assertTrue(magazine.hasRoom(sizeClass), "" + i);
            magazine.give(slot(sizeClass));
        }
        assertFalse(magazine.hasRoom(sizeClass));
    }

    @Test
    void slotThatIsGivenInPlaceOfAnotherIsTaken() {
        Slot one = slot();
        Slot other = slot();
        magazine.give(one);
        assertSame(one, magazine.take(CLASS));
        magazine.give(other);
        assertSame(other, magazine.take(CLASS));
        magazine.give(one);
        magazine.give(other);
        assertSame(other, magazine.take(CLASS));
        assertSame(one, magazine.take(CLASS));
    }

    @Test
    void theOldestGoToTheDepot() {
        Slot[] all = new Slot[Magazine.slots(CLASS) + 1];
        for (int i = 0; i < all.length; i++) {
            all[i] = slot();
            magazine.give(all[i]);
        }
        Chain chain = magazine.spill(CLASS, new Chain());
        assertSame(all[all.length - 2], chain.first);
        assertSame(all[all.length - 1], magazine.take(CLASS));
        magazine.load(CLASS, chain.first, chain.count);
        for (int i = all.length - 2; i >= 0; i--) {
            assertSame(all[i], magazine.take(CLASS));
        }
        assertNull(magazine.take(CLASS));
    }

    @Test
    void unloadedMagazineIsAsFresh() {
        for (int i = 0; i <= Magazine.slots(CLASS); i++) {
            magazine.give(slot());
        }
        int unloaded = 0;
        for (Slot each = magazine.unload(CLASS); each != null; each = each.next) {
            unloaded++;
        }
        assertEquals(Magazine.slots(CLASS) + 1, unloaded);
        assertEquals(0, magazine.bytes());
        assertNull(magazine.take(CLASS));
        assertFalse(magazine.tryGive(slot()));
        magazine.give(slot());
        assertEquals(1, magazine.spill(CLASS, new Chain()).count);
    }

    @Test
    void revokedMagazineLetsNoThreadIn() {
        Magazine owned = new Magazine(Thread.currentThread(), 1 << 20);
        assertTrue(owned.tryEnter());
        owned.revoke();
        Magazine.handshake();
        assertFalse(owned.isLeft());
        owned.exit();
        assertTrue(owned.isLeft());
        assertFalse(owned.tryEnter());
        assertTrue(owned.isLeft());
    }

    @Test
    void sharedMagazineIsOneThreadsAtATime() {
        assertTrue(magazine.tryEnter());
        assertFalse(magazine.tryEnter());
        magazine.exit();
        assertTrue(magazine.tryEnter());
    }

    private static Slot slot() {
        return slot(CLASS);
    }

    private static Slot slot(int sizeClass) {
        return new Slot(null, Arena.global().allocate(SizeClasses.bytes(sizeClass)), sizeClass);
    }
}
