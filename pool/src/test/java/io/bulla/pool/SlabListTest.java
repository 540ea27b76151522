// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.EmptySlabs.SlabList;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// No slab is lost or in two lists.
class SlabListTest {

    private final Arena arena = Arena.ofConfined();
    private final SlabList list = new SlabList();

    @AfterEach
    void memoryEnds() {
        arena.close();
    }

    private Slab put(long bytes, long emptySince) {
        Slab slab = slab(bytes);
        slab.emptySince = emptySince;
        list.put(slab);
        return slab;
    }

    private Slab slab(long bytes) {
        return new Slab(null, new ArenaMemory(arena, arena.allocate(bytes)));
    }

    @Test
    void bytesAreThoseOfAllSlabs() {
        assertTrue(list.isEmpty());
        assertEquals(0, list.bytes());
        put(64, 0);
        put(128, 0);
        assertFalse(list.isEmpty());
        assertEquals(192, list.bytes());
    }

    @Test
    void slabOfASizeIsTakenFromBetweenOthers() {
        Slab last = put(64, 0);
        Slab middle = put(128, 0);
        Slab first = put(256, 0);
        assertNull(list.takeOf(512));
        assertSame(middle, list.takeOf(128));
        assertNull(list.takeOf(128));
        assertSame(first, list.takeOf(256));
        assertSame(last, list.poll());
        assertNull(list.poll());
    }

    @Test
    void thoseThatWereEmptyAtATimeLeaveTheOldestFirst() {
        Slab oldest = put(64, Long.MAX_VALUE - 1);
        Slab old = put(64, Long.MAX_VALUE);
        Slab young = put(64, Long.MIN_VALUE);
        SlabList target = new SlabList();
        list.moveEmptySince(Long.MAX_VALUE, target);
        assertSame(oldest, target.poll());
        assertSame(old, target.poll());
        assertNull(target.poll());
        assertSame(young, list.poll());
        assertTrue(list.isEmpty());
    }

    @Test
    void stepThatThrowsLosesNoOtherSlab() {
        Slab one = put(64, 0);
        Slab other = put(64, 0);
        put(64, 0);
        List<Slab> met = new ArrayList<>();
        assertThrows(
                IllegalStateException.class,
                () -> list.drain(each -> {
                    met.add(each);
                    throw new IllegalStateException("thrown by the test");
                }));
        assertEquals(1, met.size());
        assertEquals(128, list.bytes());
        met.clear();
        list.drain(each -> {
            met.add(each);
            list.put(each);
        });
        assertEquals(
                List.of(one, other),
                met.stream().sorted((a, b) -> Long.compare(a.id(), b.id())).toList());
        assertEquals(128, list.bytes());
    }
}
