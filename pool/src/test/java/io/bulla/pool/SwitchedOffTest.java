// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.internal.Live;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// A source without reuse is the default source, and what a source says of itself to [io.bulla.refcount.held].
class SwitchedOffTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final MemoryBudget budget = new MemoryBudget(8 * SlabSource.SLAB);

    private SlabSource off() {
        return SlabSource.builder().budget(budget).reuse(false).build();
    }

    private static List<List<String>> lines(SlabSource source) {
        return Live.of("pool").stream()
                .filter(each -> each.thing() == source)
                .map(each -> each.lines().apply(each.thing()))
                .toList();
    }

    @Test
    void regionsGrowInPlaceAndAreSealed() throws InterruptedException {
        SlabSource off = off();
        Region region = off.allocate(100);
        assertSame(region, off.grow(region, 200));
        assertTrue(region.byteSize() >= 200);
        assertEquals(3, off.seal(region, 3).byteSize());
        region.release();
        off.close(PATIENCE);
    }

    @Test
    void trimIsThatOfTheDefaultSource() throws InterruptedException {
        SlabSource off = off();
        off.trim();
        long end = System.nanoTime() + PATIENCE.toNanos();
        // on a thread of its own
        while (Objects.requireNonNull(off.plain).trims() == 0 && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        assertEquals(1, off.plain.trims());
        off.close(PATIENCE);
    }

    @Test
    void closeIsThatOfTheDefaultSource() throws InterruptedException {
        SlabSource off = off();
        Region region = off.allocate(100);
        off.close();
        assertThrows(IllegalStateException.class, () -> off.allocate(100));
        IllegalStateException held = assertThrows(IllegalStateException.class, () -> off.close(Duration.ofMillis(1)));
        assertTrue(held.getMessage().contains(" chunks=1 "), held.getMessage());
        region.release();
        off.close(PATIENCE);
    }

    @Test
    void sourceSaysWhatItHas() throws InterruptedException {
        SlabSource traced = SlabSource.builder()
                .budget(budget)
                .trace(LeaseLedger.full())
                .idle(Duration.ofHours(1))
                .build();
        SlabSource plain = SlabSource.builder().budget(budget).build();
        SlabSource off = off();
        assertEquals(
                List.of(List.of("closed=false slabs=0 booked=0 live=0 cached=0 idle=0 quarantined=0 used=0"
                        + " limit=16777216 held by [not traced]")),
                lines(plain));
        Region region = traced.allocate(SlabSource.SLAB);
        assertEquals(
                List.of(List.of("closed=false slabs=1 booked=2097152 live=2097152 cached=0 idle=0 quarantined=0"
                        + " used=2097152 limit=16777216 held by ["
                        + LeaseLedger.full().summary() + "]")),
                lines(traced));
        region.release();
        assertEquals(List.of(), lines(off), "the source that it is says so itself");
        traced.close(PATIENCE);
        plain.close(PATIENCE);
        off.close(PATIENCE);
    }

    @Test
    void defaultSourceReusesAndTellsNoListener() throws InterruptedException {
        SlabSource memory = SlabSource.create();
        assertNull(memory.trace());
        assertNull(memory.plain);
        memory.allocate(1).release();
        assertEquals(SlabSource.SLAB, memory.bookedBytes());
        memory.close(PATIENCE);
    }
}
