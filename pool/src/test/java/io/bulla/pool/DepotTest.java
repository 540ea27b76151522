// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.bulla.pool.Depot.Chain;
import org.junit.jupiter.api.Test;

class DepotTest {

    private final Depot depot = new Depot();

    private Chain put() {
        Chain chain = new Chain().of(null, 1);
        depot.put(chain);
        return chain;
    }

    @Test
    void theLastPutIsTheFirstPolled() {
        Chain first = put();
        Chain second = put();
        assertSame(second, depot.poll());
        assertSame(first, depot.poll());
        assertNull(depot.poll());
    }

    @Test
    void bytesAreThoseOfAllSlotsInAllChains() {
        try (Home home = new Home()) {
            assertEquals(0, depot.bytes());
            Slab slab = home.slab(1 << 20);
            int pages = SizeClasses.of(4096);
            depot.put(new Chain().of(Home.linked(slab, pages, 3), 3));
            depot.put(new Chain().of(Home.linked(slab, pages, 2), 2));
            assertEquals(5 * 4096L, depot.bytes());
            assertEquals(2, depot.poll().count);
            assertEquals(3 * 4096L, depot.bytes());
        }
    }

    @Test
    void spareAreThoseThatWereThereAllTheTime() {
        put();
        put();
        put();
        assertEquals(0, depot.spare(), "they came since the last look");
        assertEquals(3, depot.spare());
        depot.poll();
        depot.poll();
        put();
        put();
        depot.poll();
        assertEquals(1, depot.spare(), "the fewest that there were");
        assertEquals(2, depot.spare());
    }

    @Test
    void emptyDepotSparesNothing() {
        put();
        depot.spare();
        depot.poll();
        put();
        assertEquals(0, depot.spare());
        depot.poll();
        assertNull(depot.poll());
        assertEquals(0, depot.spare());
    }
}
