// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/// The buffer object is recycled, so a reference kept too long is one to somebody else's new buffer.
///
/// turms#786, pulsar#10433, okio#1147; elasticsearch#116211: the access after release is not even noticed.
class StaleReferenceFreesAStrangerTest {

    private static final byte[] OLD = Bytes.numbered(1, 100);
    private static final byte[] NEW = Bytes.numbered(50, 100);

    @Test
    void recycledObjectObeysItsFormerHolder() {
        class Pooled {
            private boolean live = true;

            void release() {
                live = false;
            }
        }
        Deque<Pooled> pool = new ArrayDeque<>();
        Pooled stale = new Pooled();
        stale.release();
        pool.push(stale);
        Pooled stranger = pool.pop();
        stranger.live = true;
        stale.release();
        assertSame(stale, stranger);
        assertEquals(false, stranger.live, "freed without an error");
    }

    @Test
    void memoryIsReusedButHandlesAreNot() {
        OneRegionSource source = new OneRegionSource();
        SealedBuffer stale = Bytes.seal(source, OLD);
        long address = stale.iovec().region(0).address();
        stale.close();
        try (SealedBuffer stranger = Bytes.seal(source, NEW)) {
            assertEquals(address, stranger.iovec().region(0).address(), "the same memory");
            assertNotSame(stale, stranger);
            stale.close();
            assertTrue(stranger.isOpen());
            assertEquals(1, stranger.holders());
            assertEquals(0, stale.holders());
            assertThrows(ReleasedBufferException.class, stale::iovec);
            assertThrows(ReleasedBufferException.class, stale::share);
            assertArrayEquals(NEW, Bytes.of(stranger));
        }
    }

    /// A pool at its most eager: hands the same memory out again at once.
    private static final class OneRegionSource implements MemorySource {

        private final MemorySegment memory = Arena.ofAuto().allocate(256);
        private boolean taken;

        @Override
        public Region allocate(long byteSize) {
            if (taken || byteSize > memory.byteSize()) {
                throw new IllegalStateException("taken: byteSize=" + byteSize);
            }
            taken = true;
            return new Region() {
                @Override
                public MemorySegment segment() {
                    return memory;
                }

                @Override
                public void release() {
                    taken = false;
                }
            };
        }
    }
}
