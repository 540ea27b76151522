// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.session.PendingSend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Cuts of nodes that go on: taken in any order, while messages move and connections break, they fit together.
class LiveCutTest {

    private static final int NODES = 4;
    private static final int COINS = 1000;
    private static final int COIN = 77;
    private static final Duration LONG = Duration.ofMinutes(5);

    private final Cluster cluster = new Cluster();
    private final List<NodeCut> cuts = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        cuts.forEach(NodeCut::close);
        cluster.close();
    }

    private void start(int nodes) throws Exception {
        cluster.start(nodes, LiveCutTest::patient);
    }

    private static OobNodeBuilder patient(OobNodeBuilder setup) {
        return setup.peerTimeout(Duration.ofMinutes(10)).fragment(4096);
    }

    private static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private static String failure(CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class, () -> done(stage))
                .getCause()
                .getMessage();
    }

    @Test
    void moneyAddsUpHoweverTheCutsAreTaken() throws Exception {
        start(NODES);
        Bank bank = new Bank();
        bank.open();
        bank.begin(40);
        Random order = new Random(5);
        int undelivered = 0;
        for (int round = 0; round < 12; round++) {
            Bank closing = bank;
            long[] balances = new long[NODES];
            List<Integer> ranks = new ArrayList<>(List.of(0, 1, 2, 3));
            java.util.Collections.shuffle(ranks, order);
            List<LiveCut> live = new ArrayList<>();
            for (int rank : ranks) {
                live.add(cluster.node(rank).liveCut(LONG));
            }
            for (LiveCut each : live) {
                done(each.ready());
            }
            for (int i = 0; i < NODES; i++) {
                int rank = ranks.get(i);
                cuts.add(done(live.get(i).take(() -> balances[rank] = closing.balances[rank].get())));
                // what was sent behind this cut has time to arrive before the next
                bank.moves(30, NODES - 1 - i);
                if (round % 3 == 2) {
                    breakConnections(order.nextInt(NODES));
                }
            }
            for (LiveCut each : live) {
                each.end();
            }
            for (LiveCut each : live) {
                done(each.over());
            }
            bank.moves(200, 1);
            cluster.nodes.forEach(OobNode::abort);
            bank = new Bank();
            for (NodeCut cut : cuts) {
                undelivered += cut.undelivered();
                Bank next = bank;
                int rank = cut.rank();
                next.balances[rank].set(balances[rank]);
                cluster.replace(
                        rank,
                        NODES,
                        setup -> patient(setup).restore(cut).receive(COIN, message -> next.got(rank, message)));
            }
            cuts.forEach(NodeCut::close);
            cuts.clear();
            bank.open();
        }
        assertFalse(undelivered == 0);
        bank.addsUp();
    }

    private void breakConnections(int rank) throws Exception {
        done(cluster.node(rank).suspend());
        done(cluster.node(rank).resume(cluster.address(rank)));
    }

    /// Coins go round for ever: each that arrives is passed on, or kept and another one paid.
    private final class Bank {

        private final AtomicLong[] balances = new AtomicLong[NODES];
        private final List<CompletableFuture<OobNode>> nodes = new ArrayList<>();
        private final AtomicLong moved = new AtomicLong();
        private volatile boolean closing;

        Bank() {
            for (int rank = 0; rank < NODES; rank++) {
                balances[rank] = new AtomicLong(COINS);
                nodes.add(new CompletableFuture<>());
            }
        }

        void open() {
            for (OobNode node : cluster.nodes) {
                nodes.get(node.rank()).complete(node);
                node.receive(COIN, message -> got(node.rank(), message));
            }
        }

        void begin(int coins) {
            for (int i = 0; i < coins; i++) {
                pay(i % NODES, 1 + i % 9);
            }
        }

        void got(int rank, Message message) {
            int coins = Cluster.number(message.buffer());
            balances[rank].addAndGet(coins);
            if (!closing) {
                pay(rank, moved.get() % 5 == 0 ? 1 + coins % 9 : coins);
            }
        }

        private void pay(int from, int coins) {
            long step = moved.incrementAndGet();
            try (SealedBuffer message = cluster.numbered(coins, step % 7 == 0 ? 10_000 : 4 + (int) (step % 300))) {
                balances[from].addAndGet(-coins);
                nodes.get(from).join().send((int) (from + 1 + step % 3) % NODES, COIN, message);
            }
        }

        /// Some more have moved; near the last cut little can.
        void moves(int count, int uncut) throws InterruptedException {
            if (uncut > 0) {
                long until = moved.get() + count;
                for (int wait = 0; moved.get() < until && wait < 20; wait++) {
                    Thread.sleep(1);
                }
            }
        }

        void addsUp() throws InterruptedException {
            closing = true;
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
    void whatIsSentBehindACutWaitsForTheOthersAndSoDoAcknowledgements() throws Exception {
        start(2);
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        assertEquals("1 from 0: 1", cluster.next());
        LiveCut sender = cluster.node(0).liveCut(LONG);
        LiveCut receiver = cluster.node(1).liveCut(LONG);
        done(sender.ready());
        done(receiver.ready());
        cuts.add(done(receiver.take(() -> {})));
        // it arrives behind the receiver's cut, so the sender keeps it
        Send between = cluster.send(0, 1, 2, 100);
        assertEquals("1 from 0: 2", cluster.next());
        NodeCut cut = done(sender.take(() -> {}));
        cuts.add(cut);
        assertEquals(1, cut.undelivered());
        assertFalse(between.isDone());
        Send behind = cluster.send(0, 1, 3, 100);
        receiver.end();
        done(receiver.over());
        Cluster.delivered(between);
        // the other one goes on, and still nothing comes of a node that does not
        Send back = cluster.send(1, 0, 4, 100);
        assertEquals("0 from 1: 4", cluster.next());
        assertFalse(back.isDone());
        assertFalse(behind.isDone());
        assertNull(cluster.got.poll());
        sender.end();
        assertEquals("1 from 0: 3", cluster.next());
        Cluster.delivered(behind);
        Cluster.delivered(back);
    }

    @Test
    void sessionThatBeginsBehindACutGivesNoNumber() throws Exception {
        start(3);
        LiveCut live = cluster.node(0).liveCut(LONG);
        done(live.ready());
        cuts.add(done(live.take(() -> {})));
        // never spoken to before
        cluster.send(2, 0, 1, 100);
        assertEquals("0 from 2: 1", cluster.next());
        Send behind = cluster.send(0, 2, 2, 100);
        assertEquals(-1L, done(onLoop(0, () -> ((PendingSend) behind).sequence)));
        live.end();
        assertEquals("2 from 0: 2", cluster.next());
    }

    private <T> CompletionStage<T> onLoop(int rank, java.util.function.Supplier<T> what) {
        return CompletableFuture.supplyAsync(what, cluster.node(rank).loop().eventLoop());
    }

    @Test
    void cutIsTakenBeforeMessagesThatWait() throws Exception {
        start(2);
        CountDownLatch handles = new CountDownLatch(1);
        CountDownLatch goes = new CountDownLatch(1);
        AtomicLong handled = new AtomicLong();
        cluster.node(1).receive(9, message -> {
            handled.incrementAndGet();
            handles.countDown();
            try {
                goes.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        for (int i = 0; i < 50; i++) {
            Cluster.delivered(cluster.send(0, 1, 9, i, 100, SendOptions.DEFAULT));
        }
        handles.await();
        LiveCut live = cluster.node(1).liveCut(LONG);
        done(live.ready());
        long[] before = new long[1];
        CompletionStage<NodeCut> taken = live.take(() -> before[0] = handled.get());
        goes.countDown();
        NodeCut cut = done(taken);
        cuts.add(cut);
        assertEquals(1, before[0]);
        assertEquals(49, cut.arrived().size());
        live.end();
        Cluster.await("all are handled", () -> handled.get() == 50);
    }

    @Test
    void broadcastWaitsAndIsInTheCut() throws Exception {
        start(3);
        done(cluster.node(2).suspend());
        CompletionStage<BroadcastResult> first = broadcast(0, 1);
        LiveCut live = cluster.node(0).liveCut(LONG);
        // it has begun
        cluster.node(0).stats();
        CompletionStage<BroadcastResult> second = broadcast(0, 2);
        assertFalse(live.ready().toCompletableFuture().isDone());
        done(cluster.node(2).resume(cluster.address(2)));
        done(live.ready());
        done(first);
        NodeCut cut = done(live.take(() -> {}));
        cuts.add(cut);
        assertEquals(
                List.of(2),
                cut.broadcasts().stream()
                        .map(each -> Cluster.number(each.buffer()))
                        .toList());
        cluster.node(0).abort();
        failure(second);
        cluster.replace(0, 3, setup -> patient(setup).restore(cut));
        List<String> got = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            got.add(cluster.next());
        }
        got.sort(null);
        assertEquals(List.of("1 from 0: 1", "1 from 0: 2", "2 from 0: 1", "2 from 0: 2"), got);
    }

    private CompletionStage<BroadcastResult> broadcast(int from, int number) {
        try (SealedBuffer message = cluster.numbered(number, 100)) {
            return cluster.node(from).broadcast(Cluster.TAG, message);
        }
    }

    @Test
    void cutThatIsNotEndedEndsByItself() throws Exception {
        start(2);
        // on a busy machine the time may be over before the cut is taken: then with more
        int millis = 300;
        LiveCut live = cluster.node(0).liveCut(Duration.ofMillis(millis));
        while (!isTaken(live)) {
            millis *= 2;
            live = cluster.node(0).liveCut(Duration.ofMillis(millis));
        }
        Send behind = cluster.send(0, 1, 1, 100);
        String late = "cut was not ended in time: millis=" + millis + ": rank=0";
        assertEquals(late, failure(live.over()));
        Cluster.delivered(behind);
        assertEquals("cut is over: rank=0", failure(live.take(() -> {})));
        live.end();
        assertEquals(late, failure(live.over()));
    }

    private boolean isTaken(LiveCut live) throws Exception {
        try {
            done(live.ready());
            cuts.add(done(live.take(() -> {})));
            return true;
        } catch (ExecutionException late) {
            assertTrue(late.getCause().getMessage().startsWith("cut "), late::toString);
            return false;
        }
    }

    @Test
    void verdictEndsACut() throws Exception {
        start(3);
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        LiveCut live = cluster.node(0).liveCut(LONG);
        done(live.ready());
        cuts.add(done(live.take(() -> {})));
        assertEquals("cut was taken: rank=0", failure(live.take(() -> {})));
        LiveCut second = cluster.node(0).liveCut(LONG);
        assertEquals("another cut is being taken: rank=0", failure(second.ready()));
        cluster.node(0).lost(1, "on purpose");
        assertEquals("peer failed: rank=0 peer=1 reason=peer 1 failed: on purpose", failure(live.over()));
        Cluster.delivered(cluster.send(0, 2, 2, 100));
        CompletionStage<BroadcastResult> held;
        LiveCut closed = cluster.node(0).liveCut(LONG);
        done(closed.ready());
        held = broadcast(0, 3);
        cluster.node(0).close();
        assertEquals("node is closed: rank=0", failure(closed.over()));
        failure(held);
        assertEquals(
                "node is closed: rank=0", failure(cluster.node(0).liveCut(LONG).ready()));
    }
}
