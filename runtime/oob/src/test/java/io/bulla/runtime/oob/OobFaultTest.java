// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.FaultySource;
import io.bulla.testkit.FaultyTrace;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Sends and broadcasts while what the nodes call fails, on any of their threads: receive handlers, completions,
/// listeners, policies, directories, routing, the release of a user's memory; and what a node is built with: its
/// memory, the listener of its handles, its security.
///
/// What fails there is the user's, and costs nothing but the call itself, or a connection: the messages arrive all
/// the same, once.
@Tag("faults")
@Timeout(600)
class OobFaultTest {

    private static final int TAG = 7;
    private static final int[] BYTES = {20, 3000, 0, 100};
    private static final Security PLAIN = Security.plaintext();
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        FaultRun run = new FaultRun("oob").on(Memory.ARENA);
        quiet(() -> operations(run));
        FaultReport report = run.report().print();
        report.check();
    }

    private static void operations(FaultRun run) {
        run.operation("OobNode.send", world(World::send));
        run.operation("OobNode.send to the node itself", world(World::sendToItself));
        run.operation("OobNode.trySend, room", world(World::trySend));
        run.operation("OobNode.receiveOnce, peek", world(World::receiveOnce));
        run.operation("OobNode.receive of kept messages", world(World::receiveKept));
        run.operation("OobNode.lost", world(World::lose));
        run.operation("OobNode.broadcast", List.of(broadcast(true), broadcast(false)));
        run.operation("OobNode.send, what the node is built with fails", List.of(fragile(2, World::send)));
        run.operation("OobNode.broadcast, what the node is built with fails", List.of(fragile(3, World::broadcast)));
    }

    /// Each failure is logged, with its stack.
    private static void quiet(Runnable work) {
        Logger log = Logger.getLogger(OobNode.class.getName());
        log.setUseParentHandlers(false);
        try {
            work.run();
        } finally {
            log.setUseParentHandlers(true);
        }
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    private static Operation world(Use use) {
        return world(use, 2, true);
    }

    private static Operation broadcast(boolean shared) {
        return world(World::broadcast, 3, shared);
    }

    private static Operation world(Use use, int nodes, boolean shared) {
        return world(use, nodes, shared, false);
    }

    /// Nodes whose memory, with its listener, and whose security fail.
    private static Operation fragile(int nodes, Use use) {
        return world(use, nodes, true, true);
    }

    private static Operation world(Use use, int nodes, boolean shared, boolean fragile) {
        return scene -> {
            scene.points().everyThread();
            scene.mayTake(256 << 20);
            return () -> {
                try (World world = new World(scene, nodes, shared, fragile)) {
                    return use.on(world);
                }
            };
        };
    }

    /// Nodes of one step; their memory and security do not fail where they are not fragile.
    private static final class World implements AutoCloseable {

        private final FaultPoints points;
        private final List<SealedBuffer> messages = new ArrayList<>();
        // what stays open where a call fails is for the fault run to judge
        private final Cluster cluster = new Cluster(1000);
        private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

        World(FaultScene scene, int nodes, boolean shared, boolean fragile) throws IOException {
            this.points = scene.points();
            Routing routing = shared ? new Radix(1) : new FaultDoubles.Shape(points, new Radix(1));
            try {
                for (int bytes : BYTES) {
                    messages.add(message(scene, bytes));
                }
                cluster.directory = new FaultDoubles.Directory(points, cluster::address);
                cluster.start(nodes, setup -> {
                    setup.peerTimeout(PATIENCE).routing(routing).onPeerLost((peer, cause) -> {
                        cluster.lost.add(peer + " " + cause.getMessage());
                        points.reach("onPeerLost");
                    });
                    if (fragile) {
                        setup.memory(new FaultySource(points, cluster.source, new FaultyTrace(points, cluster.handles)))
                                .security(new FaultDoubles.Protection(points, PLAIN, null));
                    }
                    return shared ? setup : setup.sends(new FaultDoubles.Policy(points));
                });
            } catch (Throwable failure) {
                close();
                throw failure;
            }
        }

        /// The longest one is memory of the user's own, which is told when it is released.
        private SealedBuffer message(FaultScene scene, int bytes) {
            byte[] content = FaultScene.bytes(bytes, 1);
            if (bytes == BYTES[1]) {
                MemorySegment memory = Arena.ofAuto().allocate(bytes);
                MemorySegment.copy(content, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes);
                return SealedBuffer.adopt(memory, scene.onRelease());
            }
            try (BufferBuilder builder = BufferBuilder.ofCapacity(cluster.source, Math.max(1, bytes))) {
                return builder.put(content).seal();
            }
        }

        private void receive(int node) {
            cluster.node(node).receive(TAG, message -> {
                got.add(node + ":" + message.origin() + ":" + number(message.buffer()));
                points.reach("MessageHandler.received");
            });
        }

        private Object send() throws Exception {
            receive(1);
            return sendAll(0, 1);
        }

        private Object sendToItself() throws Exception {
            receive(0);
            return sendAll(0, 0);
        }

        private Object sendAll(int from, int to) throws Exception {
            List<CompletionStage<?>> sends = new ArrayList<>();
            for (SealedBuffer message : messages) {
                sends.add(cluster.node(from).send(to, TAG, message));
            }
            return outcome(sends, 1);
        }

        private Object trySend() throws Exception {
            receive(1);
            List<CompletionStage<?>> sends = new ArrayList<>();
            for (SealedBuffer message : messages) {
                Optional<Send> send = cluster.node(0).trySend(1, TAG, message, SendOptions.DEFAULT);
                sends.add(send.orElseThrow());
                get(cluster.node(0).room(1));
            }
            return outcome(sends, 1);
        }

        private Object receiveOnce() throws Exception {
            List<CompletableFuture<Message>> once = new ArrayList<>();
            for (int i = 0; i < messages.size(); i++) {
                CompletionStage<Message> one = cluster.node(1).receiveOnce(TAG);
                one.thenAccept(message -> points.reach("receiveOnce, dependent"));
                once.add(one.toCompletableFuture());
            }
            List<CompletionStage<?>> sends = new ArrayList<>();
            for (SealedBuffer message : messages) {
                sends.add(cluster.node(0).send(1, TAG, message));
            }
            for (CompletableFuture<Message> one : once) {
                Message message = (Message) get(one);
                try (SealedBuffer mine = message.buffer()) {
                    got.add("1:" + message.origin() + ":" + number(mine));
                }
            }
            expect(cluster.node(1).peek(TAG).isEmpty(), "a message is there twice");
            return outcome(sends, 1);
        }

        private Object receiveKept() throws Exception {
            List<CompletionStage<?>> sends = new ArrayList<>();
            for (SealedBuffer message : messages) {
                sends.add(cluster.node(0).send(1, TAG, message));
            }
            for (CompletionStage<?> send : sends) {
                get(send);
            }
            receive(1);
            return outcome(sends, 1);
        }

        /// The node goes on: what is sent behind the loss arrives, if need be at the second try, for hellos of the
        /// session that is over may still be on their way.
        private Object lose() throws Exception {
            receive(1);
            get(cluster.node(0).send(1, TAG, messages.getFirst()));
            expect("1:0:0".equals(got.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)), "the first message is missing");
            cluster.node(0).lost(1, "told so");
            String said = cluster.lost.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            expect(said != null && said.contains("told so"), "the listener is not told: " + said);
            int tries = 0;
            while (!isDelivered(messages.getLast())) {
                expect(++tries < 100, "no send behind the loss arrives");
            }
            String next = got.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            expect(("1:0:" + (messages.size() - 1)).equals(next), "the message behind the loss is missing: " + next);
            return "lost";
        }

        private boolean isDelivered(SealedBuffer message) throws Exception {
            try {
                get(cluster.node(0).send(1, TAG, message));
                return true;
            } catch (ExecutionException failed) {
                expect(
                        failed.getCause() instanceof PeerFailedException,
                        "a send fails of itself: " + failed.getCause());
                return false;
            }
        }

        private Object broadcast() throws Exception {
            for (int node = 1; node < cluster.nodes.size(); node++) {
                receive(node);
            }
            List<CompletionStage<?>> sends = new ArrayList<>();
            for (SealedBuffer message : messages) {
                sends.add(cluster.node(0).broadcast(TAG, message));
            }
            return outcome(sends, cluster.nodes.size() - 1);
        }

        /// Every send completes once; what succeeded was handled by all, in order, once.
        private Object outcome(List<CompletionStage<?>> sends, int receivers) throws Exception {
            BlockingQueue<String> told = new LinkedBlockingQueue<>();
            for (CompletionStage<?> send : sends) {
                send.whenComplete((result, failure) -> {
                    told.add(String.valueOf(failure == null));
                    points.reach("completion");
                });
            }
            Exception first = null;
            int wanted = 0;
            for (int i = 0; i < sends.size(); i++) {
                try {
                    Object result = get(sends.get(i));
                    wanted += result instanceof BroadcastResult broadcast ? broadcast.reached() : 1;
                    if (result instanceof BroadcastResult broadcast) {
                        expect(
                                broadcast.reached() + broadcast.failed().size() == receivers
                                        && (broadcast.failed().isEmpty() || points.failed() != null),
                                "reached others: " + broadcast);
                    }
                } catch (ExecutionException failed) {
                    expect(FaultPoints.isInjected(failed), "a send fails of itself: " + failed.getCause());
                    first = failed;
                }
            }
            List<String> handled = new ArrayList<>();
            while (handled.size() < wanted) {
                String one = got.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                expect(one != null, "messages are missing: wanted=" + wanted + " handled=" + handled);
                handled.add(one);
            }
            for (int i = 0; i < sends.size(); i++) {
                expect(told.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS) != null, "a completion is missing");
            }
            checkOrder(handled, receivers);
            if (first != null) {
                throw first;
            }
            expect(wanted == sends.size() * receivers || points.failed() != null, "reached too few: " + wanted);
            return wanted == sends.size() * receivers ? "all" : refused();
        }

        private static Object refused() {
            throw new UnsupportedOperationException("a node was not reached, and the result says so");
        }

        private static void checkOrder(List<String> handled, int receivers) {
            int[] last = new int[receivers + 1];
            Arrays.fill(last, -1);
            for (String one : handled) {
                String[] parts = one.split(":");
                int number = Integer.parseInt(parts[2]);
                int node = Integer.parseInt(parts[0]);
                expect(number > last[node], "again, or out of order: " + handled);
                last[node] = number;
            }
        }

        private static Object get(CompletionStage<?> stage) throws Exception {
            try {
                return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException never) {
                throw new AssertionError("never completes", never);
            }
        }

        @Override
        public void close() {
            Throwable release = null;
            for (SealedBuffer message : messages) {
                try {
                    message.close();
                } catch (RuntimeException | Error failure) {
                    release = failure;
                }
            }
            cluster.close();
            if (release instanceof Error error) {
                throw error;
            } else if (release != null) {
                throw (RuntimeException) release;
            }
        }
    }

    /// Which of the messages it is.
    private static int number(SealedBuffer buffer) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < buffer.iovec().regionCount(); i++) {
            all.writeBytes(buffer.iovec().region(i).toArray(ValueLayout.JAVA_BYTE));
        }
        for (int i = 0; i < BYTES.length; i++) {
            if (Arrays.equals(all.toByteArray(), FaultScene.bytes(BYTES[i], 1))) {
                return i;
            }
        }
        throw new AssertionError("bytes that were not sent: bytes=" + all.size());
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
