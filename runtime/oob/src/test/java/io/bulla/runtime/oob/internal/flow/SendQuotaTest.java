// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// What may be on its way, to one peer and to all.
class SendQuotaTest {

    private final SendQuota all = SendQuota.ofAll(6, 1000);
    private final SendQuota peer = all.ofPeer(4, 400);

    @Test
    void messagesAndBytesAreBounded() {
        for (int i = 0; i < 4; i++) {
            assertNull(peer.tryTake(0));
        }
        assertEquals(
                "queue of the peer is full: messages=4 mostMessages=4 queuedBytes=0 mostBytes=400", peer.tryTake(0));
        peer.give(4, 0);
        assertNull(peer.tryTake(300));
        assertNotNull(peer.tryTake(101));
        assertNull(peer.tryTake(100));
        assertEquals(2, peer.usedMessages());
        assertEquals(400, peer.usedBytes());
        assertEquals(400, all.usedBytes());
    }

    @Test
    void messageThatIsLargerThanTheBoundGoesAlone() {
        assertNull(peer.tryTake(5000));
        assertNotNull(peer.tryTake(0), "all are full");
        assertEquals(1, peer.usedMessages());
        assertEquals(5000, peer.usedBytes());
        peer.give(1, 5000);
        assertNull(peer.tryTake(1));
        assertNotNull(peer.tryTake(400));
    }

    @Test
    void whatAllHaveIsBoundedToo() {
        SendQuota other = all.ofPeer(4, 400);
        for (int i = 0; i < 3; i++) {
            assertNull(peer.tryTake(10));
            assertNull(other.tryTake(10));
        }
        assertEquals(
                "queues of all peers are full: messages=6 mostMessages=6 queuedBytes=60 mostBytes=1000",
                peer.tryTake(10));
        assertEquals(3, peer.usedMessages(), "nothing of it is kept");
        assertEquals(30, peer.usedBytes());
        other.give(1, 10);
        assertNull(peer.tryTake(10));
    }

    @Test
    void relayedBroadcastIsCountedBeyondTheBounds() {
        for (int i = 0; i < 6; i++) {
            peer.take(200);
        }
        assertEquals(6, peer.usedMessages());
        assertEquals(1200, peer.usedBytes());
        assertEquals(6, all.usedMessages());
        assertEquals(1200, all.usedBytes());
        peer.give(6, 1200);
        assertEquals(0, all.usedMessages());
        assertEquals(0, all.usedBytes());
    }

    @Test
    void waiterGoesOnAtHalfOfTheMessages() {
        for (int i = 0; i < 4; i++) {
            peer.tryTake(0);
        }
        CompletableFuture<Void> room = peer.await(0);
        assertFalse(room.isDone());
        peer.give(1, 0);
        assertFalse(room.isDone());
        peer.give(1, 0);
        assertTrue(room.isDone());
        assertTrue(peer.await(0).isDone());
    }

    @Test
    void waiterGoesOnAtHalfOfTheBytes() {
        peer.tryTake(1);
        peer.tryTake(200);
        CompletableFuture<Void> room = peer.await(0);
        assertFalse(room.isDone());
        peer.give(1, 1);
        assertTrue(room.isDone());
    }

    @Test
    void waiterWaitsForRoomForItsMessage() {
        peer.tryTake(150);
        assertTrue(peer.await(250).isDone());
        CompletableFuture<Void> room = peer.await(251);
        assertFalse(room.isDone());
        CompletableFuture<Void> large = peer.await(9000);
        peer.give(1, 150);
        assertTrue(room.isDone());
        assertTrue(large.isDone(), "alone");
    }

    @Test
    void waiterWaitsForWhatOtherPeersHave() {
        SendQuota other = all.ofPeer(4, 400);
        for (int i = 0; i < 4; i++) {
            other.tryTake(0);
        }
        CompletableFuture<Void> room = peer.await(0);
        assertFalse(room.isDone());
        other.give(1, 0);
        assertTrue(room.isDone());
    }

    @Test
    void noWaiterIsLeftAtTheEnd() {
        for (int i = 0; i < 4; i++) {
            peer.tryTake(0);
        }
        CompletableFuture<Void> before = peer.await(0);
        all.close();
        assertTrue(before.isDone());
        assertTrue(peer.await(0).isDone());
    }

    @Test
    void waiterThatWentOnIsForgotten() throws InterruptedException {
        WeakReference<CompletableFuture<Void>> gone = new WeakReference<>(peer.await(0));
        long end = System.nanoTime() + 30_000_000_000L;
        while (!gone.refersTo(null) && System.nanoTime() < end) {
            System.gc();
            Thread.sleep(10);
        }
        assertTrue(gone.refersTo(null), "the queue keeps it");
        assertTrue(peer.await(0).isDone());
    }

    @Test
    void boundsAreThoseThatCanBeCounted() {
        SendQuota.ofAll(1, 1);
        SendQuota.ofAll(SendQuota.MOST_MESSAGES, SendQuota.MOST_BYTES);
        assertEquals(
                "bound of a queue: messages=0 bytes=1 mostMessages=4194304 mostBytes=549755813888",
                assertThrows(IllegalArgumentException.class, () -> SendQuota.ofAll(0, 1))
                        .getMessage());
        assertThrows(IllegalArgumentException.class, () -> SendQuota.ofAll(1, 0));
        assertThrows(IllegalArgumentException.class, () -> SendQuota.ofAll(SendQuota.MOST_MESSAGES + 1, 1));
        assertThrows(IllegalArgumentException.class, () -> SendQuota.ofAll(1, SendQuota.MOST_BYTES + 1));
    }
}
