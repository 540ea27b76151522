// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What keeps a slab beside its regions.
class SlabTest {

    private static final long SLAB = SlabSource.SLAB;

    private final MemoryBudget budget = new MemoryBudget(4 * SLAB);
    private final SlabSource memory =
            SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).build();

    /// Lets go when it is asked, or throws.
    private static final class Device implements Slab.Holder {

        private final Slab slab;
        private final boolean throwing;
        private int asked;
        private boolean stays;

        Device(Slab slab, boolean throwing) {
            this.slab = slab;
            this.throwing = throwing;
        }

        @Override
        public Object owner() {
            return this;
        }

        @Override
        public void wanted() {
            asked++;
            if (throwing) {
                throw new IllegalStateException("thrown by the test");
            }
            if (!stays) {
                slab.letGo(this);
            }
        }
    }

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
    }

    @Test
    void bufferAndRegionLeadToTheirSlab() {
        Region region = memory.allocate(1000);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        assertEquals(0, slab.address() % SLAB);
        assertEquals(SLAB, slab.byteSize());
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer buffer = builder.putInt(7).seal();
                SealedBuffer slice = buffer.slice(1, 2)) {
            assertSame(slab, Slab.of(buffer.iovec(), 0));
            assertSame(slab, Slab.of(slice.iovec(), 0));
            assertThrows(IndexOutOfBoundsException.class, () -> Slab.of(buffer.iovec(), 1));
        }
        region.release();
    }

    @Test
    void eachRegionOfAConcatenationLeadsToItsOwnSlab() {
        try (BufferBuilder one = BufferBuilder.create(memory);
                BufferBuilder other = BufferBuilder.ofCapacity(memory, SLAB);
                SealedBuffer small = one.putLong(7).seal();
                SealedBuffer large = other.putLong(8).seal();
                SealedBuffer foreign = SealedBuffer.adopt(MemorySegment.ofArray(new byte[8]), () -> {});
                SealedBuffer all = SealedBuffer.concat(small, foreign, large);
                SealedBuffer end = all.slice(12, 12)) {
            Slab first = Slab.of(small.iovec(), 0);
            Slab last = Slab.of(large.iovec(), 0);
            assertNotSame(first, last);
            assertSame(first, Slab.of(all.iovec(), 0));
            assertNull(Slab.of(all.iovec(), 1), "no slab's");
            assertSame(last, Slab.of(all.iovec(), 2));
            assertThrows(IndexOutOfBoundsException.class, () -> Slab.of(all.iovec(), 3));
            assertNull(Slab.of(end.iovec(), 0));
            assertSame(last, Slab.of(end.iovec(), 1));
            assertNull(Slab.of(foreign.iovec(), 0));
        }
    }

    @Test
    void regionBesideForeignMemoryLeadsToItsSlab() {
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer pooled = builder.putLong(7).seal();
                SealedBuffer foreign = SealedBuffer.adopt(MemorySegment.ofArray(new byte[8]), () -> {});
                SealedBuffer both = SealedBuffer.concat(foreign, pooled)) {
            assertNull(Slab.of(both.iovec(), 0));
            assertSame(Slab.of(pooled.iovec(), 0), Slab.of(both.iovec(), 1));
            assertNotNull(Slab.of(both.iovec(), 1));
        }
    }

    /// A part of a concatenation keeps the stamps of all of it.
    @Test
    void partBesideASlabsMemoryLeadsToNone() {
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer pooled = builder.putLong(7).seal();
                SealedBuffer none = pooled.slice(0, 0);
                SealedBuffer foreign = SealedBuffer.adopt(MemorySegment.ofArray(new byte[8]), () -> {});
                SealedBuffer both = SealedBuffer.concat(pooled, foreign);
                SealedBuffer behind = SealedBuffer.concat(none, foreign)) {
            assertNull(Slab.of(both.iovec().slice(8, 8), 0));
            assertNull(Slab.of(behind.iovec(), 0));
            assertSame(Slab.of(pooled.iovec(), 0), Slab.of(both.iovec().slice(0, 8), 0));
            assertThrows(IndexOutOfBoundsException.class, () -> Slab.of(none.iovec(), 0));
        }
    }

    /// The clock of the machine may begin below zero.
    @Test
    void slabIsAloneSinceATimeOrAnyTime() {
        try (Home home = new Home()) {
            Slab slab = home.slab(64);
            assertFalse(slab.isAloneSince(Long.MAX_VALUE), "no device knows it");
            Device device = new Device(slab, false);
            assertTrue(slab.hold(device));
            slab.aloneSince = 7;
            assertFalse(slab.isAloneSince(Long.MAX_VALUE), "its source holds it, too");
            assertEquals(0, slab.aloneSince);
            slab.leave();
            assertTrue(slab.isAloneSince(Long.MAX_VALUE));
            assertNotEquals(0, slab.aloneSince);
            slab.aloneSince = -5;
            assertFalse(slab.isAloneSince(-6));
            assertTrue(slab.isAloneSince(-5));
            assertTrue(slab.isAloneSince(4));
            assertTrue(slab.isAloneSince(Long.MAX_VALUE));
            assertEquals(-5, slab.aloneSince, "since the first look");
            slab.letGo(device);
            assertFalse(slab.isAloneSince(Long.MAX_VALUE), "it is over");
        }
    }

    @Test
    void slabDrainsWhenMoreThanHalfOfItIsInQuarantine() {
        try (Home home = new Home()) {
            Slab slab = home.slab(512);
            slab.hold(2);
            slab.quarantine(256);
            assertFalse(slab.drains());
            slab.quarantine(1);
            assertTrue(slab.drains());
            slab.leave();
        }
    }

    @Test
    void slabWithADeviceIsNotUsedForAnotherOne() {
        Region region = memory.allocate(SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, false);
        device.stays = true;
        assertTrue(slab.hold(device));
        assertFalse(slab.hold(device), "an owner holds once");
        assertSame(device, slab.holder(device));
        region.release();
        Region larger = memory.allocate(2 * SLAB);
        assertEquals(3 * SLAB, budget.used());
        memory.trim();
        assertEquals(1, device.asked);
        assertEquals(3 * SLAB, budget.used());
        larger.release();
        memory.trim();
        assertEquals(SLAB, budget.used());
        slab.letGo(device);
        memory.trim();
        assertEquals(0, budget.used());
        assertFalse(slab.hold(device), "its life is over");
        assertEquals(0, slab.holderCount());
    }

    @Test
    void wholeSlabThatADeviceKnowsIsHandedOutAgain() {
        Region region = memory.allocate(SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, false);
        slab.hold(device);
        region.release();
        assertEquals(SLAB, memory.figures().cachedBytes());
        assertEquals(0, memory.figures().liveBytes());
        Region twice = memory.allocate(2 * SLAB);
        Region again = memory.allocate(SLAB);
        assertSame(slab, Slab.of(again));
        assertEquals(3 * SLAB, budget.used());
        again.release();
        twice.release();
    }

    @Test
    void memoryThatIsWantedIsAskedFor() {
        Region region = memory.allocate(3 * SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, false);
        slab.hold(device);
        region.release();
        Region other = memory.allocate(2 * SLAB);
        assertEquals(1, device.asked);
        assertEquals(2 * SLAB, budget.used());
        other.release();
    }

    @Test
    void wholeSlabThatADeviceKnowsNoMoreMakesRoom() {
        Region region = memory.allocate(3 * SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, false);
        slab.hold(device);
        region.release();
        slab.letGo(device);
        memory.allocate(2 * SLAB).release();
        assertEquals(0, device.asked);
    }

    @Test
    void idleWholeSlabIsAskedForByItself() throws InterruptedException {
        try (SlabSource restless =
                SlabSource.builder().idle(Duration.ofMillis(20)).build()) {
            Region region = restless.allocate(SLAB);
            Slab slab = Objects.requireNonNull(Slab.of(region));
            CountDownLatch asked = new CountDownLatch(1);
            slab.hold(new Slab.Holder() {
                @Override
                public Object owner() {
                    return this;
                }

                @Override
                public void wanted() {
                    slab.letGo(this);
                    asked.countDown();
                }
            });
            region.release();
            assertTrue(asked.await(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void deviceThatThrowsIsAskedAgainAndHidesNoError() {
        Region region = memory.allocate(3 * SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, true);
        slab.hold(device);
        region.release();
        assertThrows(MemoryLimitException.class, () -> memory.allocate(2 * SLAB));
        memory.trim();
        assertTrue(device.asked >= 2, () -> "asked=" + device.asked);
        slab.letGo(device);
        assertNotNull(slab.toString());
    }

    @Test
    void ownerThatHoldsWhileItIsAskedHoldsOnce() {
        Region region = memory.allocate(1000);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Object owner = new Object();
        Runnable[] back = new Runnable[1];
        class Owned implements Slab.Holder {
            @Override
            public Object owner() {
                Runnable now = back[0];
                back[0] = null;
                if (now != null) {
                    now.run();
                }
                return owner;
            }

            @Override
            public void wanted() {}

            @Override
            public boolean equals(Object other) {
                return other instanceof Owned;
            }

            @Override
            public int hashCode() {
                return 1;
            }
        }
        Device first = new Device(slab, false);
        slab.hold(first);
        Owned one = new Owned();
        Owned other = new Owned();
        back[0] = () -> assertTrue(slab.hold(other));
        assertFalse(slab.hold(one));
        assertEquals(2, slab.holderCount());
        // equal, and another one
        assertThrows(IllegalStateException.class, () -> slab.letGo(one));
        slab.letGo(other);
        slab.letGo(first);
        region.release();
    }

    @Test
    void ownerThatIsAskedInTheMiddleOfAHoldHoldsOnce() {
        Region region = memory.allocate(1000);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device late = new Device(slab, false);
        Slab.Holder[] seen = new Slab.Holder[1];
        Slab.Holder calling = new Slab.Holder() {
            @Override
            public Object owner() {
                if (seen[0] != null) {
                    seen[0] = null;
                    assertTrue(slab.hold(late));
                }
                return this;
            }

            @Override
            public void wanted() {}
        };
        Device first = new Device(slab, false);
        assertTrue(slab.hold(first));
        assertTrue(slab.hold(calling));
        seen[0] = late;
        assertFalse(slab.hold(late), "it holds since its owner was looked for");
        assertEquals(3, slab.holderCount());
        slab.letGo(late);
        slab.letGo(first);
        slab.letGo(calling);
        region.release();
    }

    /// [Slabs] tells a slab that devices alone have kept for a while from one that was used in between.
    @Test
    void slabThatIsUsedAgainIsNotAloneSinceBefore() {
        Region region = memory.allocate(SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, false);
        device.stays = true;
        slab.hold(device);
        region.release();
        memory.trim();
        assertNotEquals(0, slab.aloneSince);
        Region again = memory.allocate(100);
        assertTrue(slab.hold(1), "as a region does");
        memory.trim();
        assertEquals(0, slab.aloneSince);
        slab.leave();
        again.release();
        slab.letGo(device);
    }

    @Test
    void wholeSlabIsNotKeptForTheNextOneOfAClosedSource() {
        Region region = memory.allocate(SLAB);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device device = new Device(slab, false);
        device.stays = true;
        slab.hold(device);
        memory.close();
        region.release();
        assertEquals(1, slab.holders(), "the device alone");
        slab.letGo(device);
    }

    @Test
    void holdEndsOnce() {
        Region region = memory.allocate(1000);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        Device one = new Device(slab, false);
        Device other = new Device(slab, false);
        slab.hold(one);
        slab.hold(other);
        slab.letGo(one);
        assertThrows(IllegalStateException.class, () -> slab.letGo(one));
        assertNull(slab.holder(one));
        assertSame(other, slab.holder(other));
        slab.letGo(other);
        assertNull(slab.holder(other));
        region.release();
    }

    @Test
    void filledRegionIsSealedAsItIs() {
        Region region = memory.allocate(300);
        region.segment().fill((byte) 9);
        long address = region.segment().address();
        try (SealedBuffer buffer = memory.sealFilled(region, 3)) {
            assertArrayEquals(new byte[] {9, 9, 9}, buffer.toByteArray());
            assertEquals(address, buffer.iovec().lent().region(0).address());
            assertEquals(1, buffer.iovec().stampCount());
        }
        assertThrows(IllegalStateException.class, () -> memory.sealFilled(region, 3));
        Region empty = memory.allocate(300);
        memory.sealFilled(empty, 0).close();
        assertThrows(IllegalStateException.class, empty::segment, "given back");
        Region small = memory.allocate(300);
        assertThrows(IllegalArgumentException.class, () -> memory.sealFilled(small, small.byteSize() + 1));
        small.release();
    }

    @Test
    void handleOnAFilledRegionIsTraced() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full();
        try (SlabSource traced = SlabSource.builder().trace(ledger).build()) {
            try (SealedBuffer buffer = traced.sealFilled(traced.allocate(300), 3)) {
                assertEquals(1, ledger.open().size(), buffer::toString);
            }
            assertEquals(0, ledger.open().size());
            traced.close(Duration.ofSeconds(30));
        }
    }
}
