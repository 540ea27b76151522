// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.fixture.HostMemory;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.OriginSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.FaultySource;
import io.bulla.testkit.FaultyTrace;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;

/// Nodes of one step of a fault run, what may be called back into node 0, and the look that nothing is lost: each
/// send completes once, each message is handled at most once, and the nodes go on, or say why not.
final class FaultWorld implements AutoCloseable {

    /// What fails, beside handlers and completions.
    enum Kind {
        /// Nothing else.
        HANDLED,
        /// The node's memory, with its listener; the protection; the directory.
        FRAGILE,
        /// Routing and policy.
        SHAPED,
        /// Routing without parents, and the signatures of broadcasts.
        SIGNED,
        /// The memory that is lent to another process of the host.
        LOCAL,
        /// The device for long messages.
        BULK
    }

    static final int TAG = 7;
    static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int PING = 8;
    private static final int CALLED = 9;
    private static final int LONG = 20_000;

    final Cluster cluster = new Cluster(2000);
    final BlockingQueue<Integer> handled = new LinkedBlockingQueue<>();
    final FaultPoints points;
    private final FaultScene scene;
    private final Kind kind;
    private final int nodes;
    private final List<SealedBuffer> messages = new ArrayList<>();
    private final HostMemory host = new HostMemory(1000);
    private final MemoryBulk.Net net = new MemoryBulk.Net();
    private final AtomicInteger refusals = new AtomicInteger();
    // what was called back from any thread, and how often each of it was told
    private final Queue<CompletionStage<?>> called = new ConcurrentLinkedQueue<>();
    private final Queue<Send> sends = new ConcurrentLinkedQueue<>();
    private final AtomicIntegerArray most = new AtomicIntegerArray(2);
    private final AtomicIntegerArray times = new AtomicIntegerArray(2);
    private final AtomicInteger told = new AtomicInteger();
    private final AtomicInteger begun = new AtomicInteger();
    // volatile: written by whatever thread calls back; why what is asked of node 0 may be over
    private volatile String over;
    private volatile boolean closed;
    private volatile boolean suspends;

    FaultWorld(FaultScene scene, Kind kind, int nodes) throws IOException {
        this.scene = scene;
        this.points = scene.points();
        this.kind = kind;
        this.nodes = nodes;
        boolean whole = false;
        try {
            for (int bytes : lengths()) {
                messages.add(message(bytes, messages.size()));
            }
            cluster.start(nodes, this::setUp);
            for (int rank = 0; rank < nodes; rank++) {
                cluster.node(rank).receive(TAG, this::handle);
            }
            whole = true;
        } finally {
            if (!whole) {
                points.disarm();
                end();
            }
        }
    }

    private int[] lengths() {
        return switch (kind) {
            case LOCAL, BULK -> new int[] {LONG, 20};
            // of several fragments
            case FRAGILE -> new int[] {20, 10_000};
            case HANDLED, SHAPED, SIGNED -> new int[] {20, 3000};
        };
    }

    /// The first one is memory of the user's own, whose release may fail.
    private SealedBuffer message(int bytes, int number) {
        if (number == 0 && kind == Kind.HANDLED) {
            MemorySegment memory = Arena.ofAuto().allocate(bytes);
            memory.setAtIndex(ValueLayout.JAVA_BYTE, 0, (byte) number);
            return SealedBuffer.adopt(memory, scene.onRelease());
        }
        byte[] content = new byte[bytes];
        content[0] = (byte) number;
        try (BufferBuilder builder = BufferBuilder.ofCapacity(cluster.source, bytes)) {
            return builder.put(content).seal();
        }
    }

    private OobNodeBuilder setUp(OobNodeBuilder setup) {
        setup.peerTimeout(PATIENCE).routing(new Radix(1)).fragment(4096).onPeerLost((peer, cause) -> {
            cluster.lost.add(peer + " " + cause.getMessage());
            points.reach("onPeerLost");
        });
        switch (kind) {
            case HANDLED -> {}
            case FRAGILE -> setup.memory(memory()).security(protection(null)).directory(directory());
            case SHAPED ->
                setup.routing(new FaultDoubles.Shape(points, new Radix(1))).sends(new FaultDoubles.Policy(points));
            case SIGNED ->
                setup.memory(memory())
                        .routing(new FaultDoubles.Children(points, new Radix(1)))
                        .security(protection(new FaultDoubles.Signatures(points)))
                        .signatures(BroadcastSignatures.SIGN);
            case LOCAL -> setup.localMemory(new FaultDoubles.Neighbours(points, host.member()));
            case BULK -> setup.bulk(new FaultDoubles.Device(points, new MemoryBulk(net, cluster.source)), LONG / 2);
        }
        return setup;
    }

    private FaultDoubles.Limited memory() {
        return new FaultDoubles.Limited(
                new FaultySource(points, cluster.source, new FaultyTrace(points, cluster.handles)), refusals);
    }

    private FaultDoubles.Protection protection(OriginSignatures signatures) {
        return new FaultDoubles.Protection(points, Security.plaintext(), signatures);
    }

    FaultDoubles.Directory directory() {
        return new FaultDoubles.Directory(points, peer -> cluster.directory.addressOf(peer));
    }

    /// A message is sent to so many: no more of it are handled.
    void sends(int number, int receivers) {
        most.addAndGet(number, receivers);
    }

    private void handle(Message message) {
        int number = message.buffer().iovec().get(ValueLayout.JAVA_BYTE, 0) & 0xff;
        try {
            points.reach("MessageHandler.received");
        } finally {
            times.incrementAndGet(number);
            handled.add(number);
        }
    }

    OobNode node(int rank) {
        return cluster.node(rank);
    }

    SealedBuffer message(int number) {
        return messages.get(number);
    }

    int messages() {
        return messages.size();
    }

    /// A listener of a stage or a call; what it is told counts.
    void reach(String point) {
        points.reach(point);
    }

    /// From node 0 to node 1, so that they are connected.
    FaultWorld met() throws Exception {
        answers();
        return this;
    }

    // what a foreign call calls back

    /// All of it of node 0; from whatever thread makes the foreign call.
    static void callBacks(FaultScene scene, Supplier<FaultWorld> of) {
        back(scene, of, "node.send", FaultWorld::sendMore);
        back(scene, of, "node.receive", FaultWorld::receiveMore);
        back(scene, of, "node.cut", world -> {
            world.begun(world.node(0).cut(() -> {}).thenAccept(NodeCut::close));
            world.node(0).liveCut(Duration.ofSeconds(1)).end();
        });
        back(scene, of, "node.suspend", world -> {
            if (world.suspends) {
                world.over = "it was resumed already";
            }
            world.begun(world.node(0).suspend());
            world.begun(world.node(0).resume(world.node(0).address()));
        });
        back(scene, of, "sends.cancel", world -> {
            world.over = "a send was cancelled";
            world.sends.forEach(Send::cancel);
        });
        back(scene, of, "node.lost", world -> {
            world.over = "the peer was given up";
            world.node(0).lost(world.last(), "called back");
        });
        back(scene, of, "memory.limit", world -> world.refusals.set(2));
        back(scene, of, "thread.interrupt", world -> {
            world.over = "a thread was interrupted";
            Thread.currentThread().interrupt();
        });
        back(scene, of, "node.close", world -> {
            world.closes();
            world.node(0).close();
        });
    }

    @FunctionalInterface
    private interface Back {
        void on(FaultWorld world);
    }

    private static void back(FaultScene scene, Supplier<FaultWorld> of, String name, Back back) {
        scene.callBack(name, () -> {
            FaultWorld world = of.get();
            // else it is a call of a node that is not there yet
            if (world != null && !world.cluster.nodes.isEmpty()) {
                back.on(world);
            }
        });
    }

    private void sendMore() {
        OobNode node = node(0);
        SealedBuffer bytes = messages.getLast();
        for (int peer = 0; peer <= last(); peer++) {
            begun(node.send(peer, CALLED, bytes));
            node.trySend(peer, CALLED, bytes, SendOptions.DEFAULT).ifPresent(this::begun);
        }
        begun(node.broadcast(CALLED, bytes));
        begun(node.room(last()));
        if (nodes > 1) {
            node.notice(1, 1, new byte[1]);
        }
    }

    private void receiveMore() {
        OobNode node = node(0);
        node.receiveOnce(CALLED).thenAccept(message -> message.buffer().close());
        begun(node.send(0, CALLED, messages.getLast()));
        node.peek(CALLED).ifPresent(message -> message.buffer().close());
        node.receive(CALLED, message -> {});
        node.stopReceiving(CALLED);
        node.stats();
    }

    /// Of what was called back: it has to end.
    private void begun(CompletionStage<?> stage) {
        called.add(stage);
    }

    // what is looked at

    /// A send of the operation's own.
    <T extends CompletionStage<?>> T watch(T stage) {
        begun.incrementAndGet();
        if (stage instanceof Send send) {
            sends.add(send);
        }
        stage.whenComplete((result, failure) -> {
            try {
                points.reach("completion");
            } finally {
                told.incrementAndGet();
            }
        });
        return stage;
    }

    /// What a stage completes with; its failure, if that is of the call that fails, or of what was called back.
    Object get(CompletionStage<?> stage) throws Exception {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return stage.toCompletableFuture().get(PATIENCE.toSeconds() * 2, TimeUnit.SECONDS);
                } catch (InterruptedException calledBack) {
                    interrupted = true;
                }
            }
        } catch (TimeoutException never) {
            throw new AssertionError("never completes" + NodeState.of(cluster.nodes), never);
        } catch (ExecutionException | CancellationException failed) {
            throw failure(failed);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Exception failure(Throwable failed) {
        Throwable cause = failed instanceof ExecutionException || failed instanceof CompletionException
                ? failed.getCause()
                : failed;
        if (FaultPoints.isInjected(cause)) {
            return cause instanceof Exception exception ? exception : new ExecutionException(cause);
        }
        if (over != null) {
            return new IllegalStateException("is over: " + over, cause);
        }
        if (said(cause)) {
            return new UnsupportedOperationException("refused, and it says why", cause);
        }
        throw new AssertionError("fails of itself: " + cause, cause);
    }

    /// A peer that was refused by the call that fails says so in words; and a cut, that what was called back has
    /// begun a broadcast.
    private boolean said(Throwable failure) {
        String words = String.valueOf(failure.getMessage());
        return words.contains("injected:") || isDisturbed() && words.contains("broadcasts are on their way");
    }

    private int last() {
        return Math.min(1, nodes - 1);
    }

    /// Runs an operation; behind it no foreign call that it has begun is still being made.
    Object run(Callable<Object> operation) throws Exception {
        try {
            return operation.call();
        } catch (InterruptedException calledBack) {
            throw new IllegalStateException("is over: " + over, calledBack);
        } finally {
            points.disarm();
            settle();
            // called back to the thread of the test
            Thread.interrupted();
        }
    }

    private void settle() {
        for (OobNode node : cluster.nodes) {
            CompletableFuture<Void> passed = new CompletableFuture<>();
            try {
                node.loop()
                        .eventLoop()
                        .execute(() -> node.loop().handlerExecutor().put(new HandlerExecutor.Item() {
                            @Override
                            public void run() {
                                passed.complete(null);
                            }

                            @Override
                            public void drop() {
                                passed.complete(null);
                            }
                        }));
                passed.join();
            } catch (RejectedExecutionException closed) {
                // its threads have ended
            }
        }
    }

    boolean isOver() {
        return over != null;
    }

    /// Whether a call failed, or called back.
    boolean isDisturbed() {
        return points.failed() != null;
    }

    /// Messages that handlers got, in order of their numbers; none twice.
    void expectHandled(int count) throws Exception {
        List<Integer> got = new ArrayList<>();
        while (got.size() < count) {
            Integer one = handled.poll(over == null ? PATIENCE.toSeconds() : 0, TimeUnit.SECONDS);
            if (one == null) {
                expect(over != null, "messages are missing: wanted=" + count + " handled=" + got);
                return;
            }
            got.add(one);
        }
    }

    /// Node 0 serves, whatever happened to it before: a send is delivered, at the latest in the session after the
    /// one that was given up.
    private void answers() throws Exception {
        for (int tries = 0; tries < 50; tries++) {
            int to = nodes > 1 ? 1 : 0;
            CompletionStage<Message> got = node(to).receiveOnce(PING);
            try {
                node(0).send(to, PING, messages.getLast()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                try (SealedBuffer bytes = got.toCompletableFuture()
                        .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                        .buffer()) {
                    expect(bytes.byteSize() == messages.getLast().byteSize(), "other bytes");
                }
                return;
            } catch (ExecutionException failed) {
                // it may have come all the same
                got.thenAccept(message -> message.buffer().close());
                got.toCompletableFuture().cancel(false);
                expect(failed.getCause() instanceof PeerFailedException, "it fails of itself: " + failed.getCause());
            } catch (TimeoutException never) {
                throw new AssertionError(
                        "the node does not answer: " + node(0).stats() + NodeState.of(cluster.nodes), never);
            }
        }
        throw new AssertionError("no send arrives any more");
    }

    private void saysWhy() throws Exception {
        try {
            node(0).send(nodes - 1, PING, messages.getLast()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("a closed node sends");
        } catch (ExecutionException failed) {
            expect(
                    failed.getCause() instanceof PeerFailedException
                            && failed.getCause().getMessage().contains("this node is closed"),
                    "a closed node says something else: " + failed.getCause());
        }
    }

    /// The operation suspends node 0.
    void suspends() {
        suspends = true;
    }

    /// The operation closes node 0.
    void closes() {
        over = "node 0 was closed";
        closed = true;
    }

    /// No call fails any more.
    @Override
    public void close() {
        try {
            look();
        } catch (Exception failure) {
            throw new IllegalStateException("nodes are not in order", failure);
        }
    }

    private void look() throws Exception {
        points.disarm();
        // called back to the thread of the test
        Thread.interrupted();
        refusals.set(0);
        try {
            for (CompletionStage<?> stage : called) {
                ended(stage);
            }
            if (closed) {
                saysWhy();
            } else {
                answers();
            }
        } finally {
            end();
        }
        expect(told.get() == begun.get(), "completions: wanted=" + begun + " told=" + told);
        for (int number = 0; number < most.length(); number++) {
            expect(times.get(number) <= most.get(number), "handled again: most=" + most + " times=" + times);
        }
        expect(host.leases() == 0, "leases=" + host.leases());
        expect(net.isEmpty(), "memory of a device is still granted");
    }

    /// Somehow.
    private void ended(CompletionStage<?> stage) throws Exception {
        try {
            stage.toCompletableFuture().get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | CancellationException failed) {
            // it says why
        } catch (TimeoutException never) {
            throw new AssertionError("what was called back never completes" + NodeState.of(cluster.nodes), never);
        }
    }

    private void end() {
        for (SealedBuffer message : messages) {
            message.close();
        }
        cluster.close();
    }

    static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
