// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.Racers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A retain that comes too late adds to a count of zero, and for a moment the next one looks legal.
///
/// netty#8563, netty#8574, netty#8583, pulsar#2993. Arrow Java does not undo it: a failed `retain` leaves 1.
@ExtendWith(NoOpenHandles.class)
class FreedCountRisesAgainTest {

    @Test
    void addThatIsUndoneLetsAnotherRetainThrough() {
        class Xadd {
            private int count;

            boolean addIfHeld() {
                return count++ > 0;
            }

            void undo() {
                count--;
            }
        }
        Xadd freed = new Xadd();
        assertFalse(freed.addIfHeld(), "the first late retain is noticed");
        assertTrue(freed.addIfHeld(), "the second one, before the undo, is not");
        freed.undo();
        assertEquals(1, freed.count);
    }

    @Test
    void freedIsFinalHoweverManyRetainAtOnce() throws Exception {
        for (int round = 0; round < 10; round++) {
            Resource resource = new Resource();
            resource.leave();
            Runnable retains = () -> {
                for (int i = 0; i < 200_000; i++) {
                    assertFalse(resource.join());
                }
            };
            try (Racers racers = new Racers(3)) {
                racers.race(retains, retains, retains);
            }
            assertEquals(0, resource.holders());
            assertEquals(1, resource.freed);
            assertEquals(
                    "released more often than retained: state=1",
                    assertThrows(IllegalStateException.class, resource::leave).getMessage());
            assertFalse(resource.join(), "nor does a release too many open it");
            assertEquals(1, resource.freed);
        }
    }

    @Test
    void failedShareLeavesTheHandleClosed(MemorySource source) {
        SealedBuffer buffer = Bytes.seal(source, (byte) 1);
        buffer.close();
        for (int i = 0; i < 3; i++) {
            assertThrows(ReleasedBufferException.class, buffer::share);
            assertThrows(ReleasedBufferException.class, () -> buffer.shares(2));
            assertThrows(ReleasedBufferException.class, buffer::move);
            assertThrows(ReleasedBufferException.class, buffer::iovec);
        }
        assertEquals(0, buffer.holders());
    }

    private static final class Resource extends RefCount {

        private int freed;

        Resource() {
            super(null);
        }

        boolean join() {
            return retain(1);
        }

        void leave() {
            release();
        }

        @Override
        protected void free() {
            freed++;
        }
    }
}
