// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class FanOutTest {

    private final Counted thing = new Counted();
    private final Claim lease = Claim.first(thing, null);

    @Test
    void leaseGoesWithTheLastCompletion() {
        FanOut sends = new FanOut(lease, 3);
        sends.completed();
        sends.completed();
        assertTrue(lease.isOpen());
        assertEquals(1, sends.waiting());
        sends.completed();
        assertFalse(lease.isOpen());
        assertEquals(0, sends.waiting());
        assertEquals(1, thing.frees.get());
    }

    @Test
    void completionTooManyIsAnErrorAndFreesNothingAgain() {
        FanOut sends = new FanOut(lease, 1);
        sends.completed();
        assertEquals(
                "more sends ended than announced: sends=1",
                assertThrows(IllegalStateException.class, sends::completed).getMessage());
        assertEquals(0, sends.waiting());
        assertEquals(1, thing.frees.get());
    }

    @Test
    void anotherThreadIsRefusedAndCountsNothing() throws InterruptedException {
        FanOut sends = new FanOut(lease, 1);
        AtomicReference<Throwable> refused = new AtomicReference<>();
        Thread stranger = Thread.ofPlatform().name("stranger").start(() -> {
            try {
                sends.completed();
            } catch (IllegalStateException e) {
                refused.set(e);
            }
        });
        stranger.join();
        assertEquals(
                "fan-out belongs to another thread: owner="
                        + Thread.currentThread().getName() + " caller=stranger",
                refused.get().getMessage());
        assertEquals(1, sends.waiting());
        assertTrue(lease.isOpen());
        sends.completed();
    }

    @Test
    void fanOutToNobodyIsRefusedAndTheLeaseStaysOpen() {
        assertEquals(
                "a fan-out waits for at least one send: sends=0",
                assertThrows(IllegalArgumentException.class, () -> new FanOut(lease, 0))
                        .getMessage());
        assertTrue(lease.isOpen());
    }

    @Test
    void leaseClosedByItsHolderIsNotReleasedAgain() {
        Claim other = lease.share();
        FanOut sends = new FanOut(lease, 1);
        lease.close();
        sends.completed();
        assertEquals(1, thing.holders());
        other.close();
        assertEquals(1, thing.frees.get());
    }
}
