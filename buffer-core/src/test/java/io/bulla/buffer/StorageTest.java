// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// What a buffer gives back at its end, and how much of it stays taken until then.
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

    /// A source of regions of 64 bytes, none of which grows.
    private record Small(MemorySource of) implements MemorySource {
        @Override
        public Region allocate(long byteSize) {
            return of.allocate(64);
        }
    }

    @Test
    void bufferOfSeveralRegionsPinsAllOfThem() {
        try (ArenaSource source = ArenaSource.create();
                SealedBuffer buffer = Bytes.sealed(new Small(source), 150)) {
            assertEquals(150, buffer.byteSize());
            assertEquals(3 * 64, buffer.pinnedBytes());
        }
    }
}
