// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.topology.Radix;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What one argument or one piece of user code breaks ends that one send, and none beside it.
class BarrierTest {

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    @Test
    void wrongArgumentsAreRefusedInTheCallersThread() throws Exception {
        cluster.start(2);
        try (SealedBuffer message = cluster.numbered(1, 100)) {
            OobNode node = cluster.node(0);
            assertThrows(NullPointerException.class, () -> node.send(1, 5, message, null));
            assertThrows(NullPointerException.class, () -> node.trySend(1, 5, message, null));
            assertThrows(NullPointerException.class, () -> new SendOptions(null, null, null));
            assertThrows(IllegalArgumentException.class, () -> node.send(2, 5, message));
        }
    }

    @Test
    void deadlineForEverIsNone() throws Exception {
        cluster.start(2);
        SendOptions forEver = SendOptions.DEFAULT.within(ChronoUnit.FOREVER.getDuration());
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            sends.add(cluster.send(0, 1, Cluster.TAG, i, 100, i % 10 == 0 ? forEver : SendOptions.DEFAULT));
        }
        for (Send send : sends) {
            Cluster.delivered(send);
        }
        cluster.node(0).close(ChronoUnit.FOREVER.getDuration());
    }

    @Test
    void sendThatFailsOnTheLoopTakesNoOtherWithIt() throws Exception {
        // one chain of sends, handed over while the loop is held
        AtomicBoolean broken = new AtomicBoolean();
        cluster.start(
                2,
                node -> node.sends(message -> {
                    if (broken.get()) {
                        throw new IllegalStateException("no handle on purpose");
                    }
                    return message.share();
                }));
        Cluster.delivered(cluster.send(0, 1, 0, 100));
        CountDownLatch hold = new CountDownLatch(1);
        cluster.send(0, 1, 1, 100).thenAccept(delivery -> await(hold));
        broken.set(true);
        List<Send> sends = new ArrayList<>();
        CompletionStage<BroadcastResult> broadcast = null;
        for (int i = 2; i < 100; i++) {
            sends.add(cluster.send(0, 1, i, 100));
            if (i == 50) {
                try (SealedBuffer message = cluster.numbered(7, 100)) {
                    broadcast = cluster.node(0).broadcast(Cluster.TAG, message);
                }
            }
        }
        hold.countDown();
        for (Send send : sends) {
            Cluster.delivered(send);
        }
        CompletableFuture<BroadcastResult> failed = broadcast.toCompletableFuture();
        assertEquals(
                "no handle on purpose",
                assertThrows(ExecutionException.class, () -> failed.get(10, TimeUnit.SECONDS))
                        .getCause()
                        .getMessage());
    }

    @Test
    void directoryThatThrowsIsAnAttemptThatFailed() throws Exception {
        cluster.directory = peer -> {
            throw new NoClassDefFoundError("on purpose");
        };
        cluster.start(3, node -> node.peerTimeout(Duration.ofMillis(500)));
        Throwable failure = Cluster.failure(cluster.send(0, 1, 1, 100));
        assertInstanceOf(PeerFailedException.class, failure);
        assertEquals("peer 1 failed: no connection: millis=500 last=on purpose", failure.getMessage());
        cluster.directory = peer -> cluster.address(peer);
        Cluster.delivered(cluster.send(0, 2, 1, 100));
    }

    @Test
    void listenerThatThrowsIsToldOfTheNextFailure() throws Exception {
        cluster.start(
                3,
                node -> node.onPeerLost((peer, why) -> {
                    cluster.lost.add("told of " + peer);
                    throw new AssertionError("on purpose");
                }));
        for (int peer = 1; peer < 3; peer++) {
            Cluster.delivered(cluster.send(0, peer, 1, 100));
            cluster.node(peer).close();
            assertEquals("told of " + peer, cluster.lost.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void routingThatIsWrongFailsTheBroadcastAlone() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        cluster.start(
                3,
                node -> node.routing((rank, origin, size) -> {
                    if (broken.get()) {
                        throw new IllegalStateException("no tree on purpose");
                    }
                    return new Radix(2).children(rank, origin, size);
                }));
        try (SealedBuffer message = cluster.numbered(3, 100)) {
            assertThrows(IllegalStateException.class, () -> cluster.node(0).broadcast(Cluster.TAG, message));
            Cluster.delivered(cluster.send(0, 1, 1, 100));
            broken.set(false);
            assertEquals(
                    2,
                    cluster.node(0)
                            .broadcast(Cluster.TAG, message)
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS)
                            .reached());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
