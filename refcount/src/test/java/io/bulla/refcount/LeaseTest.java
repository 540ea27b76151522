package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeaseTest {

    private final LeaseTally tally = new LeaseTally();
    private final AtomicInteger frees = new AtomicInteger();
    private final RefCount thing = new RefCount(tally) {
        @Override
        protected void free() {
            frees.incrementAndGet();
        }
    };

    private static final class Claim extends Lease {
        Claim(RefCount count) {
            super(count);
        }

        Claim share() {
            Claim other = new Claim(count());
            retain(null, other);
            return other;
        }

        Claim first() {
            opened(null);
            return this;
        }
    }

    @Test
    void lastCloseFreesOnce() {
        Claim first = new Claim(thing).first();
        Claim second = first.share();
        first.close();
        assertEquals(0, frees.get());
        assertEquals(1, thing.holders());
        second.close();
        assertEquals(1, frees.get());
        assertEquals(0, thing.holders());
    }

    @Test
    void closingTwiceRobsNobody() {
        Claim first = new Claim(thing).first();
        Claim second = first.share();
        first.close();
        first.close();
        assertEquals(0, frees.get());
        assertTrue(second.isOpen());
        assertFalse(first.isOpen());
        second.close();
        assertEquals(1, frees.get());
    }

    @Test
    void shareOfAClosedLeaseThrowsAndCountsNothing() {
        Claim first = new Claim(thing).first();
        Claim second = first.share();
        first.close();
        assertEquals(
                "lease already closed",
                assertThrows(IllegalStateException.class, first::share).getMessage());
        assertEquals(1, thing.holders());
        second.close();
    }

    @Test
    void retainThatComesTooLateUndoesItselfAndDoesNotFreeAgain() {
        new Claim(thing).first().close();
        assertFalse(thing.retain(3));
        assertFalse(thing.retain(1));
        assertEquals(0, thing.holders());
        assertEquals(1, frees.get());
        assertTrue(assertThrows(IllegalStateException.class, thing::release)
                .getMessage()
                .startsWith("released more often than retained: state="));
    }

    @Test
    void traceHearsOfEveryLeaseOnce() {
        Claim first = new Claim(thing).first();
        Claim second = first.share();
        assertEquals(2, tally.open());
        second.close();
        second.close();
        first.close();
        assertEquals(0, tally.open());
        assertEquals(2, tally.totalOpened());
    }

    @Test
    void manyThreadsFreeOnce() throws InterruptedException {
        Claim first = new Claim(thing).first();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            Claim mine = first.share();
            threads[i] = Thread.ofPlatform().start(() -> {
                for (int n = 0; n < 100_000; n++) {
                    mine.share().close();
                }
                mine.close();
            });
        }
        first.close();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1, frees.get());
        assertEquals(0, tally.open());
    }
}
