// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class LeaseLedgerTest {

    private final BlockingQueue<LeaseLedger.Holder> leaks = new LinkedBlockingQueue<>();

    /// The healer has its reference already when the lease is closed.
    @Test
    void closedLeaseIsNotHealed() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted();
        Claim claim = Claim.first(thing, null);
        Reference<? extends Lease> held = held(ledger, claim, thing);
        ledger.closed(claim, held);
        LeaseLedger.heal(held);
        assertEquals(0, ledger.healed());
        assertEquals(1, thing.holders());
        assertTrue(leaks.isEmpty());
        claim.close();
    }

    /// Another listener on the count hides the ledger, and tells it of no loss.
    @Test
    void healedLeaseIsListedNoMoreThoughItIsNotTold() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted();
        Claim claim = Claim.first(thing, null);
        Reference<? extends Lease> held = held(ledger, claim, thing);
        assertEquals(1, ledger.open().size());
        LeaseLedger.heal(held);
        assertEquals(List.of(), ledger.open());
        assertEquals(0, ledger.entries());
        assertEquals(1, ledger.healed());
        assertEquals(1, thing.frees.get());
        LeaseLedger.heal(held);
        assertEquals(1, ledger.healed());
    }

    @Test
    void leaseThatAnotherLedgerHealsIsListedNoMore() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted();
        Claim claim = Claim.first(thing, null);
        Reference<? extends Lease> held = held(ledger, claim, thing);
        ledger.lost(held);
        assertEquals(0, ledger.entries());
        LeaseLedger.heal(held);
        assertEquals(0, ledger.healed());
        assertEquals(1, thing.holders());
        claim.close();
    }

    @SuppressWarnings("unchecked")
    private static Reference<? extends Lease> held(LeaseLedger ledger, Claim claim, RefCount count) {
        return (Reference<? extends Lease>) ledger.opened(claim, count, "peer");
    }

    @Test
    void listsOpenLeasesOldestFirstWithTagAgeAndSize() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full();
        Claim first = Claim.first(new Counted(ledger), "origin");
        Thread.sleep(20);
        Claim second = first.share("peer-17");
        List<LeaseLedger.Holder> open = ledger.open();
        assertEquals(List.of("origin", "peer-17"), tags(open));
        assertEquals(64, open.get(0).size());
        assertTrue(open.get(0).age().compareTo(Duration.ofMillis(20)) >= 0);
        assertTrue(open.get(0).age().compareTo(open.get(1).age()) > 0);
        assertEquals("origin", ledger.oldest().orElseThrow().tag());
        first.close();
        assertEquals("peer-17", ledger.oldest().orElseThrow().tag());
        assertEquals("peer-17", second.tag());
        second.close();
        assertTrue(ledger.oldest().isEmpty());
        assertNull(second.tag());
    }

    @Test
    void stacksAreTakenWhenAskedFor() {
        Claim plain = Claim.first(new Counted(LeaseLedger.full()), null);
        LeaseLedger with = LeaseLedger.full().withStacks();
        Claim traced = Claim.first(new Counted(with), null);
        List<StackTraceElement> stack = with.oldest().orElseThrow().takenAt();
        assertTrue(stack.stream().anyMatch(frame -> frame.getMethodName().equals("stacksAreTakenWhenAskedFor")));
        assertTrue(with.open().getFirst().toString().contains(" takenAt="));
        LeaseLedger without = (LeaseLedger) plain.count().trace();
        assertEquals(List.of(), without.oldest().orElseThrow().takenAt());
        assertFalse(without.open().getFirst().toString().contains("takenAt"));
        plain.close();
        traced.close();
    }

    @Test
    void sampleTakesSomeAndClosesAllTheSame() {
        LeaseLedger ledger = LeaseLedger.sampled(10);
        Claim first = Claim.first(new Counted(ledger), null);
        Claim[] many = first.shares(10_000, "fan");
        int listed = ledger.open().size();
        // 1000 expected, standard deviation 30
        assertTrue(listed > 700 && listed < 1300, "listed=" + listed);
        for (Claim each : many) {
            each.close();
        }
        first.close();
        assertEquals(List.of(), ledger.open());
    }

    @Test
    void sampleOfNothingIsRefused() {
        assertEquals(
                "one lease in how many: oneIn=0",
                assertThrows(IllegalArgumentException.class, () -> LeaseLedger.sampled(0))
                        .getMessage());
    }

    @Test
    void tagWithoutATextIsSummedUpByItsClass() {
        Object mute = new Object() {
            @Override
            public String toString() {
                throw new ArithmeticException("mute");
            }
        };
        LeaseLedger ledger = LeaseLedger.full();
        try (Claim _ = Claim.first(new Counted(ledger), mute)) {
            String summary = ledger.summary();
            assertTrue(summary.contains(" without a text: java.lang.ArithmeticException: handles=1 size="), summary);
        }
    }

    @Test
    void summaryNamesTheFiveTagsThatHoldMost() {
        LeaseLedger ledger = LeaseLedger.full();
        Claim first = Claim.first(new Counted(ledger), "t1");
        Claim[][] held = new Claim[6][];
        for (int i = 0; i < 6; i++) {
            held[i] = first.shares(i + 2, "t" + (i + 2));
        }
        String summary = ledger.summary();
        assertTrue(ledger.toString().startsWith("LeaseLedger[t7: handles=7 size=448 oldest="), ledger::toString);
        assertTrue(
                summary.matches("t7: handles=7 size=448 oldest=\\d+ms; t6: handles=6 .*; t3: handles=3 .*"), summary);
        assertFalse(summary.contains("t2"), summary);
        first.close();
        for (Claim[] several : held) {
            for (Claim each : several) {
                each.close();
            }
        }
        assertEquals("", ledger.summary());
        assertEquals("LeaseLedger[]", ledger.toString());
        assertEquals(0, ledger.entries());
    }

    @Test
    void closerIsRememberedWhenAskedFor() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full().withCloses().withStacks().onLeak(leaks::add);
        Claim first = Claim.first(new Counted(ledger), null);
        assertNull(ledger.closedBy(first));
        Thread closer = Thread.ofPlatform().name("the-closer").start(first::close);
        closer.join();
        assertEquals("lease closed here, by the-closer", ledger.closedBy(first).getMessage());
        LeaseLedger forgetful = LeaseLedger.full();
        Claim other = Claim.first(new Counted(forgetful), null);
        other.close();
        assertNull(forgetful.closedBy(other));
    }

    @Test
    void collectedLeaseGivesBackItsOwnClaimOnceAndIsReported() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted(ledger);
        Claim kept = Claim.first(thing, "kept");
        forget(kept, "forgotten");
        assertEquals(2, thing.holders());
        collectUntil(() -> ledger.healed() == 1);
        assertEquals("forgotten", leaks.poll(60, TimeUnit.SECONDS).tag());
        collect(3);
        assertEquals(1, ledger.healed());
        assertEquals(1, thing.holders());
        assertEquals(0, thing.frees.get());
        assertEquals(List.of("kept"), tags(ledger.open()));
        kept.close();
        assertEquals(1, thing.frees.get());
    }

    @Test
    void resourceWhoseLastLeaseIsForgottenIsFreedByHealing() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted(ledger);
        Claim first = Claim.first(thing, null);
        forget(first, "a");
        forget(first, "b");
        first.close();
        assertEquals(0, thing.frees.get());
        collectUntil(() -> thing.frees.get() == 1 && ledger.healed() == 2);
        assertEquals(0, thing.holders());
    }

    @Test
    void closedLeaseIsNotHealedWhenItIsCollected() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted(ledger);
        Claim kept = Claim.first(thing, null);
        for (int i = 0; i < 100; i++) {
            kept.share("closed").close();
        }
        collect(3);
        assertEquals(0, ledger.healed());
        assertEquals(1, thing.holders());
        kept.close();
    }

    @Test
    void closingBesideCollectionNeitherHealsNorReleasesTwice() throws InterruptedException {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Counted thing = new Counted(ledger);
        Claim first = Claim.first(thing, "first");
        AtomicBoolean stop = new AtomicBoolean();
        Thread collector = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                System.gc();
            }
        });
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 100_000; i++) {
                    first.share("mine").close();
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        stop.set(true);
        collector.join();
        assertEquals(0, ledger.healed());
        assertEquals(1, thing.holders());
        assertEquals(List.of("first"), tags(ledger.open()));
        first.close();
        assertEquals(1, thing.frees.get());
    }

    @Test
    void listenerThatFailsDoesNotEndTheHealing() {
        LeaseLedger angry = LeaseLedger.full().onLeak(lost -> {
            throw new AssertionError("listener of a test");
        });
        Counted one = new Counted(angry);
        Claim keepsOne = Claim.first(one, null);
        forget(keepsOne, "lost");
        collectUntil(() -> angry.healed() == 1);
        LeaseLedger calm = LeaseLedger.full().onLeak(leaks::add);
        Counted other = new Counted(calm);
        Claim keepsOther = Claim.first(other, null);
        forget(keepsOther, "lost, too");
        collectUntil(() -> calm.healed() == 1);
        keepsOne.close();
        keepsOther.close();
    }

    @Test
    void reachableLeaseIsNotHealed() {
        LeaseLedger ledger = LeaseLedger.full().onLeak(leaks::add);
        Claim held = Claim.first(new Counted(ledger), null);
        collect(3);
        assertEquals(0, ledger.healed());
        Reference.reachabilityFence(held);
        held.close();
    }

    private static List<Object> tags(List<LeaseLedger.Holder> holders) {
        return holders.stream().map(LeaseLedger.Holder::tag).toList();
    }

    private static void forget(Claim of, String tag) {
        of.share(tag);
    }

    private static void collect(int times) {
        for (int i = 0; i < times; i++) {
            System.gc();
            pause();
        }
    }

    private static void collectUntil(BooleanSupplier done) {
        for (int i = 0; i < 500 && !done.getAsBoolean(); i++) {
            collect(1);
        }
        assertTrue(done.getAsBoolean());
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
