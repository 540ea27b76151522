// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A seal that fails, at each of its foreign calls: the builder is over, by name, and no byte of another buffer
/// changes.
class FailingSealTest {

    private static final String OVER = "builder already given back by a seal that failed: byteSize=8";

    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private ArenaSource arenas = ArenaSource.create(budget, null);

    @AfterEach
    void everythingIsGivenBack() throws InterruptedException {
        arenas.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    /// Seals as its arenas do, which gives the unused end of the region back, and fails then.
    private final class FailsAfterTheSeal implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            return arenas.allocate(byteSize);
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            arenas.seal(region, used);
            throw new InternalError("of a test");
        }
    }

    @Test
    void builderWhoseSealFailedNeverWritesIntoAnotherBuffer() {
        BufferBuilder failed = BufferBuilder.create(new FailsAfterTheSeal()).putLong(1);
        assertThrows(InternalError.class, failed::seal);
        SealedBuffer other = Bytes.sealed(arenas, 200);
        assertEquals(
                OVER,
                assertThrows(IllegalStateException.class, () -> failed.put(new byte[100]))
                        .getMessage());
        assertEquals(
                OVER, assertThrows(IllegalStateException.class, failed::seal).getMessage());
        failed.close();
        assertEquals(-1, other.iovec().mismatch(Bytes.vector(Bytes.numbered(200))));
        other.close();
    }

    /// Throws when it hears of a lease, or when it hears of its end.
    private static final class Throwing implements LeaseTrace {

        private final boolean atOpening;
        private final List<Lease> heard = new ArrayList<>();

        Throwing(boolean atOpening) {
            this.atOpening = atOpening;
        }

        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            heard.add(lease);
            // whatever a listener does with a lease that is not open yet
            lease.close();
            assertFalse(lease.isOpen());
            if (atOpening) {
                throw new InternalError("of a test");
            }
            return this;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            throw new IllegalStateException("listener of a test");
        }
    }

    @Test
    void listenerThatThrowsAtTheSealLosesNoRegion() {
        for (int bytes : new int[] {8, 100_000, 2 << 20}) {
            Throwing trace = new Throwing(true);
            ArenaSource traced = ArenaSource.create(budget, trace);
            BufferBuilder builder = BufferBuilder.create(traced).put(Bytes.numbered(bytes));
            assertThrows(InternalError.class, () -> builder.seal("tag"));
            assertEquals(
                    "builder already given back by a seal that failed: byteSize=" + bytes,
                    assertThrows(IllegalStateException.class, builder::seal).getMessage());
            // a lease that was never open has nothing to give back
            trace.heard.forEach(Lease::close);
            traced.close();
            Await.until(() -> traced.openChunks() == 0);
        }
    }

    @Test
    void listenerThatThrowsAtTheCloseLosesNoClaim() {
        ArenaSource traced = ArenaSource.create(budget, new Throwing(false));
        SealedBuffer first = Bytes.sealed(traced, 100);
        SealedBuffer share = first.share();
        assertThrows(IllegalStateException.class, share::close);
        assertEquals(1, first.holders());
        // the claim is neither at the old handle nor at one that the caller never got
        assertThrows(IllegalStateException.class, () -> first.move("next"));
        assertEquals(0, first.holders());
        traced.close();
        Await.until(() -> traced.openChunks() == 0);
    }

    @Test
    void listenerThatThrowsAtAShareAddsNoClaim() {
        int[] calls = {0};
        LeaseLedger ledger = LeaseLedger.full();
        LeaseTrace third = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, Object tag) {
                if (++calls[0] % 3 == 0) {
                    throw new IllegalStateException("listener of a test");
                }
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {}
        };
        ArenaSource traced = ArenaSource.create(budget, LeaseTrace.both(ledger, third));
        try (SealedBuffer first = Bytes.sealed(traced, 100)) {
            first.share().close();
            assertThrows(IllegalStateException.class, first::share);
            assertThrows(IllegalStateException.class, () -> first.shares(5));
            assertEquals(1, first.holders());
            assertEquals(1, ledger.open().size());
        }
        traced.close();
        Await.until(() -> traced.openChunks() == 0);
    }

    @Test
    void closeUnderATraceThatThrowsAtOpeningKeepsOtherHandles() {
        ArenaSource traced = ArenaSource.create(budget, new Throwing(true));
        assertThrows(InternalError.class, () -> Bytes.sealed(traced, 100));
        traced.close();
        Await.until(() -> traced.openChunks() == 0);
        assertTrue(budget.used() <= budget.limit());
    }
}
