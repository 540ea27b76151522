// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/// Which poisoned regions wait, without the thread that usually lets them go.
class QuarantineTest {

    private static final int LIMIT = 1000;

    // its thread never starts
    private final ArenaCloser closer = new ArenaCloser(bytes -> {}, 0, thread -> {});
    private final Quarantine quarantine = new Quarantine(LIMIT);

    private AloneRegion poisoned(int size) {
        closer.opening();
        Chunk chunk = new Chunk(closer);
        AloneRegion region = new AloneRegion(chunk, closer, chunk.allocate(size), true);
        region.segment().fill(AloneRegion.POISON);
        return region;
    }

    private void assertWaiting(int regions) throws InterruptedException {
        // closes those that have left
        closer.awaitNone(0);
        assertEquals(regions, closer.open());
    }

    @Test
    void theOldestLeaveWhileTheOthersAreMoreThanTheLimit() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            quarantine.keep(poisoned(LIMIT / 10));
        }
        assertWaiting(10);
        for (int i = 0; i < 20; i++) {
            quarantine.keep(poisoned(LIMIT / 10));
            assertWaiting(10);
        }
        quarantine.keep(poisoned(LIMIT / 2));
        assertWaiting(6);
        quarantine.keep(poisoned(LIMIT));
        assertWaiting(1);
        quarantine.end();
        assertWaiting(0);
        assertEquals(0, quarantine.lateWrites());
    }

    @Test
    void listOfRegionsIsTakenInAsOne() throws InterruptedException {
        AloneRegion oldest = poisoned(LIMIT / 2);
        oldest.next = poisoned(LIMIT / 2);
        oldest.next.next = poisoned(LIMIT / 2);
        quarantine.keep(oldest);
        assertWaiting(2);
        quarantine.keep(poisoned(LIMIT / 2));
        assertWaiting(2);
        quarantine.end();
        assertWaiting(0);
    }
}
