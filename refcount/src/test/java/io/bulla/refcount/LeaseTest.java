// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
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

    @Test
    void lastCloseFreesOnce() {
        Claim first = Claim.first(thing, null);
        Claim second = first.share();
        first.close();
        assertEquals(0, frees.get());
        assertEquals(1, thing.holders());
        second.close();
        assertEquals(1, frees.get());
        assertEquals(0, thing.holders());
    }

    @Test
    void closingTwiceRobsNoHolder() {
        Claim first = Claim.first(thing, null);
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
        Claim first = Claim.first(thing, null);
        Claim second = first.share();
        first.close();
        assertEquals(
                "lease already closed: type=Claim holders=1",
                assertThrows(IllegalStateException.class, first::share).getMessage());
        assertEquals(1, thing.holders());
        second.close();
    }

    @Test
    void retainThatComesTooLateUndoesItselfAndDoesNotFreeAgain() {
        Claim.first(thing, null).close();
        assertFalse(thing.retain(3));
        assertFalse(thing.retain(1));
        assertEquals(0, thing.holders());
        assertEquals(1, frees.get());
        assertTrue(assertThrows(IllegalStateException.class, thing::release)
                .getMessage()
                .startsWith("released more often than retained: state="));
    }

    @Test
    void soleLeaseOfWhatLeasesAloneHoldFreesOnce() {
        Leased leased = new Leased(null);
        Claim first = Claim.first(leased, null);
        Claim moved = first.move("another");
        first.close();
        assertEquals(0, leased.frees);
        moved.close();
        moved.close();
        assertEquals(1, leased.frees);
        assertEquals(0, leased.holders());
        assertThrows(IllegalStateException.class, moved::share);
        assertTrue(assertThrows(IllegalStateException.class, leased::release)
                .getMessage()
                .startsWith("released more often than retained: state=1"));
    }

    @Test
    void leaseThatIsNotTheOnlyOneLeavesTheOthers() {
        Leased leased = new Leased(null);
        Claim first = Claim.first(leased, null);
        Claim second = first.share();
        Claim third = second.share();
        second.close();
        first.close();
        assertEquals(0, leased.frees);
        assertEquals(1, leased.holders());
        third.close();
        assertEquals(1, leased.frees);
    }

    @Test
    void resourceThatLeasesAloneHoldIsNotRetainedByItself() {
        Leased leased = new Leased(null);
        Claim first = Claim.first(leased, null);
        assertEquals(
                "resource is held by leases only: type=Leased holders=1 retained=2",
                assertThrows(IllegalStateException.class, () -> leased.retain(2))
                        .getMessage());
        assertEquals(1, leased.holders());
        first.close();
        assertEquals(1, leased.frees);
    }

    @Test
    void shareWhoseLeaseEndsMeanwhileTakesBackWhatItAdded() {
        Closing closing = new Closing();
        Leased leased = new Leased(closing);
        Claim first = Claim.first(leased, null);
        Claim second = first.share();
        closing.next = first;
        assertThrows(IllegalStateException.class, () -> first.share("late"));
        assertEquals(1, leased.holders());
        closing.next = second;
        assertThrows(IllegalStateException.class, () -> second.share("later"));
        assertEquals(0, leased.holders());
        assertEquals(1, leased.frees);
    }

    private static final class Leased extends RefCount {

        private int frees;

        Leased(LeaseTrace trace) {
            super(trace);
        }

        @Override
        protected boolean heldByLeasesOnly() {
            return true;
        }

        @Override
        protected void free() {
            frees++;
        }
    }

    /// Closes another lease while it hears of one.
    private static final class Closing implements LeaseTrace {

        private Claim next;

        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            Claim closes = next;
            next = null;
            if (closes != null) {
                closes.close();
            }
            return null;
        }

        @Override
        public void closed(Lease lease, Object traced) {}
    }

    @Test
    void traceHearsOfEveryLeaseOnce() {
        Claim first = Claim.first(thing, null);
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
        Claim first = Claim.first(thing, null);
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

    @Test
    void closeFromAnotherThreadCounts() throws InterruptedException {
        Claim first = Claim.first(thing, null);
        Thread.ofPlatform().start(first::close).join();
        assertFalse(first.isOpen());
        assertEquals(1, frees.get());
        first.close();
        assertEquals(1, frees.get());
    }

    @Test
    void threadsThatCloseOneLeaseAtOnceEndOneClaim() throws InterruptedException {
        for (int run = 0; run < 20; run++) {
            Counted[] counts = new Counted[2000];
            Claim[] contested = new Claim[counts.length];
            Claim[] others = new Claim[counts.length];
            for (int i = 0; i < counts.length; i++) {
                counts[i] = new Counted();
                contested[i] = Claim.first(counts[i], null);
                others[i] = contested[i].share();
            }
            SideBySide.run(counts.length, i -> contested[i].close(), i -> contested[i].close());
            for (int i = 0; i < counts.length; i++) {
                assertEquals(1, counts[i].holders());
                others[i].close();
                assertEquals(1, counts[i].frees.get());
            }
        }
    }

    /// A listener is called between share's look at the handle and its step on the count.
    private static final class CloseInBetween implements LeaseTrace {

        Claim victim;
        int told;

        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            told++;
            if (victim != null) {
                victim.close();
            }
            return this;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            told--;
        }
    }

    @Test
    void shareThatLosesAgainstTheLastCloseFailsAndFreesNothingAgain() {
        CloseInBetween trace = new CloseInBetween();
        Counted one = new Counted(trace);
        Claim first = Claim.first(one, null);
        trace.victim = first;
        assertEquals(
                "lease already closed: type=Claim holders=0",
                assertThrows(IllegalStateException.class, first::share).getMessage());
        assertEquals(1, one.frees.get());
        assertEquals(0, one.holders());
        assertEquals(0, trace.told, "the share that failed was closed for the listener");
    }

    @Test
    void sharesThatLoseAgainstTheLastCloseLeaveNothingOpen() {
        CloseInBetween trace = new CloseInBetween();
        Counted one = new Counted(trace);
        Claim first = Claim.first(one, null);
        trace.victim = first;
        assertThrows(IllegalStateException.class, () -> first.shares(7, "fan"));
        assertEquals(1, one.frees.get());
        assertEquals(0, one.holders());
        assertEquals(0, trace.told);
    }

    @Test
    void shareThatLosesAgainstACloseBesideAnotherHolderStillCounts() {
        CloseInBetween trace = new CloseInBetween();
        Counted one = new Counted(trace);
        Claim first = Claim.first(one, null);
        Claim other = first.share();
        trace.victim = first;
        Claim late = first.share();
        assertEquals(2, one.holders());
        other.close();
        assertTrue(late.isOpen());
        late.close();
        assertEquals(1, one.frees.get());
    }

    @Test
    void moveHandsTheClaimOnAndEndsTheOldLease() {
        Claim first = Claim.first(thing, null);
        Claim second = first.move("next");
        assertFalse(first.isOpen());
        assertEquals("next", second.tag());
        assertEquals(1, thing.holders());
        first.close();
        assertEquals(0, frees.get());
        assertThrows(IllegalStateException.class, () -> first.move(null));
        assertEquals(1, tally.open());
        second.close();
        assertEquals(1, frees.get());
        assertEquals(0, tally.open());
    }

    @Test
    void moveThatLosesAgainstCloseOpensNothing() {
        CloseInBetween trace = new CloseInBetween();
        Counted one = new Counted(trace);
        Claim first = Claim.first(one, null);
        trace.victim = first;
        assertThrows(IllegalStateException.class, () -> first.move("late"));
        assertEquals(1, one.frees.get());
        assertEquals(0, trace.told);
    }

    @Test
    void severalSharesAreAlikeAndNoneIsNone() {
        Claim first = Claim.first(thing, null);
        assertEquals(0, first.shares(0, null).length);
        Claim[] five = first.shares(5, "fan");
        assertEquals(6, first.holders());
        assertEquals("fan", five[4].tag());
        first.close();
        for (Claim each : five) {
            assertEquals(0, frees.get());
            each.close();
        }
        assertEquals(1, frees.get());
        assertThrows(IllegalStateException.class, () -> first.shares(0, null));
    }

    @Test
    void errorOfAClosedLeaseSaysWhoHeldIt() {
        Claim first = Claim.first(thing, null);
        Claim tagged = first.share("peer-17");
        tagged.close();
        assertNull(tagged.tag(), "it has no holder");
        assertEquals(
                "lease already closed: type=Claim holders=1 tag=peer-17",
                assertThrows(IllegalStateException.class, tagged::share).getMessage());
        first.close();
    }

    @Test
    void closedLeaseGivesNoSharesWhileOthersHold() {
        Counted thing = new Counted();
        Claim first = Claim.first(thing, null);
        Claim other = first.share();
        first.close();
        assertThrows(IllegalStateException.class, () -> first.shares(2, null));
        assertThrows(IllegalStateException.class, () -> first.share());
        assertThrows(IllegalStateException.class, () -> first.move(null));
        assertEquals(1, thing.holders());
        other.close();
        assertEquals(1, thing.frees.get());
    }

    /// A plain read in a loop without a call is read once, once it is compiled.
    @Test
    void loopThatWaitsForTheCloseEnds() throws InterruptedException {
        for (Object tag : new Object[] {null, "tagged"}) {
            Claim awaited = Claim.first(new Counted(), tag);
            Thread waits = Thread.ofPlatform().daemon().start(() -> {
                while (awaited.isOpen()) {}
            });
            // long enough to be compiled; the verdict is the end of the thread, for which there is more patience
            waits.join(1000);
            awaited.close();
            waits.join(60_000);
            assertFalse(waits.isAlive());
        }
    }

    @Test
    void listenerCannotEndALeaseThatIsNotCountedYet() {
        LeaseTrace closing = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, Object tag) {
                lease.close();
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {}
        };
        Counted one = new Counted(closing);
        Claim first = Claim.first(one, null);
        Claim second = first.share();
        assertEquals(2, one.holders());
        assertTrue(first.isOpen() && second.isOpen());
        first.close();
        second.close();
        assertEquals(1, one.frees.get());
    }
}
