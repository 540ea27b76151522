// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// User code that throws an `Error` on a thread of the node: it ends what it was called for, and nothing beside it.
@Timeout(120)
class UserCodeTest {

    private static final int SIZE = 100_000;

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    /// Memory that counts as released, although the user's code fails.
    private static SealedBuffer adopted() {
        return SealedBuffer.adopt(Arena.ofAuto().allocate(SIZE), () -> {
            throw new Error("release, as told");
        });
    }

    /// The last handle is this one, or the node's.
    private static void close(SealedBuffer message) {
        try {
            message.close();
        } catch (Error last) {
            assertEquals("release, as told", last.getMessage());
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void releaseThatFailsCostsTheMessagesBehindItNothing() throws Exception {
        cluster.start(1);
        OobNode node = cluster.node(0);
        CountDownLatch all = new CountDownLatch(1);
        node.receive(1, message -> await(all));
        cluster.send(0, 0, 1, 0, 10, SendOptions.DEFAULT);
        try (SealedBuffer message = adopted()) {
            node.send(0, 2, message);
        }
        node.receive(2, message -> {});
        for (int i = 0; i < 10; i++) {
            cluster.send(0, 0, i, 10);
        }
        all.countDown();
        for (int i = 0; i < 10; i++) {
            assertEquals("0 from 0: " + i, cluster.next());
        }
        Cluster.await("room is given back", () -> queued(node) == 0);
    }

    @Test
    void handlersThatHaveNoThreadGetOneLater() throws Exception {
        AtomicInteger starts = new AtomicInteger();
        Environment scarce = new Environment(Environment.MACHINE.clock(), Environment.MACHINE.random(), task -> {
            if (starts.incrementAndGet() <= 2) {
                throw new OutOfMemoryError("unable to create native thread, as told");
            }
            return Environment.MACHINE.threads().newThread(task);
        });
        cluster.start(1, setup -> setup.environment(scarce));
        cluster.send(0, 0, 1, 10);
        assertEquals("0 from 0: 1", cluster.next());
        assertEquals(3, starts.get());
    }

    private static long queued(OobNode node) {
        return node.stats().stream().mapToLong(PeerStats::queuedMessages).sum();
    }

    @Test
    void nodeClosesAlthoughWhatItKeptCannotBeReleased() throws Exception {
        cluster.start(1);
        for (int i = 0; i < 3; i++) {
            try (SealedBuffer message = adopted()) {
                get(cluster.node(0).send(0, 9, message));
            }
        }
        Cluster.await("kept", () -> cluster.node(0).unclaimedBytes() > 3 * SIZE);
        get(CompletableFuture.runAsync(cluster.node(0)::close));
    }

    @Test
    void sendIsDeliveredAlthoughItsMemoryCannotBeReleased() throws Exception {
        cluster.start(2);
        SealedBuffer message = adopted();
        CompletionStage<Delivery> send = cluster.node(0).send(1, 9, message);
        close(message);
        Send next = cluster.send(0, 1, 1, SIZE);
        assertEquals(SIZE, get(send).bytes());
        assertEquals(SIZE, get(next).bytes());
        assertEquals(0, cluster.node(0).stats().getFirst().failures());
    }

    @Test
    void broadcastReachesAllAlthoughItsMemoryCannotBeReleased() throws Exception {
        cluster.start(3);
        SealedBuffer message = adopted();
        CompletionStage<BroadcastResult> sent = cluster.node(0).broadcast(9, message);
        close(message);
        assertEquals(2, get(sent).reached());
    }

    @Test
    void policyThatGivesAHandleThatIsNotTheSendsCostsTheChild() throws Exception {
        try (ArenaSource untraced = ArenaSource.create()) {
            // closed as the call returns, which is seen when it is written
            cluster.start(
                    3, setup -> setup.memory(untraced).routing(new Radix(2)).sends(message -> message));
            try (SealedBuffer message = cluster.numbered(1, SIZE)) {
                assertEquals(
                        List.of(1, 2),
                        get(cluster.node(0).broadcast(9, message)).failed());
            }
            cluster.nodes.forEach(OobNode::close);
        }
    }

    @Test
    void policyThatThrowsInTheMiddleCostsThoseBelowOnly() throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        cluster.start(
                3,
                setup -> setup.routing(new Radix(1)).sends(message -> {
                    // the origin's is the first call
                    if (!first.getAndSet(false)) {
                        throw new Error("policy, as told");
                    }
                    return message.share();
                }));
        try (SealedBuffer message = cluster.numbered(1, SIZE)) {
            BroadcastResult result = get(cluster.node(0).broadcast(Cluster.TAG, message));
            assertEquals(List.of(2), result.failed());
            assertEquals("1 from 0: 1", cluster.next());
        }
    }

    /// As while the heap is full. The line about the policy is not written, and all behind it is done.
    @Test
    void logThatThrowsKeepsNoBroadcastFromItsEnd() throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        cluster.start(
                4,
                setup -> setup.routing(new Radix(1)).sends(message -> {
                    if (!first.getAndSet(false)) {
                        throw new Error("policy, as told");
                    }
                    return message.share();
                }));
        Logger logger = Logger.getLogger(OobNode.class.getName());
        Handler full = new Handler() {
            @Override
            public void publish(LogRecord line) {
                if (line.getLevel() == Level.SEVERE) {
                    throw new OutOfMemoryError("log, as told");
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(full);
        try (SealedBuffer message = cluster.numbered(1, SIZE)) {
            BroadcastResult result = get(cluster.node(0).broadcast(Cluster.TAG, message));
            assertEquals(List.of(2, 3), result.failed());
            assertEquals("1 from 0: 1", cluster.next());
        } finally {
            logger.removeHandler(full);
        }
    }

    @Test
    void routingThatThrowsAtAnyCallLeavesNoBroadcastWithoutAnEnd() throws Exception {
        Routing shape = new Radix(1);
        CountedFailure at = new CountedFailure();
        cluster.start(
                3,
                setup -> setup.routing(new Routing() {
                    @Override
                    public int[] children(int rank, int origin, int size) {
                        at.reach();
                        return shape.children(rank, origin, size);
                    }

                    @Override
                    public int parent(int rank, int origin, int size) {
                        at.reach();
                        return shape.parent(rank, origin, size);
                    }
                }));
        try (SealedBuffer message = cluster.numbered(1, SIZE)) {
            get(cluster.node(0).broadcast(Cluster.TAG, message));
            for (int n = 1; at.armed(n); n++) {
                try {
                    CompletionStage<BroadcastResult> sent = cluster.node(0).broadcast(Cluster.TAG, message);
                    get(sent);
                } catch (Error | java.util.concurrent.ExecutionException told) {
                    assertTrue(String.valueOf(told).contains("as told"), String.valueOf(told));
                }
            }
            assertTrue(at.failures > 5, "failures=" + at.failures);
        }
    }

    /// The n-th call since it was armed throws.
    private static final class CountedFailure {

        private long left;
        private boolean thrown = true;
        private int failures;

        synchronized boolean armed(long n) {
            boolean more = thrown;
            thrown = false;
            left = n;
            return more;
        }

        synchronized void reach() {
            if (--left == 0) {
                thrown = true;
                failures++;
                throw new Error("routing, as told");
            }
        }
    }
}
