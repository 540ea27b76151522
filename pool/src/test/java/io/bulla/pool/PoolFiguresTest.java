// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a source says of itself, and what it refuses.
class PoolFiguresTest {

    private static final long SLAB = SlabSource.SLAB;
    private static final int PAGE = 4096;
    private static final int LIST = Magazine.slots(SizeClasses.of(PAGE));

    private final MemoryBudget budget = new MemoryBudget(8 * SLAB);
    private final SlabSource memory =
            SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).build();

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
    }

    @Test
    void regionsAreInUseAtHandOrAtHome() {
        Region one = memory.allocate(PAGE);
        PoolFigures first = memory.figures();
        assertEquals(1, first.slabs());
        assertEquals(1, first.magazines());
        assertEquals(SLAB, first.bookedBytes());
        assertEquals(0, first.idleBytes());
        assertEquals((long) (LIST - 1) * PAGE, first.cachedBytes());
        assertEquals(0, first.taken());
        assertEquals(1, first.missed());

        Region other = memory.allocate(PAGE);
        PoolFigures second = memory.figures();
        assertEquals((long) (LIST - 2) * PAGE, second.cachedBytes());
        assertEquals(1, second.taken());
        assertEquals(1, second.missed());

        one.release();
        assertEquals((long) (LIST - 1) * PAGE, memory.figures().cachedBytes());
        memory.trim();
        PoolFigures trimmed = memory.figures();
        assertEquals(0, trimmed.cachedBytes());
        assertEquals(PAGE, trimmed.liveBytes());
        assertEquals(1, trimmed.slabs());

        other.release();
        memory.trim();
        PoolFigures last = memory.figures();
        assertEquals(0, last.liveBytes());
        assertEquals(0, last.slabs());
        assertEquals(0, last.bookedBytes());
        assertEquals(1, last.taken());
    }

    @Test
    void emptySlabsAreIdleUntilTheyAreGivenBack() {
        Region large = memory.allocate(SLAB);
        Region larger = memory.allocate(2 * SLAB);
        assertEquals(3 * SLAB, memory.figures().liveBytes());
        assertEquals(0, memory.figures().idleBytes());
        large.release();
        assertEquals(SLAB, memory.figures().idleBytes());
        assertEquals(1, memory.figures().slabs());
        larger.release();
        assertEquals(3 * SLAB, memory.figures().idleBytes());
        assertEquals(3 * SLAB, memory.figures().bookedBytes());
        assertEquals(0, memory.figures().slabs());
        memory.trim();
        assertEquals(0, memory.figures().idleBytes());
    }

    @Test
    void whatAThreadTookIsCountedAfterItsEnd() throws InterruptedException {
        Thread other = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 5; i++) {
                memory.allocate(PAGE).release();
            }
        });
        other.join();
        memory.trim();
        assertEquals(0, memory.figures().magazines());
        assertEquals(4, memory.figures().taken());
        assertEquals(1, memory.figures().missed());
        memory.allocate(PAGE).release();
        memory.allocate(PAGE).release();
        assertEquals(5, memory.figures().taken());
        assertEquals(2, memory.figures().missed());
    }

    @Test
    void whatVirtualThreadsTakeIsCounted() throws InterruptedException {
        Thread.ofVirtual()
                .start(() -> {
                    memory.allocate(PAGE).release();
                    memory.allocate(PAGE).release();
                })
                .join();
        PoolFigures figures = memory.figures();
        assertEquals(0, figures.magazines());
        assertEquals(2, figures.taken() + figures.missed());
        assertEquals((long) LIST * PAGE, figures.cachedBytes());
    }

    @Test
    void hitRateIsThatOfWhatWasTaken() {
        assertEquals(1, new PoolFigures(0, 0, 0, 0, 0, 0, 0, 0, 0).hitRate());
        assertEquals(1, new PoolFigures(0, 9, 0, 0, 0, 0, 0, 0, 0).hitRate());
        assertEquals(0.75, new PoolFigures(4, 1, 0, 0, 0, 0, 0, 0, 0).hitRate());
        assertEquals(0, new PoolFigures(4, 9, 0, 0, 0, 0, 0, 0, 0).hitRate());
    }

    @Test
    void mistakesAreRefusedByName() {
        assertEquals(
                "a region is at least one byte: byteSize=0",
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(0))
                        .getMessage());
        assertEquals(
                "region is too large: byteSize=9223372036854775807",
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(Long.MAX_VALUE))
                        .getMessage());
        SlabSource.Builder builder = SlabSource.builder();
        assertEquals(
                "size of a magazine is negative: bytes=-1",
                assertThrows(IllegalArgumentException.class, () -> builder.magazineBytes(-1))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> builder.idle(Duration.ofNanos(999_999)));
        Region region = memory.allocate(300);
        assertThrows(IllegalArgumentException.class, () -> memory.sealFilled(region, -1));
        region.release();
    }

    @Test
    void leastSettingsAreTaken() throws InterruptedException {
        SlabSource.Builder builder = SlabSource.builder();
        assertSame(builder, builder.magazineBytes(0));
        assertSame(builder, builder.idle(Duration.ofMillis(1)));
        try (SlabSource least = builder.budget(budget).build()) {
            Region one = least.allocate(PAGE);
            Region other = least.allocate(PAGE);
            one.release();
            other.release();
            long atHand = least.figures().cachedBytes();
            assertTrue(atHand <= (long) LIST * PAGE, "" + atHand);
        }
    }
}
