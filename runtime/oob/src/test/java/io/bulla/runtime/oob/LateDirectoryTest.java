// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// A directory that answers late, wrongly or never. Node 0 asks it; it looks for node 1, and node 2 is found at once.
class LateDirectoryTest {

    private static final int LOST = 1;
    private static final int FOUND = 2;
    private static final String HINT = "said so";

    private final Cluster cluster = new Cluster();
    private final BlockingQueue<CompletableFuture<List<SocketAddress>>> asked = new LinkedBlockingQueue<>();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private void start(PeerDirectory directory, UnaryOperator<OobNodeBuilder> setup) throws IOException {
        // the others have no addresses, so that each connection is of node 0
        cluster.directory = peer -> null;
        cluster.add(0, 3, builder -> setup.apply(builder.directory(directory)));
        cluster.add(1, 3, UnaryOperator.identity());
        cluster.add(2, 3, UnaryOperator.identity());
    }

    /// What it is asked about node 1 is answered by the test.
    private PeerDirectory askingMe() {
        return PeerDirectory.late(peer -> {
            if (peer == FOUND) {
                return CompletableFuture.completedFuture(addresses(FOUND));
            }
            CompletableFuture<List<SocketAddress>> question = new CompletableFuture<>();
            asked.add(question);
            return question;
        });
    }

    private List<SocketAddress> addresses(int... peers) {
        return Arrays.stream(peers).<SocketAddress>mapToObj(cluster::address).toList();
    }

    private CompletableFuture<List<SocketAddress>> question() throws InterruptedException {
        CompletableFuture<List<SocketAddress>> question = asked.poll(10, TimeUnit.SECONDS);
        assertTrue(question != null, "not asked");
        return question;
    }

    private static OobNodeBuilder patient(OobNodeBuilder setup) {
        return setup.peerTimeout(Duration.ofMinutes(10)).helloDeadline(Duration.ofMinutes(10));
    }

    private static SocketAddress noneListens() throws IOException {
        try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), gone.getLocalPort());
        }
    }

    /// Whatever was handed to node 0's event loop before this call has run.
    private void turn() {
        cluster.node(0).stats();
    }

    /// An answer that counts how often it was looked at.
    private List<SocketAddress> counted(AtomicInteger looks) {
        return new AbstractList<>() {
            @Override
            public SocketAddress get(int index) {
                return cluster.address(LOST);
            }

            @Override
            public int size() {
                looks.incrementAndGet();
                return 1;
            }
        };
    }

    @Test
    void answerThatComesLateOnAThreadOfItsOwnConnects() throws Exception {
        start(askingMe(), LateDirectoryTest::patient);
        Send waits = cluster.send(0, LOST, 1, 100);
        CompletableFuture<List<SocketAddress>> question = question();
        // the loop goes on meanwhile, and asks nothing twice
        Cluster.delivered(cluster.send(0, FOUND, 2, 100));
        Send another = cluster.send(0, LOST, 3, 100);
        turn();
        assertFalse(waits.toCompletableFuture().isDone());
        assertNull(asked.poll());
        Thread answering = Thread.ofPlatform().start(() -> question.complete(addresses(LOST)));
        Cluster.delivered(waits);
        Cluster.delivered(another);
        answering.join();
        assertNull(asked.poll());
        assertNull(cluster.lost.poll());
    }

    @Test
    void allAddressesOfAnAnswerAreTriedBeforeItIsAskedAgain() throws Exception {
        start(askingMe(), LateDirectoryTest::patient);
        Send send = cluster.send(0, LOST, 1, 100);
        List<SocketAddress> answer = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            answer.add(noneListens());
        }
        answer.add(null);
        answer.add(cluster.address(LOST));
        question().complete(answer);
        Cluster.delivered(send);
        assertNull(asked.poll());
    }

    @Test
    void itIsAskedAgainWhenNoneOfItsAddressesWorks() throws Exception {
        start(askingMe(), LateDirectoryTest::patient);
        Send send = cluster.send(0, LOST, 1, 100);
        question().complete(List.of(noneListens(), noneListens()));
        question().completeExceptionally(new IOException("not yet"));
        question().complete(List.of());
        question().complete(null);
        question().complete(addresses(LOST));
        Cluster.delivered(send);
    }

    static List<Arguments> wrongAnswers() {
        return List.of(
                wrong("fails", "no such name", () -> CompletableFuture.failedFuture(new IOException("no such name"))),
                wrong(
                        "fails in a step before",
                        "no such name",
                        () -> CompletableFuture.failedFuture(new IOException("no such name"))
                                .thenApply(none -> List.of())),
                wrong("is cancelled", "CancellationException", () -> {
                    CompletableFuture<List<SocketAddress>> cancelled = new CompletableFuture<>();
                    cancelled.cancel(false);
                    return cancelled;
                }),
                wrong("throws", "on purpose", () -> {
                    throw new NoClassDefFoundError("on purpose");
                }),
                wrong("returns nothing", "directory returned no stage", () -> null),
                wrong("answers null", "its address is not known", () -> CompletableFuture.completedFuture(null)),
                wrong("has none", "its address is not known", () -> CompletableFuture.completedFuture(List.of())),
                wrong(
                        "has a null",
                        "directory answered a null address",
                        () -> CompletableFuture.completedFuture(Arrays.asList((SocketAddress) null))),
                wrong(
                        "has an address that security refuses",
                        "plaintext is for loopback addresses only",
                        () -> CompletableFuture.completedFuture(List.of(new InetSocketAddress("192.0.2.1", 1)))));
    }

    private static Arguments wrong(String what, String said, Supplier<CompletionStage<?>> answer) {
        return Arguments.of(what, said, answer);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("wrongAnswers")
    void wrongAnswerIsAnAttemptThatFailed(
            String what, String said, Supplier<CompletionStage<List<SocketAddress>>> answer) throws Exception {
        PeerDirectory directory = PeerDirectory.late(peer -> {
            if (peer == FOUND) {
                return CompletableFuture.completedFuture(addresses(FOUND));
            }
            return answer.get();
        });
        start(directory, LateDirectoryTest::patient);
        Send send = cluster.send(0, LOST, 1, 100);
        // with a hint the verdict falls as soon as an attempt has failed, whatever the clock says
        cluster.node(0).suspect(LOST, HINT);
        String why = Cluster.failure(send).getMessage();
        assertTrue(why.startsWith("peer 1 failed: " + HINT + " last=" + said), why);
        Cluster.delivered(cluster.send(0, FOUND, 2, 100));
    }

    @Test
    void verdictSaysThatTheDirectoryDidNotAnswer() throws Exception {
        start(askingMe(), setup -> setup.peerTimeout(Duration.ofMillis(500)));
        Throwable failure = Cluster.failure(cluster.send(0, LOST, 1, 100));
        assertEquals("peer 1 failed: no connection: millis=500 last=directory did not answer", failure.getMessage());
        Cluster.line(cluster.lost, "directory did not answer");
        Cluster.delivered(cluster.send(0, FOUND, 2, 100));
        // asked once, and again by the next send
        question();
        assertNull(asked.poll());
        Send again = cluster.send(0, LOST, 3, 100);
        question().complete(addresses(LOST));
        Cluster.delivered(again);
    }

    @Test
    void hintAndADirectoryThatDoesNotAnswerAreAVerdict() throws Exception {
        start(askingMe(), setup -> setup.peerTimeout(Duration.ofMinutes(10)).helloDeadline(Duration.ofMillis(200)));
        cluster.node(0).suspect(LOST, HINT);
        Cluster.line(cluster.lost, HINT + " last=directory did not answer");
        question();
        assertNull(asked.poll());
    }

    @Test
    void answerAfterTheVerdictChangesNothing() throws Exception {
        start(askingMe(), LateDirectoryTest::patient);
        Send send = cluster.send(0, LOST, 1, 100);
        CompletableFuture<List<SocketAddress>> question = question();
        cluster.node(0).lost(LOST, "given up");
        Cluster.failure(send);
        AtomicInteger looks = new AtomicInteger();
        question.complete(counted(looks));
        turn();
        assertEquals(0, looks.get());
        Send again = cluster.send(0, LOST, 2, 100);
        question().complete(counted(looks));
        Cluster.delivered(again);
        assertTrue(looks.get() > 0);
    }

    @Test
    void answerAfterTheCloseChangesNothing() throws Exception {
        // a loop that outlives the node
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            start(askingMe(), setup -> patient(setup).loops(loops));
            Send send = cluster.send(0, LOST, 1, 100);
            CompletableFuture<List<SocketAddress>> question = question();
            cluster.node(0).close();
            Cluster.failure(send);
            AtomicInteger looks = new AtomicInteger();
            question.complete(counted(looks));
            loops.next().submit(() -> {}).get(10, TimeUnit.SECONDS);
            assertEquals(0, looks.get());
        } finally {
            cluster.node(0).close();
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        }
    }

    @Test
    void connectionOfThePeersEndsTheQuestion() throws Exception {
        start(askingMe(), LateDirectoryTest::patient);
        Send send = cluster.send(0, LOST, 1, 100);
        CompletableFuture<List<SocketAddress>> question = question();
        cluster.directory = peer -> cluster.address(peer);
        Cluster.delivered(cluster.send(LOST, 0, 2, 100));
        Cluster.delivered(send);
        AtomicInteger looks = new AtomicInteger();
        question.complete(counted(looks));
        turn();
        assertEquals(0, looks.get());
    }

    @Test
    void suspensionEndsTheQuestionAndResumingAsksAgain() throws Exception {
        start(askingMe(), LateDirectoryTest::patient);
        Send send = cluster.send(0, LOST, 1, 100);
        CompletableFuture<List<SocketAddress>> question = question();
        InetSocketAddress address = cluster.address(0);
        cluster.node(0).suspend().toCompletableFuture().get(10, TimeUnit.SECONDS);
        AtomicInteger looks = new AtomicInteger();
        question.complete(counted(looks));
        turn();
        assertEquals(0, looks.get());
        cluster.node(0).resume(address).toCompletableFuture().get(10, TimeUnit.SECONDS);
        question().complete(addresses(LOST));
        Cluster.delivered(send);
    }

    @Test
    void threadOfAnExecutorWaitsInPlaceOfTheLoop() throws Exception {
        CountDownLatch known = new CountDownLatch(1);
        PeerDirectory blocking = peer -> {
            if (peer == LOST) {
                try {
                    known.await();
                } catch (InterruptedException over) {
                    throw new CancellationException("interrupted");
                }
            }
            return cluster.address(peer);
        };
        start(blocking.askedOn(task -> Thread.ofVirtual().start(task)), LateDirectoryTest::patient);
        Send waits = cluster.send(0, LOST, 1, 100);
        Cluster.delivered(cluster.send(0, FOUND, 2, 100));
        assertFalse(waits.toCompletableFuture().isDone());
        known.countDown();
        Cluster.delivered(waits);
    }

    @Test
    void executorThatRefusesIsAnAttemptThatFailed() throws Exception {
        AtomicInteger refusals = new AtomicInteger(2);
        PeerDirectory directory = cluster::address;
        start(
                directory.askedOn(task -> {
                    if (refusals.getAndDecrement() > 0) {
                        throw new RejectedExecutionException("on purpose");
                    }
                    task.run();
                }),
                LateDirectoryTest::patient);
        Cluster.delivered(cluster.send(0, LOST, 1, 100));
        assertTrue(refusals.get() < 0);
    }

    @Test
    void lateDirectoryKnowsNothingAtOnce() {
        PeerDirectory late = askingMe();
        String said = assertThrows(UnsupportedOperationException.class, () -> late.addressOf(LOST))
                .getMessage();
        assertEquals("directory answers later: lookUp(1) asks it", said);
        assertThrows(UnsupportedOperationException.class, () -> late.addressesOf(LOST));
        assertThrows(NullPointerException.class, () -> PeerDirectory.late(null));
    }

    /// Each broadcast asks for a peer that was given up, which may have come back; and once only.
    @Test
    void peerThatWasGivenUpIsLookedForOnceForEachBroadcast() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        cluster.directory = peer -> {
            asked.incrementAndGet();
            return null;
        };
        OobNode node = cluster.add(0, 2, builder -> builder.peerTimeout(Duration.ofMinutes(10)));
        node.lost(1, HINT);
        for (int round = 1; round <= 3; round++) {
            try (SealedBuffer message = cluster.numbered(round, 100)) {
                assertEquals(
                        List.of(1),
                        node.broadcast(Cluster.TAG, message)
                                .toCompletableFuture()
                                .get(20, TimeUnit.SECONDS)
                                .failed());
            }
            int now = round;
            Cluster.await("asked", () -> asked.get() >= now);
            // behind the next attempt, if there is one
            node.loop()
                    .eventLoop()
                    .schedule(() -> {}, 200, TimeUnit.MILLISECONDS)
                    .get();
            assertEquals(round, asked.get());
        }
    }
}
