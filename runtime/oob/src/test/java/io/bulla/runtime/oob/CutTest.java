// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Nodes end and go on from their cuts, as if nothing had been.
class CutTest {

    private static final int NODES = 4;
    private static final int COINS = 1000;

    private final Cluster cluster = new Cluster();
    private final List<NodeCut> cuts = new ArrayList<>();

    @BeforeEach
    void nodesThatHavePatience() throws Exception {
        cluster.start(NODES, CutTest::patient);
    }

    private static OobNodeBuilder patient(OobNodeBuilder setup) {
        return setup.peerTimeout(Duration.ofMinutes(10)).fragment(4096);
    }

    @AfterEach
    void nothingIsLeft() {
        cuts.forEach(NodeCut::close);
        cluster.close();
    }

    private static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private NodeCut cut(int rank) throws Exception {
        NodeCut cut = done(cluster.node(rank).cut(() -> {}));
        cuts.add(cut);
        return cut;
    }

    private void suspendAll() throws Exception {
        List<CompletionStage<Void>> all = new ArrayList<>();
        for (OobNode node : cluster.nodes) {
            all.add(node.suspend());
        }
        for (CompletionStage<Void> each : all) {
            done(each);
        }
    }

    @Test
    void moneyThatIsSentAboutAddsUpThroughManyEndsOfTheJob() throws Exception {
        Bank bank = new Bank();
        for (int round = 0; round < 5; round++) {
            bank.open();
            bank.pay(300);
            suspendAll();
            List<Long> balances = new ArrayList<>();
            Bank closing = bank;
            for (int rank = 0; rank < NODES; rank++) {
                int of = rank;
                cuts.add(done(cluster.node(rank).cut(() -> balances.add(closing.balances[of].get()))));
            }
            // what goes on after the cut is of a job that is no more
            for (OobNode node : cluster.nodes) {
                node.abort();
            }
            bank = new Bank();
            for (int rank = 0; rank < NODES; rank++) {
                bank.balances[rank].set(balances.get(rank));
            }
            for (int rank = 0; rank < NODES; rank++) {
                NodeCut cut = cuts.get(rank);
                Bank next = bank;
                int of = rank;
                cluster.replace(
                        rank,
                        NODES,
                        setup -> patient(setup).restore(cut).receive(Bank.TAG, message -> next.got(of, message)));
            }
            cuts.forEach(NodeCut::close);
            cuts.clear();
            bank.open();
            bank.addsUp();
        }
    }

    /// Each node pays others by messages of all sizes; a handler passes some of it on.
    private final class Bank {

        private static final int TAG = 77;

        private final AtomicLong[] balances = new AtomicLong[NODES];
        // handlers run before the node is known to the test
        private final List<CompletableFuture<OobNode>> nodes = new ArrayList<>();
        private final AtomicInteger turn = new AtomicInteger();

        Bank() {
            for (int rank = 0; rank < NODES; rank++) {
                balances[rank] = new AtomicLong(COINS);
                nodes.add(new CompletableFuture<>());
            }
        }

        void open() {
            for (OobNode node : cluster.nodes) {
                nodes.get(node.rank()).complete(node);
                node.receive(TAG, message -> got(node.rank(), message));
            }
        }

        void got(int rank, Message message) {
            int coins = Cluster.number(message.buffer());
            balances[rank].addAndGet(coins);
            if (coins > 1) {
                pay(rank, coins / 2);
            }
        }

        void pay(int times) {
            for (int i = 0; i < times; i++) {
                pay(i % NODES, 1 + i % 9);
            }
        }

        private void pay(int from, int coins) {
            int step = turn.incrementAndGet();
            try (SealedBuffer message = cluster.numbered(coins, step % 7 == 0 ? 10_000 : 4 + step % 300)) {
                balances[from].addAndGet(-coins);
                nodes.get(from).join().send((from + 1 + step % 3) % NODES, TAG, message);
            }
        }

        void addsUp() throws InterruptedException {
            Cluster.await("the money adds up", () -> {
                long sum = 0;
                for (AtomicLong each : balances) {
                    sum += each.get();
                }
                return sum == (long) NODES * COINS;
            });
        }
    }

    @Test
    void cutHasWhatWasNotHandledAndWhatWasNotTaken() throws Exception {
        CountDownLatch holds = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        cluster.node(1).receive(9, message -> {
            held.countDown();
            awaits(holds);
        });
        Cluster.delivered(cluster.send(0, 1, 9, 1, 100, SendOptions.DEFAULT));
        assertTrue(held.await(10, TimeUnit.SECONDS));
        // acknowledged, and before or behind the handler that waits
        Cluster.delivered(cluster.send(0, 1, 10, 2, 5000, SendOptions.DEFAULT.packed(WireFormat.PMIX_4)));
        CompletionStage<NodeCut> taken = cluster.node(1).cut(() -> {});
        Cluster.delivered(cluster.send(0, 1, 10, 3, 100, SendOptions.DEFAULT));
        done(cluster.node(0).suspend());
        Send cancelled = cluster.send(0, 1, 10, 4, 100, SendOptions.DEFAULT);
        cancelled.cancel();
        cluster.send(0, 1, 10, 5, 9000, SendOptions.DEFAULT);
        holds.countDown();
        NodeCut receiver = done(taken);
        cuts.add(receiver);
        assertEquals(
                List.of(2, 3),
                receiver.arrived().stream()
                        .map(each -> Cluster.number(each.buffer()))
                        .toList());
        assertEquals(
                Optional.of(WireFormat.PMIX_4), receiver.arrived().getFirst().format());
        NodeCut sender = cut(0);
        assertEquals(1, sender.undelivered());
        NodeCut.OfLane bulk = sender.peers().getFirst().lanes().get(Lane.BULK);
        assertEquals(9000, bulk.outgoing().getFirst().length());
        assertEquals(NodeCut.UNNUMBERED, bulk.outgoing().getFirst().number());
        assertEquals(1, bulk.next());
        assertEquals(2, sender.peers().getFirst().lanes().get(Lane.SMALL).next());
        done(cluster.node(0).resume(cluster.address(0)));
    }

    private static void awaits(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void orderOfATagGoesOnThroughLanesAndMessagesWithoutAReceiver() throws Exception {
        cluster.node(1).stopReceiving(Cluster.TAG);
        for (int i = 0; i < 20; i++) {
            Cluster.delivered(cluster.send(0, 1, i, i % 3 == 0 ? 9000 : 100));
        }
        suspendAll();
        for (int i = 20; i < 60; i++) {
            cluster.send(0, 1, i, i % 3 == 0 ? 9000 : 100);
        }
        again(0);
        again(1);
        for (int i = 0; i < 60; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
        assertNull(cluster.got.poll());
    }

    /// The node ends, and goes on from its cut.
    private void again(int rank) throws Exception {
        NodeCut cut = cut(rank);
        cluster.node(rank).abort();
        cluster.replace(rank, NODES, setup -> patient(setup).restore(cut));
    }

    @Test
    void peerThatDoesNotGoOnFromACutCostsWhatWasBegunAndNothingElse() throws Exception {
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        Cluster.delivered(cluster.send(1, 0, 1, 100));
        again(0);
        // node 1 knows a session of a process that is no more, and begins a new one
        while (true) {
            try {
                Cluster.delivered(cluster.send(1, 0, 2, 100));
                break;
            } catch (ExecutionException begunBefore) {
                assertInstanceOf(PeerFailedException.class, begunBefore.getCause());
            }
        }
        suspendAll();
        again(1);
        OobNode fresh = cluster.node(0);
        fresh.abort();
        cluster.replace(0, NODES, CutTest::patient);
        Cluster.delivered(cluster.send(0, 1, 3, 100));
        Cluster.delivered(cluster.send(1, 0, 4, 100));
        Cluster.await("handled", () -> cluster.got.contains("1 from 0: 3") && cluster.got.contains("0 from 1: 4"));
    }

    @Test
    void whatWasBegunIsNotSentToAPeerThatDoesNotGoOnFromACut() throws Exception {
        cluster.node(1).close();
        try (SocketChannel peer = peer(77)) {
            cluster.send(0, 1, 1, 100);
            assertEquals(1, heard(peer));
            NodeCut cut = cut(0);
            NodeCut.OfLane small = cut.peers().getFirst().lanes().get(Lane.SMALL);
            assertEquals(0, small.outgoing().getFirst().number());
            cluster.node(0).abort();
            cluster.replace(0, NODES, setup -> patient(setup).restore(cut));
        }
        // the same process, which has handled it, begins a new session
        try (SocketChannel peer = peer(78)) {
            cluster.send(0, 1, 2, 100);
            assertEquals(2, heard(peer));
        }
    }

    /// Rank 1, which speaks by itself.
    private SocketChannel peer(int session) throws IOException {
        SocketChannel channel = SocketChannel.open(cluster.address(0));
        channel.write(Wire.hello(4, 4, 1, NODES, 1, session, 0));
        Wire.read(channel, Frame.BYTES + Hello.BYTES);
        return channel;
    }

    /// The number of the next message of 100 bytes.
    private static int heard(SocketChannel from) throws IOException {
        ByteBuffer header = Wire.read(from, Frame.BYTES);
        while (header.get(5) != Frame.Kind.DIRECT.ordinal()) {
            assertEquals(0, header.position() - Frame.BYTES, "connection is over");
            header = Wire.read(from, Frame.BYTES);
        }
        return Wire.read(from, 100).getInt(0);
    }

    @Test
    void cutMayBeGoneOnFromAgain() throws Exception {
        cluster.node(1).stopReceiving(Cluster.TAG);
        Cluster.delivered(cluster.send(0, 1, 7, 100));
        NodeCut cut = cut(1);
        for (int i = 0; i < 3; i++) {
            cluster.node(1).abort();
            cluster.replace(1, NODES, setup -> patient(setup).restore(cut));
            assertEquals("1 from 0: 7", cluster.next());
        }
        Cluster.delivered(cluster.send(1, 0, 8, 100));
        assertEquals("0 from 1: 8", cluster.next());
    }

    /// Its message waits for a connection, so only the sender's cut names the other one.
    @Test
    void peerThatIsInOneOfTwoCutsIsNotRestarted() throws Exception {
        suspendAll();
        cluster.send(0, 1, 7, 100);
        NodeCut waits = cut(0);
        NodeCut unaware = cut(1);
        assertEquals(1, waits.peers().size());
        assertEquals(0, unaware.peers().size());
        cluster.node(0).abort();
        cluster.node(1).abort();
        cluster.replace(1, NODES, setup -> patient(setup).restore(unaware));
        cluster.replace(0, NODES, setup -> patient(setup).restore(waits));
        assertEquals("1 from 0: 7", cluster.next());
        assertEquals(0, cluster.node(0).stats().getFirst().failures());
        assertEquals(0, cluster.node(1).stats().getFirst().failures());
    }

    @Test
    void whatCannotBeIsSaid() throws Exception {
        NodeCut cut = cut(0);
        assertThrows(
                IllegalArgumentException.class,
                () -> OobNode.builder(1, NODES)
                        .memory(cluster.source)
                        .security(Security.plaintext())
                        .directory(peer -> null)
                        .restore(cut)
                        .start());
        IllegalStateException thrown = new IllegalStateException("on purpose");
        CompletionStage<NodeCut> failing = cluster.node(0).cut(() -> {
            throw thrown;
        });
        assertEquals(thrown, failure(failing));
        done(cluster.node(1).suspend());
        CompletionStage<BroadcastResult> result;
        try (SealedBuffer message = cluster.numbered(3, 100)) {
            result = cluster.node(0).broadcast(Cluster.TAG, message);
        }
        assertEquals(
                "broadcasts are on their way: rank=0",
                failure(cluster.node(0).cut(() -> {})).getMessage());
        done(cluster.node(1).resume(cluster.address(1)));
        done(result);
        cluster.node(2).close();
        assertInstanceOf(IllegalStateException.class, failure(cluster.node(2).cut(() -> {})));
        assertThrows(IllegalArgumentException.class, () -> new NodeCut.OfLane(2, 0, 0, List.of()));
        assertThrows(
                IllegalArgumentException.class,
                () -> new NodeCut(0, 2, List.of(new NodeCut.OfPeer(0, lanes())), List.of()));
        cluster.node(0).stopReceiving(Cluster.TAG);
        Cluster.delivered(cluster.send(3, 0, 1, 100));
        NodeCut closed = cut(0);
        closed.close();
        assertThrows(
                ReleasedBufferException.class,
                () -> OobNode.builder(0, NODES)
                        .memory(cluster.source)
                        .security(Security.plaintext())
                        .directory(peer -> null)
                        .restore(closed)
                        .start());
        cluster.node(0).receive(Cluster.TAG, message -> {});
    }

    private static List<NodeCut.OfLane> lanes() {
        NodeCut.OfLane empty = new NodeCut.OfLane(0, 0, 0, List.of());
        return List.of(empty, empty, empty);
    }

    private static Throwable failure(CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class, () -> done(stage)).getCause();
    }
}
