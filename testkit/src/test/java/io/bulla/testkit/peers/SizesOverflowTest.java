// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A sum of sizes overflows, the check passes, and memory is touched that belongs to no buffer.
///
/// RUSTSEC-2026-0007, CVE-2021-24036, CVE-2022-35647.
///
/// Aeron 2a40d8a290: a count is lowered by adding 4294967295.
@ExtendWith(NoOpenHandles.class)
class SizesOverflowTest {

    private static final long[] EDGES = {
        Long.MIN_VALUE, -1, 0, 1, 299, 300, 301, Integer.MAX_VALUE, 1L << 32, Long.MAX_VALUE - 7, Long.MAX_VALUE
    };

    @Test
    void sumThatWrapsPassesTheCheck() {
        int offset = 200;
        int length = Integer.MAX_VALUE;
        assertTrue(offset + length <= 300);
    }

    @Test
    void noRangeReachesOutside(MemorySource source) {
        try (SealedBuffer one = Bytes.seal(source, Bytes.numbered(1, 300));
                SealedBuffer left = one.slice(0, 150);
                SealedBuffer right = one.slice(150, 150);
                SealedBuffer many = SealedBuffer.concat(left, right)) {
            MemorySegment target = MemorySegment.ofArray(new byte[300]);
            int inside = 0;
            for (SealedBuffer buffer : List.of(one, many)) {
                IoVec vector = buffer.iovec();
                for (long offset : EDGES) {
                    for (long length : EDGES) {
                        if (offset >= 0 && length >= 0 && offset <= 300 && length <= 300 - offset) {
                            buffer.slice(offset, length).close();
                            vector.copyTo(offset, target, length);
                            inside++;
                        } else {
                            refused(() -> buffer.slice(offset, length));
                            refused(() -> vector.slice(offset, length));
                            refused(() -> vector.copyTo(offset, target, length));
                        }
                    }
                    if (offset < 0 || offset > 299) {
                        refused(() -> vector.get(ValueLayout.JAVA_BYTE, offset));
                        refused(() -> vector.get(ValueLayout.JAVA_INT_UNALIGNED, offset));
                        refused(() -> vector.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
                    }
                }
            }
            assertEquals(2 * 10, inside);
        }
    }

    @Test
    void hugeWishIsRefusedAndNothingIsBooked() throws InterruptedException {
        for (MemoryBudget budget : List.of(new MemoryBudget(1 << 20), MemoryBudget.unlimited())) {
            try (ArenaSource source = ArenaSource.create(budget, null)) {
                MemorySource.Region region = source.allocate(8);
                long used = budget.used();
                for (long wish : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 7, 1L << 62}) {
                    assertThrows(Throwable.class, () -> source.allocate(wish));
                    assertThrows(
                            Throwable.class,
                            () -> BufferBuilder.ofCapacity(source, wish).putByte((byte) 1));
                    assertNull(source.grow(region, wish));
                }
                assertEquals(used, budget.used());
                assertEquals(8, region.byteSize());
                region.release();
                source.close(Duration.ofSeconds(60));
            }
        }
        MemoryBudget full = new MemoryBudget(Long.MAX_VALUE);
        full.take(Long.MAX_VALUE);
        assertThrows(MemoryLimitException.class, () -> full.take(1));
    }

    @Test
    void truncateCannotMakeABuilderLonger(MemorySource source) {
        try (BufferBuilder builder = BufferBuilder.create(source).put(new byte[300])) {
            for (long size : EDGES) {
                if (size < 0 || size > 300) {
                    assertThrows(IllegalArgumentException.class, () -> builder.truncate(size));
                }
            }
            assertEquals(300, builder.byteSize());
        }
    }

    @Test
    void countIsWiderThanAnyNumberOfHandles() {
        class Resource extends RefCount {
            private boolean freed;

            Resource() {
                super(null);
            }

            boolean join(int holders) {
                return retain(holders);
            }

            void leave(int holders) {
                release(holders);
            }

            @Override
            protected void free() {
                freed = true;
            }
        }
        Resource resource = new Resource();
        for (int i = 0; i < 4; i++) {
            assertTrue(resource.join(Integer.MAX_VALUE));
        }
        assertEquals(1 + 4L * Integer.MAX_VALUE, resource.holders());
        for (int i = 0; i < 4; i++) {
            resource.leave(Integer.MAX_VALUE);
        }
        assertEquals(1, resource.holders());
        assertTrue(!resource.freed);
        resource.leave(1);
        assertTrue(resource.freed);
    }

    private static void refused(Runnable use) {
        assertThrows(IndexOutOfBoundsException.class, use::run);
    }
}
