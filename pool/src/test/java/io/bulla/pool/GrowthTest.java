// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Which regions grow, and what a source does with a region of another one.
class GrowthTest {

    private final MemoryBudget budget = new MemoryBudget(8 * SlabSource.SLAB);
    private final SlabSource memory =
            SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).build();

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
    }

    @Test
    void regionThatHasTheRoomStaysWhereItIs() {
        Region region = memory.allocate(200);
        long address = region.segment().address();
        assertSame(region, memory.grow(region, 256));
        assertEquals(address, region.segment().address());
        assertEquals(256, region.byteSize());
        region.release();
    }

    @Test
    void smallRegionMovesWithItsBytes() {
        Region region = memory.allocate(256);
        long address = region.segment().address();
        region.segment().fill((byte) 7);
        assertSame(region, memory.grow(region, SizeClasses.LARGEST));
        assertNotEquals(address, region.segment().address());
        assertEquals(SizeClasses.LARGEST, region.byteSize());
        assertEquals(7, region.segment().get(ValueLayout.JAVA_BYTE, 255));
        assertNull(memory.grow(region, SizeClasses.LARGEST + 1), "it is large now");
        region.release();
        Region other = memory.allocate(256);
        assertEquals(address, other.segment().address(), "the place before is free");
        other.release();
    }

    @Test
    void regionThatIsLargeOrBecomesSoDoesNotMove() {
        Region copied = memory.allocate(16 << 10);
        assertNull(memory.grow(copied, SizeClasses.LARGEST + 1));
        assertNotNull(memory.grow(copied, 20 << 10));
        assertEquals(20 << 10, copied.byteSize());
        assertNull(memory.grow(copied, 24 << 10));
        copied.release();
    }

    @Test
    void regionIsFilledToItsEnd() {
        Region region = memory.allocate(256);
        region.segment().fill((byte) 7);
        try (SealedBuffer all = memory.sealFilled(region, 256)) {
            assertEquals(256, all.byteSize());
        }
    }

    @Test
    void regionOfAnotherSourceIsSealedAndDoesNotGrow() {
        try (ArenaSource other = ArenaSource.create()) {
            Region region = other.allocate(100);
            assertNull(memory.grow(region, 200));
            MemorySegment sealed = memory.seal(region, 3);
            assertEquals(3, sealed.byteSize());
            assertTrue(sealed.isReadOnly());
            region.release();
        }
    }
}
