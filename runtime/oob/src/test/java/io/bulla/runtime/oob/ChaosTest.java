// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/// Sends among 16 nodes that are killed and come back, over connections that are reset, cut, stalled and frozen,
/// with cancels, deadlines and broadcasts.
///
/// `./check chaos` makes a million sends, by `-Dbulla.sends`; `-Dbulla.seed` is the seed of all choices, which is
/// printed. Threads meet as they like, so a seed repeats the choices and not the run.
class ChaosTest {

    private static final int NODES = 16;
    private static final int SENDERS = 4;
    private static final int SENDS = Integer.getInteger("bulla.sends", 40_000);
    private static final long SEED = Long.getLong("bulla.seed", System.nanoTime());
    private static final int XCAST_EVERY = 100;
    private static final int XCAST = 9;
    private static final int ON_THE_WAY = 4_000;
    // on a machine that sends faster, the sends wait for the trouble
    private static final int SENDS_PER_DISTURBANCE = 2_000;

    private enum Disturbance {
        RESET(2),
        CUT(6),
        STALL(2),
        FREEZE(1),
        KILL(1);

        private final int cards;

        Disturbance(int cards) {
            this.cards = cards;
        }

        static List<Disturbance> deck() {
            List<Disturbance> deck = new ArrayList<>();
            for (Disturbance disturbance : values()) {
                deck.addAll(Collections.nCopies(disturbance.cards, disturbance));
            }
            return deck;
        }
    }

    /// A node from its start to its end.
    private record Life(int number, int rank, OobNode node) {}

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final AtomicReferenceArray<Life> lives = new AtomicReferenceArray<>(NODES);
    private final Set<Integer> ended = ConcurrentHashMap.newKeySet();
    private final List<Proxy> proxies = new ArrayList<>();
    private final ChaosLedger ledger = new ChaosLedger(SENDS);
    private final AtomicInteger nextLife = new AtomicInteger();
    private final AtomicInteger nextId = new AtomicInteger();
    private final Set<String> xcastsHeard = ConcurrentHashMap.newKeySet();
    private final LongAdder xcasts = new LongAdder();
    private final LongAdder kills = new LongAdder();
    private final LongAdder disturbances = new LongAdder();
    private final Semaphore room = new Semaphore(ON_THE_WAY);
    private volatile boolean over;

    @Test
    void nothingIsLostDoubledOrWrongAndEveryHandleIsBack() throws Exception {
        System.out.println("chaos: seed=" + SEED + " sends=" + SENDS);
        Logger.getLogger(OobNode.class.getName()).setLevel(Level.SEVERE);
        long start = System.nanoTime();
        try {
            run();
        } finally {
            Logger.getLogger(OobNode.class.getName()).setLevel(null);
        }
        System.out.printf(
                "chaos: seconds=%.1f handled=%d kills=%d disturbances=%d xcasts=%d outcomes=%s%n",
                (System.nanoTime() - start) / 1e9,
                ledger.handledInAll(SENDS),
                kills.sum(),
                disturbances.sum(),
                xcasts.sum(),
                ledger.outcomes);
        assertEquals(List.of(), List.copyOf(ledger.wrong));
        assertTrue(
                disturbances.sum() >= Disturbance.deck().size() && kills.sum() > 0 && xcasts.sum() > 0,
                () -> "nothing shown: disturbances=" + disturbances + " kills=" + kills + " xcasts=" + xcasts);
    }

    private void run() throws Exception {
        for (int rank = 0; rank < NODES; rank++) {
            int target = rank;
            proxies.add(new Proxy(() -> lives.get(target).node().address()));
            begin(rank);
        }
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) {
            Random random = new Random(SEED + i);
            int first = i;
            senders.add(Thread.ofPlatform().daemon().start(() -> send(first, random)));
        }
        Thread trouble = Thread.ofPlatform().daemon().start(() -> trouble(new Random(SEED - 1)));
        for (Thread sender : senders) {
            sender.join();
        }
        over = true;
        trouble.join();
        // whatever is on its way completes, at the latest by a verdict
        assertTrue(room.tryAcquire(ON_THE_WAY, 60, TimeUnit.SECONDS), () -> "on the way=" + room.availablePermits());
        Thread.sleep(500);
        ledger.settle(SENDS, life -> !ended.contains(life));
        for (int rank = 0; rank < NODES; rank++) {
            lives.get(rank).node().close();
            proxies.get(rank).close();
        }
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        Cluster.await("handles are open", () -> handles.open() == 0);
        source.close();
    }

    private void begin(int rank) throws IOException {
        int number = nextLife.getAndIncrement();
        OobNode node = OobNode.builder(rank, NODES)
                .memory(source)
                .security(Security.plaintext())
                .directory(peer -> proxies.get(peer).address())
                .loops(loops)
                .routing(new Radix(2))
                .fragment(8 << 10)
                .coalesceBelow(257)
                .queuePerPeer(500, 4 << 20)
                .inboundHighWaterMark(1 << 20)
                .heartbeat(Duration.ofMillis(200))
                .peerTimeout(Duration.ofMillis(1000))
                .start();
        for (int tag = 0; tag < 4; tag++) {
            int of = tag;
            node.receive(tag, message -> ledger.handled(message.buffer(), of, number));
        }
        node.receive(XCAST, message -> {
            int id = message.buffer().iovec().get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, 0);
            ledger.check(message.buffer(), Integer.reverseBytes(id));
            if (!xcastsHeard.add(Integer.reverseBytes(id) + "@" + number)) {
                ledger.wrong.add("broadcast handled twice: id=" + Integer.reverseBytes(id) + " life=" + number);
            }
        });
        lives.set(rank, new Life(number, rank, node));
    }

    private void send(int first, Random random) {
        int[] order = new int[NODES];
        for (int id = nextId.getAndIncrement(); id < SENDS; id = nextId.getAndIncrement()) {
            while (disturbances.sum() < id / SENDS_PER_DISTURBANCE && ledger.wrong.isEmpty()) {
                sleep(1);
            }
            room.acquireUninterruptibly();
            Life from = lives.get(first + SENDERS * random.nextInt(NODES / SENDERS));
            int to = random.nextInt(NODES);
            int bytes = ChaosLedger.LEAST + size(random);
            try (SealedBuffer message = ledger.message(source, id, from.number(), order[from.rank()]++, bytes)) {
                start(id, from, lives.get(to), message, random);
                if (id % XCAST_EVERY == 0) {
                    xcast(id, from, message);
                }
            }
        }
    }

    private static int size(Random random) {
        return switch (random.nextInt(100)) {
            case 0 -> random.nextInt(200_000);
            case 1, 2, 3, 4 -> random.nextInt(20_000);
            default -> random.nextInt(1_000);
        };
    }

    private void start(int id, Life from, Life to, SealedBuffer message, Random random) {
        SendOptions options = SendOptions.DEFAULT;
        if (random.nextInt(4) == 0) {
            options = options.written();
        }
        if (random.nextInt(10) == 0) {
            options = options.within(Duration.ofMillis(1 + random.nextInt(50)));
        }
        Send send;
        if (random.nextBoolean()) {
            send = from.node().send(to.rank(), random.nextInt(4), message, options);
        } else {
            int tag = random.nextInt(4);
            Optional<Send> tried = from.node().trySend(to.rank(), tag, message, options);
            send = tried.orElseGet(() -> from.node().send(to.rank(), tag, message));
        }
        send.whenComplete((delivery, failure) -> {
            // the receiver may have been replaced meanwhile: then nothing is claimed
            int life = lives.get(to.rank()).number() == to.number() ? to.number() : -1;
            ledger.completed(id, life, delivery, failure);
            room.release();
        });
        if (random.nextInt(20) == 0) {
            send.cancel();
        }
    }

    /// Everybody who lives from the beginning to the end has it, unless the result says that it failed.
    private void xcast(int id, Life from, SealedBuffer message) {
        List<Life> before = new ArrayList<>();
        for (int rank = 0; rank < NODES; rank++) {
            before.add(lives.get(rank));
        }
        room.acquireUninterruptibly();
        from.node().broadcast(XCAST, message).whenComplete((result, failure) -> {
            if (result == null) {
                room.release();
                return;
            }
            xcasts.increment();
            Thread.startVirtualThread(() -> {
                reached(id, from, before, result);
                room.release();
            });
        });
    }

    private void reached(int id, Life from, List<Life> before, BroadcastResult result) {
        for (Life life : before) {
            boolean expected = life.rank() != from.rank() && !result.failed().contains(life.rank());
            for (int wait = 0; expected && !xcastsHeard.contains(id + "@" + life.number()); wait++) {
                if (ended.contains(life.number())) {
                    break;
                }
                if (wait > 1_000) {
                    ledger.wrong.add("broadcast not heard: id=" + id + " rank=" + life.rank() + " " + result);
                    break;
                }
                sleep(5);
            }
        }
    }

    /// Deals the deck, shuffled anew each time, so that no run is without a kill.
    private void trouble(Random random) {
        List<Disturbance> deck = Disturbance.deck();
        try {
            for (int dealt = 0; !over; dealt++) {
                if (dealt % deck.size() == 0) {
                    Collections.shuffle(deck, random);
                }
                sleep(random.nextInt(30));
                disturb(deck.get(dealt % deck.size()), random);
                disturbances.increment();
            }
        } catch (IOException | RuntimeException e) {
            ledger.wrong.add("no more trouble: " + e);
        } finally {
            proxies.forEach(proxy -> proxy.stall(false));
        }
    }

    private void disturb(Disturbance disturbance, Random random) throws IOException {
        Proxy proxy = proxies.get(random.nextInt(NODES));
        switch (disturbance) {
            case RESET -> proxy.reset();
            case CUT -> proxy.cutAfter(random.nextInt(20_000));
            case STALL -> {
                proxy.stall(true);
                sleep(random.nextInt(100));
                proxy.stall(false);
            }
            case FREEZE -> proxy.freeze();
            case KILL -> kill(random.nextInt(NODES), random);
        }
    }

    private void kill(int rank, Random random) throws IOException {
        Life life = lives.get(rank);
        ended.add(life.number());
        life.node().abort();
        kills.increment();
        sleep(random.nextInt(random.nextInt(10) == 0 ? 1500 : 50));
        begin(rank);
    }

    private static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
