// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/// What a listener hears, alone and beside another.
class LeaseTraceTest {

    private static final class Notes implements LeaseTrace {

        final List<String> heard = Collections.synchronizedList(new ArrayList<>());
        private final Object kept;
        private final Throwable closedBy;

        Notes(Object kept, Throwable closedBy) {
            this.kept = kept;
            this.closedBy = closedBy;
        }

        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            heard.add("opened " + tag);
            return kept;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            assertSame(kept, traced);
            heard.add("closed, open=" + lease.isOpen());
        }

        @Override
        public void lost(Object traced) {
            assertSame(kept, traced);
            heard.add("lost");
        }

        @Override
        public Throwable closedBy(Lease lease) {
            return closedBy;
        }

        @Override
        public String summary() {
            return kept == null ? "" : "held by " + kept;
        }
    }

    @Test
    void bothHearAndEachGetsBackItsOwn() {
        Notes first = new Notes("A", null);
        Notes second = new Notes("B", new Throwable("here"));
        LeaseTrace both = LeaseTrace.both(first, second);
        Claim.first(new Counted(both), "peer").close();
        assertEquals(List.of("opened peer", "closed, open=false"), first.heard);
        assertEquals(first.heard, second.heard);
        assertEquals("held by A", both.summary());
        assertEquals("here", both.closedBy(null).getMessage());
    }

    @Test
    void theOneThatWantsToHearNoMoreIsLeftAlone() {
        Notes deaf = new Notes(null, null);
        Notes second = new Notes("B", null);
        LeaseTrace both = LeaseTrace.both(deaf, second);
        Claim.first(new Counted(both), "x").close();
        assertEquals(List.of("opened x"), deaf.heard);
        assertEquals(2, second.heard.size());
        assertEquals("held by B", both.summary());
        LeaseTrace turned = LeaseTrace.both(new Notes("A", null), new Notes(null, null));
        Claim.first(new Counted(turned), "y").close();
        assertNull(turned.closedBy(null));
    }

    @Test
    void bothDeafLeaveTheLeaseUntraced() {
        Claim claim = Claim.first(new Counted(LeaseTrace.both(new Notes(null, null), new Notes(null, null))), null);
        assertFalse(claim.isTraced());
        claim.close();
    }

    @Test
    void listenerThatFailsHalfWayLeavesNoLeaseToBeHealed() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(lost -> {});
        AtomicInteger calls = new AtomicInteger();
        LeaseTrace failing = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, Object tag) {
                if (calls.incrementAndGet() == 4) {
                    throw new OutOfMemoryError("of a test");
                }
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {}
        };
        Counted thing = new Counted(LeaseTrace.both(ledger, failing));
        Claim first = Claim.first(thing, "first");
        assertThrows(OutOfMemoryError.class, () -> first.shares(5, "fan"));
        assertEquals(1, thing.holders());
        assertEquals(
                List.of("first"),
                ledger.open().stream().map(LeaseLedger.Holder::tag).toList());
        first.share().close();
        first.close();
        assertEquals(1, thing.frees.get());
    }

    @Test
    void closedIsHeardBeforeTheResourceIsFreed() {
        List<String> order = new ArrayList<>();
        LeaseTrace trace = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, Object tag) {
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {
                order.add("closed");
            }
        };
        Claim.first(
                        new RefCount(trace) {
                            @Override
                            protected void free() {
                                order.add("freed");
                            }
                        },
                        null)
                .close();
        assertEquals(List.of("closed", "freed"), order);
    }

    @Test
    void tallyCountsSharesOfSeveralAndMoves() {
        LeaseTally tally = new LeaseTally();
        Counted thing = new Counted(tally);
        Claim first = Claim.first(thing, null);
        Claim[] several = first.shares(5, "fan");
        assertEquals(6, tally.open());
        Claim moved = first.move("other");
        assertEquals(6, tally.open());
        assertEquals(7, tally.totalOpened());
        assertTrue(moved.isTraced());
        moved.close();
        for (Claim each : several) {
            each.close();
        }
        assertEquals(0, tally.open());
        assertEquals(1, thing.frees.get());
    }

    @Test
    void healedLeaseIsClosedForTheOtherListener() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full().onLeak(lost -> {});
        LeaseTally tally = new LeaseTally();
        Notes notes = new Notes("C", null);
        Counted thing = new Counted(LeaseTrace.both(LeaseTrace.both(notes, ledger), tally));
        Claim kept = Claim.first(thing, "kept");
        for (int i = 0; i < 100; i++) {
            kept.share("forgotten");
        }
        collectUntil(() -> ledger.healed() == 100);
        assertEquals(1, thing.holders());
        assertEquals(1, tally.open());
        assertEquals(101, tally.totalOpened());
        assertEquals(100, notes.heard.stream().filter("lost"::equals).count());
        kept.close();
        assertEquals(0, tally.open());
        assertEquals(1, thing.frees.get());
    }

    @Test
    void leaseWhoseSizeCannotBeToldIsHealedAllTheSame() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full().onLeak(lost -> {});
        LeaseTally tally = new LeaseTally();
        RefCount unknown = new RefCount(LeaseTrace.both(ledger, tally)) {
            @Override
            protected void free() {}

            @Override
            protected long size() {
                throw new IllegalStateException("size is not known");
            }
        };
        Claim.first(unknown, "forgotten");
        collectUntil(() -> ledger.healed() == 1);
        assertEquals(0, unknown.holders());
        assertEquals(0, tally.open());
        assertEquals(List.of(), ledger.open());
    }

    @Test
    void leaseInTwoLedgersIsHealedOnce() throws InterruptedException {
        LeaseLedger one = LeaseLedger.full().onLeak(lost -> {});
        LeaseLedger two = LeaseLedger.full().onLeak(lost -> {});
        Counted thing = new Counted(LeaseTrace.both(one, two));
        Claim kept = Claim.first(thing, "kept");
        Claim[] others = kept.shares(100, "kept, too");
        for (int i = 0; i < 100; i++) {
            kept.share("forgotten");
        }
        collectUntil(() -> one.healed() + two.healed() == 100 && thing.holders() == 101);
        collect();
        assertEquals(100, one.healed() + two.healed());
        assertEquals(101, thing.holders());
        assertEquals(101, one.open().size());
        assertEquals(101, two.open().size());
        assertEquals(101, one.entries());
        assertEquals(101, two.entries());
        for (Claim each : others) {
            each.close();
        }
        assertEquals(0, thing.frees.get());
        kept.close();
        assertEquals(1, thing.frees.get());
    }

    @Test
    void secondListenerHearsTheCloseAlsoIfTheFirstThrows() {
        LeaseTally tally = new LeaseTally();
        LeaseTrace throwing = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, Object tag) {
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {
                throw new InternalError("of a test");
            }
        };
        Counted thing = new Counted(LeaseTrace.both(throwing, tally));
        Claim first = Claim.first(thing, null);
        assertThrows(InternalError.class, first::close);
        assertEquals(0, tally.open());
        assertEquals(1, thing.frees.get(), "the claim is given back all the same");
    }

    private static void collectUntil(BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < 500 && !done.getAsBoolean(); i++) {
            collect();
        }
    }

    private static void collect() throws InterruptedException {
        System.gc();
        Thread.sleep(20);
    }
}
