// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A supplier whose memory fails: nothing is lost, and nobody but the one who asked hears of it.
class FailingSupplierTest {

    private static final long SLAB = SlabSource.SLAB;

    private final MemoryBudget budget = new MemoryBudget(4 * SLAB);
    private final Failing supplier = new Failing();
    private final SlabSource memory = SlabSource.builder()
            .budget(budget)
            .supplier(supplier)
            .idle(Duration.ofHours(1))
            .build();

    @AfterEach
    void everySlabIsEndedOnce() throws InterruptedException {
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
        assertEquals(
                List.of(), supplier.given.stream().filter(one -> one.ends != 1).toList());
    }

    @Test
    void memoryThatDoesNotSayWhereItIsGoesBack() {
        for (long bytes : new long[] {100, SLAB}) {
            supplier.segmentFails = true;
            Error failure = assertThrows(Error.class, () -> memory.allocate(bytes));
            assertEquals("no segment", failure.getMessage());
            assertEquals(0, budget.used());
            assertEquals(1, supplier.given.getLast().ends);
        }
        memory.allocate(100).release();
    }

    @Test
    void memoryThatDoesNotSayWhereItIsAndIsNotTakenBackStaysBooked() {
        supplier.segmentFails = true;
        supplier.endFails = 1;
        assertEquals(
                "no segment",
                assertThrows(Error.class, () -> memory.allocate(100)).getMessage());
        assertEquals(SLAB, budget.used());
        assertEquals(SLAB, memory.bookedBytes());
        // what is booked for it is there for the next one who needs it
        memory.allocate(4 * SLAB).release();
        assertEquals(1, supplier.given.getFirst().ends);
    }

    @Test
    void whoAsksForMemoryThatWasNeverASlabsIsTold() {
        supplier.segmentFails = true;
        supplier.endFails = 2;
        assertThrows(Error.class, () -> memory.allocate(100));
        assertEquals("not now", assertThrows(InternalError.class, memory::trim).getMessage());
        assertEquals(SLAB, memory.bookedBytes());
        memory.trim();
        assertEquals(0, memory.bookedBytes());
    }

    @Test
    void memoryIsAskedOnceWhereItIs() {
        Region region = memory.allocate(100);
        int asked = supplier.given.getFirst().asked;
        memory.allocate(5000).release();
        assertEquals(0, Slab.of(region).address() % SLAB);
        region.release();
        assertEquals(1, asked);
        assertEquals(1, supplier.given.getFirst().asked);
    }

    @Test
    void whoeverTakesMemoryHearsNothingOfASlabThatIsNotGivenBack() {
        SealedBuffer seen = BufferBuilder.ofCapacity(memory, SLAB).putInt(7).seal();
        seen.iovec().region(0);
        supplier.discardFails = true;
        seen.close();
        Region innocent = memory.allocate(SLAB);
        assertEquals(2 * SLAB, budget.used());
        innocent.release();
        // whoever asks for it is told
        assertEquals("not now", assertThrows(InternalError.class, memory::trim).getMessage());
        assertEquals(2 * SLAB, budget.used());
        supplier.discardFails = false;
        memory.trim();
        assertEquals(0, budget.used());
    }

    @Test
    void slabThatFailsKeepsNoOtherOne() {
        List<Region> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(memory.allocate(SLAB));
        }
        all.forEach(Region::release);
        supplier.endFails = 1;
        assertThrows(InternalError.class, memory::trim);
        assertEquals(SLAB, budget.used());
        memory.trim();
        assertEquals(0, budget.used());
    }

    @Test
    void addressesOfAnEscapedViewAreNotUsedAgainAndEndWithTheSource() {
        supplier.discards = true;
        SealedBuffer seen = BufferBuilder.ofCapacity(memory, SLAB).putInt(7).seal();
        MemorySegment raw = seen.iovec().region(0);
        seen.close();
        memory.trim();
        assertEquals(0, budget.used());
        Region other = memory.allocate(SLAB);
        assertNotEquals(raw.address(), other.segment().address());
        other.segment().fill((byte) 9);
        assertEquals(0, raw.get(ValueLayout.JAVA_BYTE, 0));
        other.release();
        memory.trim();
        assertEquals(2, supplier.given.size());
        // without a view the addresses are taken again
        Region again = memory.allocate(SLAB);
        assertSame(2, supplier.given.size());
        again.release();
        memory.trim();
        memory.close();
        assertTrue(supplier.given.stream().allMatch(one -> one.ends == 1), supplier.given::toString);
        assertThrows(IllegalStateException.class, () -> raw.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void addressesThatCannotBeEndedAtTheCloseAreEndedLater() throws InterruptedException {
        supplier.discards = true;
        SealedBuffer seen = BufferBuilder.ofCapacity(memory, SLAB).putInt(7).seal();
        seen.iovec().region(0);
        seen.close();
        memory.trim();
        supplier.endFails = 1;
        memory.close();
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (supplier.given.getFirst().ends == 0 && System.nanoTime() < deadline) {
            Thread.sleep(5);
        }
        assertEquals(1, supplier.given.getFirst().ends);
    }

    private static final class Failing implements SlabSupplier {

        private final List<One> given = new ArrayList<>();
        private volatile boolean segmentFails;
        private volatile boolean discardFails;
        private volatile boolean discards;
        private volatile int endFails;

        @Override
        public Memory take(long byteSize) {
            One one = new One(SlabSupplier.arenas().take(byteSize));
            given.add(one);
            return one;
        }

        private final class One implements Memory {

            private final Memory real;
            private int asked;
            private volatile int ends;

            One(Memory real) {
                this.real = real;
            }

            @Override
            public MemorySegment segment() {
                asked++;
                if (segmentFails) {
                    segmentFails = false;
                    throw new Error("no segment");
                }
                return real.segment();
            }

            @Override
            public boolean discard() {
                if (discardFails) {
                    throw new InternalError("not now");
                }
                if (discards) {
                    real.segment().fill((byte) 0);
                }
                return discards;
            }

            @Override
            public void end() {
                if (endFails > 0) {
                    endFails--;
                    throw new InternalError("not now");
                }
                ends++;
                real.end();
            }

            @Override
            public String toString() {
                return "ends=" + ends;
            }
        }
    }
}
