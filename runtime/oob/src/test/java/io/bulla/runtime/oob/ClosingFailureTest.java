// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.node.CutGate;
import io.bulla.runtime.oob.internal.node.HandleSet;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A node closes and is suspended whatever one step of that throws: the steps behind it are taken.
@Timeout(300)
class ClosingFailureTest {

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    /// What a stage fails with.
    private static Throwable failure(CompletionStage<?> stage) throws Exception {
        return get(stage.handle((result, failure) -> failure));
    }

    private static void close(OobNode node, Duration drain) throws Exception {
        get(CompletableFuture.runAsync(() -> node.close(drain)));
    }

    /// Are closed even where one waits for ever.
    private static final class Nodes implements AutoCloseable {

        private final Cluster cluster = new Cluster();

        @Override
        public void close() {
            CompletableFuture.runAsync(cluster::close)
                    .orTimeout(20, TimeUnit.SECONDS)
                    .join();
        }
    }

    private static void onLoop(OobNode node, Runnable task) throws Exception {
        get(CompletableFuture.runAsync(task, node.loop().eventLoop()));
    }

    private static void isFree(InetSocketAddress address) throws IOException {
        try (ServerSocket free = new ServerSocket()) {
            free.bind(address);
        }
    }

    /// A clock that fails on its node's loop.
    private static final class Clock {

        // volatile: written before the clock is armed, on the loop that reads it
        private volatile Thread loop;
        private long calls;
        private long from;
        private long to;

        Environment environment() {
            return new Environment(this::now, Environment.MACHINE.random(), Environment.MACHINE.threads());
        }

        /// On the loop: those calls fail.
        void arm(long first, long last) {
            calls = 0;
            from = first;
            to = last;
            loop = Thread.currentThread();
        }

        private long now() {
            if (Thread.currentThread() == loop) {
                long call = ++calls;
                if (call >= from && call <= to) {
                    throw new Error("clock, as told");
                }
            }
            return Environment.MACHINE.now();
        }

        boolean hasFailed() {
            return calls >= from;
        }
    }

    @Test
    void anyCallOfTheClockMayFailWhileANodeCloses() throws Exception {
        long first = 0;
        for (boolean failed = true; failed; ) {
            first++;
            failed = closes(first, first);
            closes(first, Long.MAX_VALUE);
        }
        // the words to each of two peers
        assertTrue(first > 2, "calls=" + first);
    }

    private static boolean closes(long firstCall, long lastCall) throws Exception {
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            Clock clock = new Clock();
            cluster.start(3, setup -> setup.environment(clock.environment()));
            OobNode node = cluster.node(0);
            for (int peer = 1; peer < 3; peer++) {
                Cluster.delivered(cluster.send(0, peer, peer, 100));
            }
            InetSocketAddress address = node.address();
            onLoop(node, () -> {
                // begins behind this
                node.close();
                clock.arm(firstCall, lastCall);
            });
            close(node, Duration.ZERO);
            isFree(address);
            for (int peer = 1; peer < 3; peer++) {
                assertInstanceOf(PeerFailedException.class, failure(cluster.send(0, peer, 9, 100)));
            }
            return clock.hasFailed();
        }
    }

    @Test
    void cutThatCannotBeEndedKeepsNoNodeFromItsEnd() throws Exception {
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            cluster.directory = peer -> peer < 2 ? cluster.address(peer) : null;
            for (int rank = 0; rank < 2; rank++) {
                cluster.add(rank, 3, setup -> setup.queuePerPeer(1, 1000));
            }
            OobNode node = cluster.node(0);
            Cluster.delivered(cluster.send(0, 1, 1, 100));
            Send send = cluster.send(0, 2, 1, 100);
            CompletionStage<Void> room = node.room(2);
            onLoop(node, () -> node.loop().hold(new BrokenGate()));
            InetSocketAddress address = node.address();
            close(node, Duration.ZERO);
            isFree(address);
            get(room);
            assertInstanceOf(PeerFailedException.class, failure(send));
            assertTrue(Cluster.line(cluster.log, "cut was not ended").contains("rank=0"));
            assertTrue(Cluster.line(cluster.lost, "it has closed").startsWith("1: "));
        }
    }

    @Test
    void abortThatCannotEndACutHasAnEnd() throws Exception {
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            cluster.start(1);
            OobNode node = cluster.node(0);
            onLoop(node, () -> node.loop().hold(new BrokenGate()));
            get(CompletableFuture.runAsync(node::abort));
        }
    }

    @Test
    void logThatThrowsKeepsNoNodeFromItsEnd() throws Exception {
        Logger logger = Logger.getLogger(OobNode.class.getName());
        Handler full = new Handler() {
            @Override
            public void publish(LogRecord line) {
                throw new OutOfMemoryError("log, as told");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            cluster.start(1);
            OobNode node = cluster.node(0);
            onLoop(node, () -> node.loop().hold(new BrokenGate()));
            logger.addHandler(full);
            close(node, Duration.ZERO);
        } finally {
            logger.removeHandler(full);
        }
    }

    private record BrokenGate() implements CutGate {

        @Override
        public void checkRuns() {}

        @Override
        public List<Message> kept(HandleSet shares) {
            return List.of();
        }

        @Override
        public void taken() {}

        @Override
        public boolean isTaken() {
            return false;
        }

        @Override
        public void fail(String why) {
            throw new Error("gate, as told");
        }
    }

    /// A security whose handler does not let a channel be closed.
    private static final class Clinging implements Security {

        private final Queue<Channel> channels = new ConcurrentLinkedQueue<>();

        @Override
        public void secure(Channel channel, boolean connecting, int expectedPeer) {
            channels.add(channel);
            channel.pipeline().addLast(new ChannelDuplexHandler() {
                @Override
                public void close(ChannelHandlerContext context, ChannelPromise promise) {
                    throw new Error("close, as told");
                }
            });
        }

        @Override
        public int peerOf(Channel channel) {
            return UNKNOWN;
        }

        @Override
        public String name() {
            return "clinging";
        }
    }

    @Test
    void handlerThatDoesNotCloseKeepsNoSuspensionFromItsEnd() throws Exception {
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            Clinging security = new Clinging();
            cluster.start(2, setup -> setup.security(security));
            Cluster.delivered(cluster.send(0, 1, 1, 100));
            InetSocketAddress address = cluster.address(0);
            get(cluster.node(0).suspend());
            assertTrue(security.channels.stream()
                    .filter(channel ->
                            channel.eventLoop() == cluster.node(0).loop().eventLoop())
                    .noneMatch(Channel::isOpen));
            get(cluster.node(0).resume(address));
            Cluster.delivered(cluster.send(0, 1, 2, 100));
            close(cluster.node(0), Duration.ZERO);
            isFree(address);
            close(cluster.node(1), Duration.ZERO);
        }
    }

    @Test
    void closeWaitsForNoLoopThatIsShutDown() throws Exception {
        var loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            cluster.directory = peer -> null;
            OobNode node = cluster.add(0, 2, setup -> setup.loops(loops).peerTimeout(Duration.ofMinutes(10)));
            Send send = cluster.send(0, 1, 1, 100);
            CompletableFuture<Void> closed = CompletableFuture.runAsync(() -> node.close(Duration.ofMinutes(10)));
            Cluster.await("closing", () -> failsAtOnce(cluster));
            loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            get(closed);
            assertInstanceOf(PeerFailedException.class, failure(send));
        }
    }

    private static boolean failsAtOnce(Cluster cluster) {
        return cluster.send(0, 1, 2, 100).toCompletableFuture().isCompletedExceptionally();
    }

    @Test
    void sendOfALoopThatWasShutDownHasAnEnd() throws Exception {
        var loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            cluster.directory = peer -> null;
            OobNode node = cluster.add(0, 2, setup -> setup.loops(loops).peerTimeout(Duration.ofMinutes(10)));
            Send send = cluster.send(0, 1, 1, 100);
            Cluster.await("queued", () -> node.stats().stream().anyMatch(peer -> peer.queuedMessages() == 1));
            loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).await();
            close(node, Duration.ZERO);
            assertInstanceOf(PeerFailedException.class, failure(send));
            assertEquals("node is closed: rank=0", failure(node.suspend()).getMessage());
        }
    }

    @FunctionalInterface
    private interface Call {
        void on(OobNode node) throws Exception;
    }

    /// Netty loses a task that comes in while its loop ends.
    private static void lost(Call call) throws Exception {
        var loops = new LosingLoops();
        try (Nodes nodes = new Nodes()) {
            Cluster cluster = nodes.cluster;
            OobNode node = cluster.add(0, 2, setup -> setup.loops(loops));
            CompletableFuture<Void> called = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                loops.loseNext();
                try {
                    call.on(node);
                    called.complete(null);
                } catch (Throwable failure) {
                    called.completeExceptionally(failure);
                }
            });
            loops.awaitTask();
            loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            get(called);
            caller.join();
        }
    }

    @Test
    void suspensionThatIsLostHasAnEnd() throws Exception {
        lost(node ->
                assertEquals("node is closed: rank=0", failure(node.suspend()).getMessage()));
    }

    @Test
    void closeThatIsLostHasAnEnd() throws Exception {
        lost(OobNode::close);
    }

    @Test
    void liveCutThatIsLostHasAnEnd() throws Exception {
        lost(node -> assertTrue(
                failure(node.liveCut(Duration.ofMinutes(1)).over()).getMessage().contains("node is closed")));
    }

    @Test
    void statsThatAreLostHaveAnEnd() throws Exception {
        lost(node -> assertEquals(List.of(), node.stats()));
    }

    @Test
    void sendThatIsLostHasAnEnd() throws Exception {
        lost(node -> {
            try (SealedBuffer message = SealedBuffer.adopt(Arena.ofAuto().allocate(10), () -> {})) {
                assertInstanceOf(PeerFailedException.class, failure(node.send(1, 1, message)));
            }
        });
    }

    /// A task of another library holds up the one thread on which Netty tells of the ends of loops.
    private static void heldUp(Closing call) throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try {
            GlobalEventExecutor.INSTANCE.execute(() -> {
                try {
                    over.await();
                } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                }
            });
            call.run();
        } finally {
            over.countDown();
        }
    }

    @FunctionalInterface
    private interface Closing {
        void run() throws Exception;
    }

    @Test
    void closeWaitsForNoThreadOfTheProcess() throws Exception {
        try (Nodes nodes = new Nodes()) {
            OobNode node = nodes.cluster.add(0, 2, setup -> setup);
            heldUp(() -> close(node, Duration.ZERO));
            assertTrue(node.loop().eventLoop().isTerminated());
        }
    }

    @Test
    void closeOfALoopThatWasShutDownWaitsForNoThreadOfTheProcess() throws Exception {
        var loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (Nodes nodes = new Nodes()) {
            OobNode node = nodes.cluster.add(0, 2, setup -> setup.loops(loops));
            loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).await();
            heldUp(() -> close(node, Duration.ZERO));
        }
    }

    @Test
    void sendThatIsLostWaitsForNoThreadOfTheProcess() throws Exception {
        heldUp(this::sendThatIsLostHasAnEnd);
    }

    @Test
    void closeThatHadNoMemoryIsBegunAgain() throws Exception {
        try (Nodes nodes = new Nodes()) {
            OobNode node = nodes.cluster.add(0, 2, setup -> setup);
            // a duration that nothing can be done with, in place of a heap that is full
            assertThrows(NullPointerException.class, () -> node.close(null));
            close(node, Duration.ZERO);
        }
    }
}
