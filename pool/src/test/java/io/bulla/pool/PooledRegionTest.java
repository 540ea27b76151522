// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// What may be done with a region, and when no more.
class PooledRegionTest {

    private static final int PAGE = 4096;

    private final MemoryBudget budget = new MemoryBudget(4 * SlabSource.SLAB);
    private final SlabSource memory =
            SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).build();

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
    }

    private void assertRefused(String why, Executable... calls) {
        for (Executable each : calls) {
            assertEquals(why, assertThrows(IllegalStateException.class, each).getMessage());
        }
    }

    @Test
    void regionThatWasGivenBackIsOver() {
        Region region = memory.allocate(100);
        region.release();
        assertRefused(
                "region already given back: byteSize=256",
                region::release,
                region::segment,
                () -> memory.seal(region, 1),
                () -> memory.sealFilled(region, 1),
                () -> memory.grow(region, 200),
                () -> memory.grow(region, 1000),
                () -> Slab.of(region));
        memory.trim();
        assertEquals(0, memory.figures().liveBytes());
    }

    @Test
    void sealedRegionIsWrittenToNoMore() {
        Region region = memory.allocate(100);
        MemorySegment sealed = memory.seal(region, 60);
        assertEquals(60, sealed.byteSize());
        assertTrue(sealed.isReadOnly());
        assertRefused(
                "region already sealed: byteSize=256",
                () -> memory.seal(region, 60),
                () -> memory.grow(region, 200),
                () -> memory.grow(region, 1000));
        assertEquals(256, region.byteSize());
        region.release();
        assertRefused("region already given back: byteSize=256", region::release);
        memory.trim();
        assertEquals(0, memory.figures().liveBytes());
    }

    /// It can be sealed again, with as many bytes as there are.
    @Test
    void sealThatFailsChangesNothing() {
        Region region = memory.allocate(100);
        assertThrows(IndexOutOfBoundsException.class, () -> memory.seal(region, 257));
        assertSame(region, memory.grow(region, 200));
        assertEquals(256, memory.seal(region, 256).byteSize());
        region.release();
    }

    @Test
    void partsAreThoseBetweenItsFirstByteAndItsLast() {
        PooledRegion region = (PooledRegion) memory.allocate(PAGE);
        PooledRegion next = (PooledRegion) memory.allocate(PAGE);
        List<PooledRegion> both =
                region.segment().address() < next.segment().address() ? List.of(region, next) : List.of(next, region);
        MemorySegment slab = region.slab().memory.segment();
        long at = both.getFirst().segment().address() - slab.address();
        assertTrue(both.getFirst().holds(slab.asSlice(at, PAGE)));
        assertTrue(both.getFirst().holds(slab.asSlice(at + PAGE - 1, 1)));
        assertFalse(both.getFirst().holds(slab.asSlice(at + 1, PAGE)));
        assertFalse(both.getFirst().holds(slab.asSlice(at + PAGE, 1)));
        assertFalse(both.getLast().holds(slab.asSlice(at, 1)), "of the one before");
        both.forEach(Region::release);
    }
}
