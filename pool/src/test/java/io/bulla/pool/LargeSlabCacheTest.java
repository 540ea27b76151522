// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.bulla.pool.Slab.Slot;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Whole slabs that a device knows: each is taken once, by a request of its size.
class LargeSlabCacheTest {

    private final Home home = new Home();
    private final LargeSlabCache cache = new LargeSlabCache(new Depot());

    @AfterEach
    void memoryEnds() {
        home.close();
    }

    private Slot kept(long bytes) {
        Slot slot = home.whole(bytes);
        cache.keep(slot);
        return slot;
    }

    @Test
    void oneOfTheSizeIsTakenAndTheOthersStay() {
        Slot small = kept(64);
        Slot large = kept(256);
        Slot middle = kept(128);
        Slot other = kept(128);
        assertEquals(576, cache.bytes());
        assertNull(cache.take(512));
        assertEquals(576, cache.bytes());
        assertSame(small, cache.take(64), "the lowest");
        assertSame(large, cache.take(256), "from between");
        assertEquals(Set.of(middle, other), Set.of(cache.take(128), cache.take(128)));
        assertNull(cache.take(128));
        assertEquals(0, cache.bytes());
        assertEquals(List.of(), home.emptied, "all are held by those who took them");
    }

    @Test
    void slabGoesHomeWhereThereIsNoHeapToKeepIt() {
        Slot slot = home.whole(64);
        new LargeSlabCache(new FullDepot()).keep(slot);
        assertEquals(List.of(slot.slab), home.emptied);
    }

    @Test
    void allGoHome() {
        Slot one = kept(64);
        Slot other = kept(128);
        cache.leave();
        assertEquals(Set.of(one.slab, other.slab), Set.copyOf(home.emptied));
        assertEquals(2, home.emptied.size());
        assertEquals(0, cache.bytes());
        assertNull(cache.take(64));
    }

    @Test
    void onlyWhatWasNotNeededGoesHome() {
        kept(64);
        kept(64);
        kept(64);
        cache.leaveSpare();
        assertEquals(List.of(), home.emptied, "they have just come");
        cache.keep(cache.take(64));
        cache.leaveSpare();
        assertEquals(2, home.emptied.size(), "one was needed");
        assertEquals(64, cache.bytes());
        cache.leaveSpare();
        assertEquals(3, home.emptied.size());
        cache.leaveSpare();
        assertEquals(0, cache.bytes());
    }
}
