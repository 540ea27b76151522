// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.held;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.refcount.held.HeldMXBean.Handle;
import io.bulla.refcount.held.HeldMXBean.Tag;
import io.bulla.refcount.internal.Live;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class HeldTest {

    private static final class Counted extends RefCount {

        Counted(LeaseTrace trace) {
            super(trace);
        }

        @Override
        protected long size() {
            return 1000;
        }

        @Override
        protected void free() {}
    }

    private static final class Claim extends Lease {

        Claim(RefCount count, Object tag) {
            super(count);
            opened(tag);
        }
    }

    /// A thing of the tests, with a kind of its own.
    private record Thing(String name) {}

    private final Held held = new Held();

    private List<Tag> tags(String beginning) {
        return held.getTags().stream()
                .filter(tag -> tag.tag().startsWith(beginning))
                .toList();
    }

    @Test
    void handlesOfAllLedgersAreSummedUpByTag() {
        LeaseLedger one = LeaseLedger.full();
        LeaseLedger other = LeaseLedger.full().withStacks();
        try (Claim a = new Claim(new Counted(one), "sum a");
                Claim b = new Claim(new Counted(other), "sum b");
                Claim c = new Claim(new Counted(other), "sum b")) {
            List<Tag> tags = tags("sum ");
            assertEquals(List.of("sum b", "sum a"), tags.stream().map(Tag::tag).toList());
            assertEquals(2, tags.getFirst().handles());
            assertEquals(2000, tags.getFirst().bytes());
            assertTrue(held.getOpenHandles() >= 3, () -> "handles=" + held.getOpenHandles());
            assertTrue(held.getHeldBytes() >= 3000, () -> "bytes=" + held.getHeldBytes());
            assertTrue(a.isOpen() && b.isOpen() && c.isOpen());
        }
        assertEquals(List.of(), tags("sum "));
    }

    @Test
    void oldestHasItsStackIfTheLedgerKeepsIt() {
        LeaseLedger ledger = LeaseLedger.full().withStacks();
        try (Claim claim = new Claim(new Counted(ledger), "with a stack")) {
            Handle handle = held.getOldest().stream()
                    .filter(each -> "with a stack".equals(each.tag()))
                    .findFirst()
                    .orElseThrow();
            assertEquals(1000, handle.bytes());
            assertTrue(handle.takenAt().getFirst().contains("oldestHasItsStack"), handle::toString);
            assertTrue(claim.isOpen());
        }
    }

    @Test
    void tagWhoseTextThrowsIsNamedByItsClass() {
        Object tag = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("no text");
            }
        };
        LeaseLedger ledger = LeaseLedger.full();
        try (Claim claim = new Claim(new Counted(ledger), tag)) {
            assertEquals(1, tags(tag.getClass().getName() + " without a text: ").size());
            assertTrue(claim.isOpen());
        }
    }

    @Test
    void whatIsNotReachableIsNotListed() throws InterruptedException {
        Thing kept = new Thing("kept");
        Live.put("thing", Thing.class, kept, thing -> List.of("name=" + thing.name()));
        Live.put("thing", Thing.class, new Thing("lost"), thing -> List.of("name=" + thing.name()));
        while (Live.of("thing").size() > 1) {
            System.gc();
            Thread.sleep(10);
        }
        Live.Entry<Object> left = Live.of("thing").getFirst();
        assertEquals(List.of("name=kept"), left.lines().apply(kept));
    }

    @Test
    void nodeThatDoesNotAnswerIsSaidSo() {
        CountDownLatch never = new CountDownLatch(1);
        Thing stuck = new Thing("stuck");
        Live.put("node", Thing.class, stuck, thing -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return List.of();
        });
        try {
            assertTrue(new Held(1).getPeers().contains("node does not answer: waited=1ms"), stuck::name);
        } finally {
            never.countDown();
        }
    }

    @Test
    void nodeThatThrowsIsSaidSo() {
        Thing odd = new Thing("odd");
        Live.put("node", Thing.class, odd, thing -> {
            throw new IllegalStateException("odd");
        });
        assertTrue(
                new Held(60_000).getPeers().contains("node cannot tell: java.lang.IllegalStateException: odd"),
                odd::name);
    }
}
