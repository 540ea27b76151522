// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Every send completes once; queues have bounds; messages wait for their receiver.
class CompletionTest {

    private static final int TAG = Cluster.TAG;
    private static final int OTHER = 6;

    private final Cluster cluster = new Cluster();
    private Proxy proxy;

    @BeforeEach
    void standBetween() throws Exception {
        proxy = new Proxy(() -> cluster.address(1));
        cluster.directory = peer -> peer == 1 ? proxy.address() : peer == 2 ? cluster.address(2) : null;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        proxy.close();
        cluster.close();
    }

    @Test
    void cancelBeforeTheFirstByteLeavesNothingBehind() throws Exception {
        proxy.refuse(true);
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofSeconds(8)));
        Send kept = cluster.send(0, 1, 1, 100);
        Send gone = cluster.send(0, 1, 2, 1 << 20);
        Cluster.await("nothing is tried", () -> proxy.accepted() > 0);
        AtomicInteger completions = new AtomicInteger();
        gone.whenComplete((delivery, failure) -> completions.incrementAndGet());
        assertTrue(gone.cancel());
        assertTrue(gone.isCancelled());
        assertInstanceOf(CancellationException.class, Cluster.failure(gone));
        // the handle goes at once, long before there is a connection; the other one's stays
        Cluster.await("handle is kept", () -> cluster.handles.open() == 1);
        proxy.refuse(false);
        assertEquals(1, Cluster.delivered(kept).attempts());
        Cluster.delivered(cluster.send(0, 1, 3, 100));
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 3", cluster.next());
        assertEquals(1, completions.get());
    }

    @Test
    void cancelInTheMiddleIsSkippedAndLeavesNoHole() throws Exception {
        cluster.start(2, setup -> setup.fragment(64 << 10).heartbeat(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        proxy.stall(true);
        Send large = cluster.send(0, 1, 2, 32 << 20);
        Send small = cluster.send(0, 1, OTHER, 3, 100, SendOptions.DEFAULT);
        Thread.sleep(100);
        assertTrue(large.cancel());
        Send after = cluster.send(0, 1, 4, 1 << 20);
        proxy.stall(false);
        Cluster.delivered(after);
        Cluster.delivered(small);
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 4", cluster.next());
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void cancelledMessageIsSkippedAlsoWhenItIsSentAgain() throws Exception {
        cluster.start(2, setup -> setup.fragment(64 << 10).heartbeat(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        proxy.stall(true);
        Send first = cluster.send(0, 1, 2, 100);
        Send large = cluster.send(0, 1, 3, 1 << 20);
        Send last = cluster.send(0, 1, 4, 100);
        Thread.sleep(100);
        first.cancel();
        large.cancel();
        proxy.reset();
        proxy.stall(false);
        Cluster.delivered(last);
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 4", cluster.next());
    }

    @Test
    void deadlinePassesWhileQueuedAndWhileUnacknowledged() throws Exception {
        cluster.start(2, setup -> setup.heartbeat(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        proxy.stall(true);
        SendOptions soon = SendOptions.DEFAULT.within(Duration.ofMillis(100));
        Send written = cluster.send(0, 1, TAG, 2, 100, soon);
        Send queued = cluster.send(0, 1, TAG, 3, 32 << 20, soon);
        Send behind = cluster.send(0, 1, TAG, 4, 100, soon);
        for (Send send : List.of(written, queued, behind)) {
            assertTrue(assertInstanceOf(TimeoutException.class, Cluster.failure(send))
                    .getMessage()
                    .startsWith("deadline has passed: peer=1 tag=5 bytes="));
        }
        proxy.stall(false);
        Cluster.delivered(cluster.send(0, 1, TAG, 5, 100, soon.within(Duration.ofSeconds(9))));
        assertEquals("1 from 0: 1", cluster.next());
        // what was written is too late to be stopped
        assertEquals("1 from 0: 2", cluster.next());
        assertEquals("1 from 0: 5", cluster.next());
    }

    @Test
    void writtenIsSoonerThanAcknowledged() throws Exception {
        cluster.start(2, setup -> setup.heartbeat(Duration.ofSeconds(60)).coalesceBelow(1001));
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        proxy.stall(true);
        for (int bytes : new int[] {100, 2000, 300_000}) {
            Send written = cluster.send(0, 1, TAG, 2, bytes, SendOptions.DEFAULT.written());
            assertEquals(Delivery.Status.WRITTEN, Cluster.delivered(written).status());
        }
        Send acknowledged = cluster.send(0, 1, 3, 100);
        Thread.sleep(50);
        assertFalse(acknowledged.isDone());
        proxy.stall(false);
        assertEquals(
                Delivery.Status.ACKNOWLEDGED, Cluster.delivered(acknowledged).status());
    }

    @Test
    void fullQueueRefusesAtOnceAndNamesTheValues() throws Exception {
        proxy.refuse(true);
        cluster.start(
                2, setup -> setup.queuePerPeer(3, 1000).queueInAll(100, 1 << 20).coalesceBelow(0));
        List<Send> queued = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queued.add(cluster.send(0, 1, i, 100));
        }
        Throwable full = Cluster.failure(cluster.send(0, 1, 3, 100));
        assertEquals(
                "queue of the peer is full: messages=3 mostMessages=3 queuedBytes=300 mostBytes=1000"
                        + " rank=0 peer=1 tag=5 bytes=100",
                assertInstanceOf(QueueFullException.class, full).getMessage());
        queued.get(0).cancel();
        Cluster.await("room is not given back", () -> {
            try (SealedBuffer message = cluster.numbered(4, 800)) {
                return cluster.node(0)
                        .trySend(1, TAG, message, SendOptions.DEFAULT)
                        .map(queued::add)
                        .orElse(false);
            }
        });
        try (SealedBuffer message = cluster.numbered(5, 100)) {
            assertEquals(Optional.empty(), cluster.node(0).trySend(1, TAG, message, SendOptions.DEFAULT));
        }
        CompletableFuture<Void> room = cluster.node(0).room(1).toCompletableFuture();
        assertFalse(room.isDone());
        proxy.refuse(false);
        room.get(10, TimeUnit.SECONDS);
        for (Send send : queued.subList(1, 4)) {
            Cluster.delivered(send);
        }
    }

    @Test
    void messageLargerThanTheBoundIsTakenAlone() throws Exception {
        cluster.start(2, setup -> setup.queuePerPeer(10, 1000));
        Cluster.delivered(cluster.send(0, 1, 1, 5000));
        assertEquals("1 from 0: 1", cluster.next());
    }

    @Test
    void allPeersTogetherHaveABoundToo() throws Exception {
        proxy.refuse(true);
        cluster.start(3, setup -> setup.queueInAll(2, 1000));
        cluster.send(0, 1, 1, 100);
        cluster.send(0, 2, 2, 100);
        assertTrue(Cluster.failure(cluster.send(0, 1, 3, 100))
                .getMessage()
                .startsWith("queues of all peers are full: messages=2 mostMessages=2"));
    }

    @Test
    void messageWithoutAReceiverIsKeptAndSeenAndHandledFirst() throws Exception {
        cluster.start(2);
        for (int i = 0; i < 3; i++) {
            Cluster.delivered(cluster.send(0, 1, OTHER, i, 100, SendOptions.DEFAULT));
        }
        Cluster.await(
                "nothing to see",
                () -> cluster.node(1).peek(OTHER).map(this::closed).isPresent());
        try (SealedBuffer seen = cluster.node(1).peek(OTHER).orElseThrow().buffer()) {
            assertEquals(0, Cluster.number(seen));
        }
        Message once = cluster.node(1).receiveOnce(OTHER).toCompletableFuture().get(10, TimeUnit.SECONDS);
        try (SealedBuffer mine = once.buffer()) {
            assertEquals(0, Cluster.number(mine));
        }
        cluster.node(1).receive(OTHER, message -> cluster.got.add("kept " + Cluster.number(message.buffer())));
        cluster.send(0, 1, OTHER, 3, 100, SendOptions.DEFAULT);
        for (int i = 1; i < 4; i++) {
            assertEquals("kept " + i, cluster.next());
        }
        assertEquals(Optional.empty(), cluster.node(1).peek(OTHER));
    }

    private Message closed(Message message) {
        message.buffer().close();
        return message;
    }

    @Test
    void receivingOnceIsOnceAndMayBeGivenUp() throws Exception {
        cluster.start(2);
        CompletableFuture<Message> given = cluster.node(1).receiveOnce(TAG).toCompletableFuture();
        given.cancel(false);
        CompletableFuture<Message> once = cluster.node(1).receiveOnce(TAG).toCompletableFuture();
        cluster.send(0, 1, 1, 100);
        cluster.send(0, 1, 2, 100);
        try (SealedBuffer mine = once.get(10, TimeUnit.SECONDS).buffer()) {
            assertEquals(1, Cluster.number(mine));
        }
        assertEquals("1 from 0: 2", cluster.next());
    }

    @Test
    void closingFailsWhoWaitsForAMessage() throws Exception {
        cluster.start(2);
        CompletableFuture<Message> waiting = cluster.node(1).receiveOnce(TAG).toCompletableFuture();
        cluster.node(1).close();
        assertInstanceOf(PeerFailedException.class, waiting.exceptionNow());
        assertInstanceOf(
                PeerFailedException.class,
                cluster.node(1).receiveOnce(TAG).toCompletableFuture().exceptionNow());
    }

    @Test
    void nothingAcknowledgedIsDroppedHoweverLateTheHandlerComes() throws Exception {
        cluster.start(2, setup -> setup.unclaimedLimit(1000).inboundHighWaterMark(100_000));
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            sends.add(cluster.send(0, 1, OTHER, i, 2000, SendOptions.DEFAULT));
        }
        assertEquals(
                "no handler: rank=1 tag=6 bytes=2000 unclaimed=2064 limit=1000; the sender waits",
                Cluster.line(cluster.log, "no handler"));
        cluster.node(1).receive(OTHER, message -> cluster.got.add("late " + Cluster.number(message.buffer())));
        for (int i = 0; i < 200; i++) {
            assertEquals("late " + i, cluster.next());
            Cluster.delivered(sends.get(i));
        }
        Cluster.await("unclaimed", () -> cluster.node(1).unclaimedBytes() == 0);
    }

    @Test
    void whatIsKeptBelowTheLimitHoldsUpNothing() throws Exception {
        cluster.start(2, setup -> setup.unclaimedLimit(10_000_000).inboundHighWaterMark(100_000));
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            sends.add(cluster.send(0, 1, OTHER, i, 2000, SendOptions.DEFAULT));
        }
        for (Send each : sends) {
            Cluster.delivered(each);
        }
        assertEquals(200 * 2064, cluster.node(1).unclaimedBytes());
    }

    @Test
    void handlerOfTheBuilderGetsTheFirstMessageAndOneThatIsStoppedNone() throws Exception {
        cluster.start(
                2,
                setup -> setup.receive(OTHER, message -> cluster.got.add("first " + Cluster.number(message.buffer()))));
        Cluster.delivered(cluster.send(0, 1, OTHER, 1, 100, SendOptions.DEFAULT));
        assertEquals("first 1", cluster.next());
        cluster.node(1).stopReceiving(OTHER);
        Cluster.delivered(cluster.send(0, 1, OTHER, 2, 100, SendOptions.DEFAULT));
        Cluster.await("kept", () -> cluster.node(1).unclaimedBytes() == 164);
        cluster.node(1).receive(OTHER, message -> cluster.got.add("second " + Cluster.number(message.buffer())));
        assertEquals("second 2", cluster.next());
    }

    @Test
    void handlerThatLagsBehindStopsTheReadingAndNothingElse() throws Exception {
        cluster.start(3, setup -> setup.inboundHighWaterMark(10_000));
        CountDownLatch hold = new CountDownLatch(1);
        cluster.node(1).receive(OTHER, message -> {
            try {
                hold.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            cluster.got.add("held " + Cluster.number(message.buffer()));
        });
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            sends.add(cluster.send(0, 1, OTHER, i, 10_000, SendOptions.DEFAULT));
        }
        Cluster.await("nothing arrives", () -> sends.getFirst().isDone());
        Thread.sleep(300);
        long acknowledged = sends.stream().filter(Send::isDone).count();
        assertTrue(acknowledged < 50, () -> "acknowledged=" + acknowledged);
        Cluster.delivered(cluster.send(0, 2, 7, 100));
        assertEquals("2 from 0: 7", cluster.next());
        hold.countDown();
        for (int i = 0; i < 2000; i++) {
            assertEquals("held " + i, cluster.next());
        }
        Cluster.delivered(sends.getLast());
    }

    @Test
    void handlerThatThrowsIsLoggedAndTheNextMessageIsHandled() throws Exception {
        cluster.start(2);
        cluster.node(1).receive(OTHER, message -> {
            throw new AssertionError("on purpose");
        });
        Cluster.delivered(cluster.send(0, 1, OTHER, 1, 100, SendOptions.DEFAULT));
        Cluster.line(cluster.log, "handler failed: rank=1 tag=6");
        Cluster.delivered(cluster.send(0, 1, 2, 100));
        assertEquals("1 from 0: 2", cluster.next());
    }

    @Test
    void handlerAnswersFromInsideAndCompletionMaySendAgain() throws Exception {
        cluster.start(2);
        cluster.node(1).receive(OTHER, message -> cluster.node(1).send(0, TAG, message.buffer()));
        CompletableFuture<Send> again = new CompletableFuture<>();
        SealedBuffer message = cluster.numbered(9, 100);
        cluster.node(0).send(1, OTHER, message).thenAccept(delivery -> {
            again.complete(cluster.node(0).send(1, OTHER, message));
            message.close();
        });
        Cluster.delivered(again.get(10, TimeUnit.SECONDS));
        assertEquals("0 from 1: 9", cluster.next());
        assertEquals("0 from 1: 9", cluster.next());
    }

    @Test
    void closingDrainsUntilTheDeadlineAndFailsTheRest() throws Exception {
        cluster.start(2, setup -> setup.heartbeat(Duration.ofSeconds(60)));
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            sends.add(cluster.send(0, 1, i, 100_000));
        }
        cluster.node(0).close(Duration.ofSeconds(10));
        for (Send send : sends) {
            assertTrue(send.isDone());
            Cluster.delivered(send);
        }
        cluster.replace(0, 2, setup -> setup.heartbeat(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 50, 100));
        proxy.stall(true);
        Send stuck = cluster.send(0, 1, 51, 100);
        long start = System.nanoTime();
        cluster.node(0).close(Duration.ofMillis(200));
        assertTrue(System.nanoTime() - start > 150_000_000);
        assertEquals(
                "peer 1 failed: this node is closed", Cluster.failure(stuck).getMessage());
    }

    @Test
    void closingFromAHandlerDoesNotWaitForItself() throws Exception {
        cluster.start(2);
        cluster.node(1).receive(OTHER, message -> {
            long start = System.nanoTime();
            cluster.node(1).close();
            cluster.got.add("seconds " + (System.nanoTime() - start) / 1_000_000_000);
        });
        cluster.send(0, 1, OTHER, 1, 100, SendOptions.DEFAULT);
        assertEquals("seconds 0", cluster.next());
        assertEquals("0: peer 1 failed: it has closed", cluster.lost.poll(10, TimeUnit.SECONDS));
    }
}
