// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// The one who handed the memory out takes it back by the clock, or when it is closed, and a reader is not done.
///
/// aeron#1675, aeron#520: a log is unmapped some seconds after its last use. arrow#33744: an allocator that
/// closes what is open hides the leak. Arrow 15f50796b: a leak check must wait for releases on other threads.
class SourceIsClosedBeneathAReaderTest {

    private static final byte[] MESSAGE = Bytes.numbered(25, 100_000);

    @Test
    void lingerIsShorterThanAReader() {
        class Linger {
            private long closedAt = -1;

            boolean isMapped(long now) {
                return closedAt < 0 || now < closedAt + 3_000;
            }
        }
        Linger log = new Linger();
        log.closedAt = 0;
        assertTrue(log.isMapped(2_999));
        assertTrue(!log.isMapped(3_001), "the reader was stopped for longer");
    }

    @Test
    void allocatorThatClosesWhatIsOpenBreaksTheReader() {
        Arena allocator = Arena.ofShared();
        MemorySegment read = allocator.allocate(8);
        allocator.close();
        assertThrows(IllegalStateException.class, () -> read.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void closedSourceNamesTheHoldersAndWaitsForThem() throws InterruptedException {
        MemoryBudget budget = MemoryBudget.unlimited();
        ArenaSource source = ArenaSource.create(budget, LeaseLedger.full());
        SealedBuffer first = Bytes.seal(source, MESSAGE);
        SealedBuffer held = first.move("a slow reader");
        String message = assertThrows(IllegalStateException.class, () -> source.close(Duration.ofMillis(50)))
                .getMessage();
        assertTrue(message.startsWith("memory source closed with open handles: chunks=1 "), message);
        assertTrue(message.contains("a slow reader: handles=1 size="), message);

        assertArrayEquals(MESSAGE, Bytes.of(held));
        IoVec escaped = held.iovec();
        Thread other = Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            held.close();
        });
        source.close(Duration.ofSeconds(60));
        assertTrue(!held.isOpen());
        assertEquals(0, budget.used());
        assertThrows(IllegalStateException.class, () -> escaped.get(ValueLayout.JAVA_BYTE, 0));
        other.join();
    }
}
