// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What is kept beside a lease, and where it is left by a listener that fails.
class LeaseStateTest {

    /// Fails with what it is given, as each event comes.
    private static final class Failing implements LeaseTrace {

        private final Object kept;
        private final List<RuntimeException> atClose = new ArrayList<>();
        private RuntimeException atOpen;
        private int closes;

        private Failing(Object kept) {
            this.kept = kept;
        }

        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            if (atOpen != null) {
                throw atOpen;
            }
            return kept;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            assertSame(kept, traced);
            closes++;
            if (!atClose.isEmpty()) {
                throw atClose.removeFirst();
            }
        }
    }

    private static void assertState(Lease lease, boolean plain, boolean traced, boolean open) {
        assertEquals(plain, lease.isOpenAndPlain());
        assertEquals(traced, lease.isTraced());
        assertEquals(open, lease.isOpen());
    }

    @Test
    void leaseOfWhichNothingIsAskedIsPlain() {
        for (LeaseTrace trace : new LeaseTrace[] {null, new Failing(null)}) {
            Claim plain = Claim.first(new Counted(trace), null);
            assertState(plain, true, false, true);
            assertState(plain.share(), true, false, true);
            plain.close();
            assertState(plain, false, false, false);
        }
    }

    @Test
    void taggedLeaseIsNotTracedAndATracedOneIs() {
        Claim tagged = Claim.first(new Counted(), "peer");
        assertState(tagged, false, false, true);
        tagged.close();
        assertState(tagged, false, false, false);
        for (String tag : new String[] {null, "peer"}) {
            Claim traced = Claim.first(new Counted(new Failing("kept")), tag);
            assertState(traced, false, true, true);
            assertEquals(tag, traced.tag());
            traced.close();
            assertState(traced, false, false, false);
        }
    }

    @Test
    void severalAreAnnouncedForATagAloneAndForAListenerAlone() {
        Claim untraced = Claim.first(new Counted(), null);
        assertArrayEquals(
                new Object[] {"fan", "fan"},
                Stream.of(untraced.shares(2, "fan")).map(Lease::tag).toArray());
        Counted thing = new Counted(new LeaseTally());
        Claim traced = Claim.first(thing, null);
        traced.shares(2, null);
        assertEquals(3, ((LeaseTally) thing.trace()).open());
    }

    @Test
    void leaseWhoseRecordCannotBeMadeIsClosedForTheListener() {
        IllegalStateException refused = new IllegalStateException("cannot keep");
        Traced kept = traced -> {
            throw refused;
        };
        Failing trace = new Failing(kept);
        Counted thing = new Counted(trace);
        assertSame(refused, assertThrows(IllegalStateException.class, () -> Claim.first(thing, "first")));
        assertEquals(1, trace.closes);
        assertEquals(1, thing.holders());
    }

    @Test
    void moveThatTheListenerRefusesEndsBothAndGivesTheClaimBack() {
        for (boolean again : new boolean[] {false, true}) {
            Failing trace = new Failing("kept");
            Counted thing = new Counted(trace);
            Claim first = Claim.first(thing, null);
            IllegalStateException refused = new IllegalStateException("move");
            trace.atClose.add(refused);
            IllegalStateException another = new IllegalStateException("close");
            if (again) {
                trace.atClose.add(another);
            }
            assertSame(refused, assertThrows(IllegalStateException.class, () -> first.move(null)));
            assertArrayEquals(again ? new Throwable[] {another} : new Throwable[0], refused.getSuppressed());
            assertFalse(first.isOpen());
            assertEquals(2, trace.closes);
            assertEquals(1, thing.frees.get());
        }
    }

    @Test
    void shareThatIsNotCountedIsClosedForTheListenerWhateverThatSays() {
        Failing trace = new Failing("kept");
        Counted thing = new Counted(trace);
        Claim robbed = Claim.first(thing, null);
        thing.release();
        IllegalStateException another = new IllegalStateException("close");
        trace.atClose.add(another);
        IllegalStateException late = assertThrows(IllegalStateException.class, robbed::share);
        assertTrue(late.getMessage().startsWith("lease already closed: type=Claim holders=0"), late.getMessage());
        assertArrayEquals(new Throwable[] {another}, late.getSuppressed());
        assertEquals(1, trace.closes);
        assertEquals(1, thing.frees.get());
    }

    @Test
    void failureOfTheSecondListenerHasWhatTheFirstOneSaysOfIt() {
        Failing first = new Failing("kept");
        Failing second = new Failing("kept");
        second.atOpen = new IllegalStateException("open");
        IllegalStateException another = new IllegalStateException("close");
        first.atClose.add(another);
        Counted thing = new Counted(LeaseTrace.both(first, second));
        assertSame(second.atOpen, assertThrows(IllegalStateException.class, () -> Claim.first(thing, null)));
        assertArrayEquals(new Throwable[] {another}, second.atOpen.getSuppressed());
        assertEquals(1, first.closes);
        // the same object cannot stand in its own list
        first.atClose.add(second.atOpen);
        assertSame(second.atOpen, assertThrows(IllegalStateException.class, () -> Claim.first(thing, null)));
    }

    @Test
    void ledgerWithStacksRemembersClosesOnlyIfAsked() {
        for (boolean closes : new boolean[] {false, true}) {
            LeaseLedger ledger = closes ? LeaseLedger.full().withCloses() : LeaseLedger.full();
            Counted thing = new Counted(ledger.withStacks());
            Claim claim = Claim.first(thing, null);
            claim.close();
            if (closes) {
                assertTrue(thing.trace().closedBy(claim).getMessage().startsWith("lease closed here, by "));
            } else {
                assertNull(thing.trace().closedBy(claim));
            }
        }
    }
}
