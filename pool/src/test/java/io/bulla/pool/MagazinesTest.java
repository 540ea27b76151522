// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.pool.Slab.Slot;
import io.bulla.refcount.internal.StillHeld;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MagazinesTest {

    private static final int CLASS = SizeClasses.of(4096);

    private final SlabSupplier.Memory memory = SlabSupplier.arenas().take(SlabSource.SLAB);
    private final Slab slab = new Slab(
            new SlotCaches(
                    SlabSupplier.arenas(),
                    MemoryBudget.ofProcess(),
                    1 << 20,
                    250_000_000,
                    step -> new Sweeper(step, 250_000_000),
                    new StillHeld("slabs", StillHeld.GRACE_NANOS, () -> "not traced", line -> {})),
            memory);
    private final FreeSlots freeSlots = new FreeSlots();
    private final Magazine[] stripes = {new Magazine(null, 1 << 20)};
    private final Magazines magazines = new Magazines(stripes, freeSlots);

    /// The handshake of a thread says nothing of what another thread has revoked since.
    @Test
    void revokedOneIsTakenOverBehindAHandshakeThatStartedLater() {
        Magazine first = owned(new Thread(() -> {}));
        long said = magazines.revoke(0);
        assertTrue(first.isRevoked());
        magazines.takeOver();
        assertEquals(4096, first.bytes(), "in the middle of the handshake");

        Magazine second = owned(new Thread(() -> {}));
        long later = magazines.revoke(0);
        assertNotEquals(said, later);
        magazines.met(said);
        magazines.takeOver();
        assertEquals(0, first.bytes());
        assertEquals(4096, second.bytes());

        magazines.met(later);
        magazines.takeOver();
        assertEquals(0, second.bytes());
        assertEquals(0, magazines.revoke(0), "no one is left to be met");
    }

    @Test
    void handshakeThatFailsIsMadeUpForByTheNext() {
        Magazine one = owned(new Thread(() -> {}));
        assertTrue(magazines.revoke(0) > 0);
        long next = magazines.revoke(0);
        assertTrue(next > 0, "it is revoked, and not met");
        magazines.met(next);
        magazines.takeOver();
        assertEquals(0, one.bytes());
    }

    @Test
    void ownOneIsEmptiedAtOnceIfItIsLeft() {
        Thread me = Thread.currentThread();
        Magazine mine = owned(me);
        assertEquals(0, magazines.revoke(0));
        assertEquals(0, mine.bytes());
        assertSame(mine, magazines.of(me));

        mine.give(slot());
        assertTrue(mine.tryEnter());
        assertTrue(magazines.revoke(0) > 0, "in the middle of a call");
        assertEquals(4096, mine.bytes());
        assertNull(magazines.of(me));
        mine.exit();
    }

    @Test
    void ownOneIsEnteredNoMoreOnceAllAreRevokedForGood() {
        Magazine mine = owned(Thread.currentThread());
        long said = magazines.revokeForGood();
        magazines.takeOver();
        assertEquals(0, mine.bytes());
        assertFalse(mine.tryEnter());
        assertTrue(said > 0, "threads share the others");
    }

    @Test
    void sharedOneIsEmptiedAndGoesOn() {
        stripes[0].give(slot());
        assertEquals(0, magazines.revoke(0));
        assertEquals(0, stripes[0].bytes());
        assertTrue(stripes[0].tryEnter());
        stripes[0].exit();
    }

    @Test
    void whatAThreadTookIsCountedOnceItHasEnded() {
        Magazine first = owned(new Thread(() -> {}));
        first.take(CLASS).slab.leave();
        first.take(CLASS);
        magazines.takeOver();
        assertEquals(0, magazines.owned());
        assertEquals(1, magazines.taken());
        assertEquals(1, magazines.missed());
    }

    private Magazine owned(Thread owner) {
        Magazine magazine = new Magazine(owner, 1 << 20);
        magazine.give(slot());
        magazines.put(magazine);
        return magazine;
    }

    private Slot slot() {
        assertTrue(slab.hold(1));
        return new Slot(slab, memory.segment().asSlice(0, 4096), CLASS);
    }

    @AfterEach
    void slabEnds() {
        memory.end();
    }
}
