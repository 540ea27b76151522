// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.CountingSource;
import io.bulla.testkit.SlowChannel;
import io.bulla.testkit.StingySource;
import java.io.EOFException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Something fails half-way, and what was taken before stays taken; or it is given back twice.
///
/// arrow-java#1239: an import that meets the limit leaks what it imported. folly T154815366:
/// `freeOnError` is not heeded on every path.
class LimitIsHitHalfWayTest {

    private static final byte[] MESSAGE = Bytes.numbered(19, 10_000);

    private final CountingSource source = new CountingSource(null);

    @Test
    void importThatRetainsBeforeItAsksLeaks() {
        class Importer {
            private int held;

            void take(int parts, int limit) {
                for (int part = 0; part < parts; part++) {
                    held++;
                    if (part == limit) {
                        throw new IllegalStateException("limit");
                    }
                }
            }
        }
        Importer importer = new Importer();
        assertThrows(IllegalStateException.class, () -> importer.take(5, 3));
        assertEquals(4, importer.held);
    }

    @Test
    void writeThatRunsOutOfMemoryGivesBackWhatItTook() {
        for (int regions = 0; regions < 4; regions++) {
            MemorySource stingy = new StingySource(source, regions);
            try (BufferBuilder builder = BufferBuilder.create(stingy)) {
                for (int i = 0; i < 3; i++) {
                    assertTrue(assertThrows(IllegalStateException.class, () -> {
                                builder.put(new byte[200]);
                                builder.put(MESSAGE).put(MESSAGE).put(new byte[3 << 20]);
                            })
                            .getMessage()
                            .startsWith("stingy source refuses: "));
                }
            }
            assertEquals(source.taken(), source.givenBack());
        }
    }

    @Test
    void copyThatRunsOutOfMemoryLeavesTheOriginalAlone() {
        SealedBuffer original = Bytes.seal(source, MESSAGE);
        for (int i = 0; i < 2; i++) {
            MemorySource stingy = new StingySource(source, 0);
            assertThrows(IllegalStateException.class, () -> original.copy(stingy));
        }
        assertEquals(1, original.holders());
        assertArrayEquals(MESSAGE, Bytes.of(original));
        original.close();
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void concatThatMeetsAClosedPartKeepsNoShare() {
        SealedBuffer closed = Bytes.seal(source, MESSAGE);
        closed.close();
        SealedBuffer open = Bytes.seal(source, MESSAGE);
        assertThrows(ReleasedBufferException.class, () -> SealedBuffer.concat(open, open, closed));
        assertThrows(NullPointerException.class, () -> SealedBuffer.concat(open, open, null));
        assertEquals(1, open.holders());
        open.close();
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void memoryThatIsNotAdoptedIsGivenBackOnce() {
        AtomicInteger givenBack = new AtomicInteger();
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment memory = confined.allocate(8);
            assertThrows(IllegalArgumentException.class, () -> SealedBuffer.adopt(memory, givenBack::incrementAndGet));
        }
        assertEquals(1, givenBack.get());
        assertThrows(NullPointerException.class, () -> SealedBuffer.adopt(null, givenBack::incrementAndGet));
        assertEquals(2, givenBack.get());
    }

    @Test
    void budgetIsAsBeforeAfterARefusal() throws InterruptedException {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        try (ArenaSource limited = ArenaSource.create(budget, null)) {
            SealedBuffer buffer = Bytes.seal(limited, MESSAGE);
            long used = budget.used();
            for (int i = 0; i < 3; i++) {
                assertThrows(MemoryLimitException.class, () -> Bytes.seal(limited, new byte[2 << 20]));
                assertTrue(BufferBuilder.tryBuild(limited, 2 << 20).isEmpty());
                assertEquals(used, budget.used());
            }
            buffer.close();
            limited.close(Duration.ofSeconds(60));
            assertEquals(0, budget.used());
        }
    }

    @Test
    void channelThatEndsEarlyLeavesNothingTaken() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            assertThrows(EOFException.class, () -> builder.readFully(new SlowChannel(MESSAGE, 100), 20_000));
            assertEquals(0, builder.byteSize());
        }
        assertTrue(source.taken() > 1);
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void sealThatFailsGivesTheMemoryBackAndEndsTheBuilder() {
        MemorySource sealless = new MemorySource() {
            @Override
            public Region allocate(long byteSize) {
                return source.allocate(byteSize);
            }

            @Override
            public MemorySegment seal(Region region, long used) {
                throw new IllegalStateException("cannot seal");
            }
        };
        try (BufferBuilder builder = BufferBuilder.create(sealless).put(MESSAGE)) {
            assertThrows(IllegalStateException.class, builder::seal);
            assertEquals(source.taken(), source.givenBack());
            assertThrows(IllegalStateException.class, () -> builder.putInt(1));
        }
        assertEquals(source.taken(), source.givenBack());
    }
}
