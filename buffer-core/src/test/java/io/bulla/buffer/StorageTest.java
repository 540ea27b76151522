// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// What an event of the flight recorder stands before.
class StorageTest {

    @Test
    void storageWithAnEventIsGivenBackAsWithoutOne() {
        AtomicInteger released = new AtomicInteger();
        long before = MemoryBudget.adopted();
        MemoryBudget.own(4);
        Storage.Foreign foreign = new Storage.Foreign(4, released::incrementAndGet);
        Storage.Timed timed = new Storage.Timed(null, foreign, new FlightEvents.LastClose());
        assertEquals(4, timed.size());
        SealedBuffer buffer = new SealedBuffer(timed, Bytes.vector(Bytes.numbered(4)));
        buffer.announce(null);
        assertEquals(4, buffer.pinnedBytes());
        assertEquals(0, released.get());
        buffer.close();
        assertEquals(1, released.get());
        assertEquals(before, MemoryBudget.adopted());
    }
}
