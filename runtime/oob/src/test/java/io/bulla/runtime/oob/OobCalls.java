// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static io.bulla.runtime.oob.FaultWorld.TAG;
import static io.bulla.runtime.oob.FaultWorld.expect;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.FaultWorld.Kind;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// How the operations of a running node are called: by two or three nodes, of which one calls what may fail or call
/// back, on any of its threads.
final class OobCalls {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final String SEND = "OobNode.send(int, int, SealedBuffer)";
    private static final String BROADCAST = "OobNode.broadcast(int, SealedBuffer)";
    private static final int NOTICE = 2;

    private OobCalls() {}

    @FunctionalInterface
    private interface Use {
        Object on(FaultWorld world) throws Exception;
    }

    @FunctionalInterface
    private interface Each {
        Object of(SealedBuffer message) throws Exception;
    }

    static void addTo(FaultCatalogue all) {
        figures(all);
        sends(all);
        broadcasts(all);
        receivers(all);
        peers(all);
        cuts(all);
        lives(all);
    }

    private static Operation warm(Kind kind, int nodes, Use use) {
        return scene -> {
            begin(scene);
            FaultWorld world = scene.own(new FaultWorld(scene, kind, nodes).met());
            FaultWorld.callBacks(scene, () -> world);
            return () -> world.run(() -> use.on(world));
        };
    }

    /// With the start of the nodes, and their first words.
    private static Operation cold(Kind kind, int nodes, Use use) {
        return scene -> {
            begin(scene);
            FaultWorld[] last = new FaultWorld[1];
            FaultWorld.callBacks(scene, () -> last[0]);
            return () -> {
                last[0] = null;
                try (FaultWorld world = new FaultWorld(scene, kind, nodes)) {
                    last[0] = world;
                    return world.run(() -> use.on(world));
                }
            };
        };
    }

    private static void begin(FaultScene scene) {
        scene.points().everyThread();
        scene.mayTake(256 << 20);
    }

    private static void figures(FaultCatalogue all) {
        for (String figure : List.of(
                "rank()",
                "size()",
                "address()",
                "stats()",
                "broadcastSends()",
                "lentBytes()",
                "refusedBroadcasts()",
                "refusedConnections()",
                "socketBytes()",
                "unclaimedBytes()")) {
            all.around(
                    "OobNode." + figure,
                    asked -> warm(Kind.HANDLED, 2, world -> {
                        Object answer = asked.on(world.node(0));
                        return answer instanceof List<?> peers
                                ? peers.size()
                                : answer.getClass().getName();
                    }));
        }
    }

    private static void sends(FaultCatalogue all) {
        for (Kind kind : List.of(Kind.HANDLED, Kind.FRAGILE)) {
            all.around(SEND, send -> warm(kind, 2, world -> sent(world, send, 1)));
        }
        for (Kind kind : List.of(Kind.FRAGILE, Kind.LOCAL, Kind.BULK)) {
            all.around(SEND, send -> cold(kind, 2, world -> sent(world, send, 1)));
        }
        all.around(SEND, send -> warm(Kind.FRAGILE, 1, world -> sent(world, send, 0)));
        all.around(
                "OobNode.send(int, int, SealedBuffer, SendOptions)",
                send -> warm(
                        Kind.HANDLED,
                        2,
                        world -> all(
                                world,
                                1,
                                message -> send.on(
                                        world.node(0),
                                        1,
                                        TAG,
                                        message,
                                        SendOptions.DEFAULT.within(MINUTE).written()))));
        all.around(
                "OobNode.send(int, int, WireFormat, SealedBuffer)",
                send -> warm(
                        Kind.HANDLED,
                        2,
                        world -> all(world, 1, message -> send.on(world.node(0), 1, TAG, WireFormat.PMIX_4, message))));
        all.around(
                "OobNode.trySend(int, int, SealedBuffer, SendOptions)",
                send -> warm(
                        Kind.FRAGILE,
                        2,
                        world -> all(
                                world,
                                1,
                                message -> ((Optional<?>) send.on(world.node(0), 1, TAG, message, SendOptions.DEFAULT))
                                        .orElseThrow())));
        all.around(
                "OobNode.sendBlocking(int, int, SealedBuffer, SendOptions)",
                send -> warm(
                        Kind.FRAGILE,
                        2,
                        world -> all(world, 1, message -> {
                            try {
                                return send.on(world.node(0), 1, TAG, message, SendOptions.DEFAULT.within(MINUTE));
                            } catch (InterruptedException calledBack) {
                                throw new IllegalStateException("wait is over", calledBack);
                            }
                        })));
        all.around(
                "OobNode.room(int)",
                room -> warm(
                        Kind.HANDLED,
                        2,
                        world -> world.get(world.watch((CompletionStage<?>) room.on(world.node(0), 1)))));
        all.around(
                "Send.cancel()",
                cancel -> warm(Kind.FRAGILE, 2, world -> {
                    world.sends(1, 1);
                    Send send = world.watch(world.node(0).send(1, TAG, world.message(1)));
                    boolean cancelled = (boolean) cancel.on(send);
                    if (!cancelled) {
                        world.get(send);
                    }
                    world.handled.clear();
                    throw new UnsupportedOperationException("cancelled, or not any more");
                }));
    }

    private static Object sent(FaultWorld world, Member send, int to) throws Exception {
        return all(world, 1, message -> send.on(world.node(0), to, TAG, message));
    }

    private static void broadcasts(FaultCatalogue all) {
        for (Kind kind : List.of(Kind.HANDLED, Kind.SHAPED, Kind.SIGNED)) {
            all.around(BROADCAST, broadcast -> warm(kind, 3, world -> broadcast(world, broadcast)));
        }
        all.around(BROADCAST, broadcast -> cold(Kind.FRAGILE, 3, world -> broadcast(world, broadcast)));
        all.around(
                "OobNode.broadcast(int, WireFormat, SealedBuffer)",
                broadcast -> warm(
                        Kind.HANDLED,
                        2,
                        world -> all(
                                world, 1, message -> broadcast.on(world.node(0), TAG, WireFormat.PMIX_4, message))));
    }

    private static Object broadcast(FaultWorld world, Member broadcast) throws Exception {
        return all(world, 2, message -> broadcast.on(world.node(0), TAG, message));
    }

    /// Each message, by sends that complete once each; what is delivered was handled.
    private static Object all(FaultWorld world, int receivers, Each each) throws Exception {
        List<CompletionStage<?>> stages = new ArrayList<>();
        Throwable first = null;
        for (int i = 0; i < world.messages() && first == null; i++) {
            try {
                world.sends(i, receivers);
                stages.add(world.watch((CompletionStage<?>) each.of(world.message(i))));
            } catch (Exception | Error failure) {
                first = failure;
            }
        }
        int wanted = 0;
        for (CompletionStage<?> stage : stages) {
            try {
                Object result = world.get(stage);
                wanted += result instanceof BroadcastResult broadcast ? reached(broadcast, receivers) : 1;
            } catch (AssertionError broken) {
                throw broken;
            } catch (Exception | Error failure) {
                first = first == null ? failure : first;
            }
        }
        world.expectHandled(wanted);
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (Exception) first;
        }
        if (wanted < receivers * world.messages()) {
            expect(world.isDisturbed(), "reached too few: " + wanted);
            throw new UnsupportedOperationException("a node was not reached, and the result says so");
        }
        return "all";
    }

    private static int reached(BroadcastResult result, int receivers) {
        expect(result.reached() + result.failed().size() == receivers, "reached others: " + result);
        return result.reached();
    }

    private static void receivers(FaultCatalogue all) {
        all.around(
                "OobNode.receive(int, MessageHandler)",
                receive -> warm(Kind.FRAGILE, 2, world -> {
                    world.node(1).stopReceiving(TAG);
                    List<CompletionStage<?>> sends = new ArrayList<>();
                    for (int i = 0; i < world.messages(); i++) {
                        sends.add(world.watch(world.node(0).send(1, TAG, world.message(i))));
                    }
                    for (CompletionStage<?> send : sends) {
                        world.get(send);
                    }
                    receive.on(world.node(1), TAG, (MessageHandler) message -> {
                        world.handled.add(0);
                        world.reach("MessageHandler.received");
                    });
                    world.expectHandled(sends.size());
                    return "handled";
                }));
        all.around(
                "OobNode.stopReceiving(int)",
                stop -> warm(Kind.HANDLED, 2, world -> {
                    stop.on(world.node(0), TAG);
                    return "stopped";
                }));
        all.around(
                "OobNode.receiveOnce(int)",
                once -> warm(Kind.FRAGILE, 2, world -> {
                    CompletionStage<?> message = (CompletionStage<?>) once.on(world.node(1), TAG);
                    message.thenAccept(got -> world.reach("receiveOnce, dependent"));
                    boolean sent = false;
                    try {
                        world.sends(0, 1);
                        world.get(world.watch(world.node(0).send(1, TAG, world.message(0))));
                        sent = true;
                    } finally {
                        if (!sent) {
                            message.thenAccept(got -> ((Message) got).buffer().close());
                            message.toCompletableFuture().cancel(false);
                        }
                    }
                    try (SealedBuffer bytes = ((Message) world.get(message)).buffer()) {
                        return bytes.byteSize();
                    }
                }));
        all.around(
                "OobNode.peek(int)",
                peek -> warm(Kind.FRAGILE, 1, world -> {
                    world.node(0).stopReceiving(TAG);
                    world.get(world.watch(world.node(0).send(0, TAG, world.message(0))));
                    for (int tries = 0; tries < 10_000; tries++) {
                        Optional<?> found = (Optional<?>) peek.on(world.node(0), TAG);
                        if (found.isPresent()) {
                            ((Message) found.get()).buffer().close();
                            return "there";
                        }
                        if (world.isOver()) {
                            return "over";
                        }
                        Thread.sleep(1);
                    }
                    throw new AssertionError("the message is not kept");
                }));
        all.around(
                "OobNode.receiveNotices(Executor, NoticeReceiver)",
                receive -> warm(Kind.HANDLED, 2, world -> {
                    CountDownLatch heard = new CountDownLatch(1);
                    Executor executor = task -> {
                        world.reach("Executor.execute");
                        task.run();
                    };
                    NoticeReceiver receiver = (peer, topic, text) -> {
                        heard.countDown();
                        world.reach("NoticeReceiver.received");
                    };
                    receive.on(world.node(1), executor, receiver);
                    return noticed(world, heard, () -> world.node(0).notice(1, NOTICE, new byte[3]));
                }));
        all.around(
                "OobNode.notice(int, int, byte[])",
                notice -> warm(Kind.FRAGILE, 2, world -> {
                    CountDownLatch heard = new CountDownLatch(1);
                    world.node(1).receiveNotices(Runnable::run, (peer, topic, text) -> heard.countDown());
                    return noticed(world, heard, () -> notice.on(world.node(0), 1, NOTICE, new byte[3]));
                }));
    }

    @FunctionalInterface
    private interface Step {
        void run() throws Exception;
    }

    /// A notice may be lost; one of those that are said again is not.
    private static Object noticed(FaultWorld world, CountDownLatch heard, Step say) throws Exception {
        for (int tries = 0; tries < 2000; tries++) {
            say.run();
            boolean interrupted = false;
            try {
                if (heard.await(10, TimeUnit.MILLISECONDS)) {
                    return "heard";
                }
            } catch (InterruptedException calledBack) {
                interrupted = true;
            }
            if (interrupted || world.isOver()) {
                return "over";
            }
        }
        throw new AssertionError("no notice is heard");
    }

    private static void peers(FaultCatalogue all) {
        all.around(
                "OobNode.lost(int, String)",
                lost -> cold(Kind.FRAGILE, 2, world -> {
                    world.sends(0, 1);
                    world.get(world.node(0).send(1, TAG, world.message(0)));
                    lost.on(world.node(0), 1, "told so");
                    // the peer may have been given up for another reason, and this node by the peer
                    for (String said = ""; !said.contains("told so") && !world.isOver(); ) {
                        said = world.cluster.lost.poll(FaultWorld.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                        expect(said != null, "the listener is not told");
                    }
                    return "told";
                }));
        all.around(
                "OobNode.suspect(int, String)",
                suspect -> warm(Kind.FRAGILE, 2, world -> {
                    suspect.on(world.node(0), 1, "perhaps");
                    return all(world, 1, message -> world.node(0).send(1, TAG, message));
                }));
        all.around(
                "OobNode.suspend()",
                suspend -> warm(Kind.FRAGILE, 2, world -> {
                    world.suspends();
                    InetSocketAddress here = world.node(0).address();
                    world.get((CompletionStage<?>) suspend.on(world.node(0)));
                    return resumed(world, here, () -> world.node(0).resume(here));
                }));
        all.around(
                "OobNode.resume(InetSocketAddress)",
                resume -> warm(Kind.FRAGILE, 2, world -> {
                    world.suspends();
                    InetSocketAddress here = world.node(0).address();
                    world.get(world.node(0).suspend());
                    resumed(world, here, () -> resume.on(world.node(0), here));
                    return all(world, 1, message -> world.node(0).send(1, TAG, message));
                }));
    }

    /// One that fails leaves it suspended, and the next one resumes it.
    private static Object resumed(FaultWorld world, InetSocketAddress here, Asked resume) throws Exception {
        boolean resumed = false;
        try {
            world.get((CompletionStage<?>) resume.get());
            resumed = true;
        } finally {
            if (!resumed && !world.isOver()) {
                world.get(world.node(0).resume(here));
            }
        }
        return "resumed";
    }

    private static void cuts(FaultCatalogue all) {
        all.around(
                "OobNode.cut(Runnable)",
                cut -> warm(Kind.FRAGILE, 2, world -> {
                    world.node(0).stopReceiving(TAG);
                    world.get(world.watch(world.node(1).send(0, TAG, world.message(1))));
                    Runnable between = () -> world.reach("between");
                    try (NodeCut taken = (NodeCut) world.get((CompletionStage<?>) cut.on(world.node(0), between))) {
                        return taken.undelivered() > 0 ? "taken" : "empty";
                    }
                }));
        all.around(
                "OobNode.liveCut(Duration)",
                live -> warm(Kind.FRAGILE, 2, world -> {
                    LiveCut cut = (LiveCut) live.on(world.node(0), MINUTE);
                    return taken(
                            world, cut, cut::ready, () -> cut.take(() -> world.reach("between")), cut::end, cut::over);
                }));
        all.around(
                "LiveCut.ready()",
                ready -> live((world, cut) ->
                        taken(world, cut, () -> ready.on(cut), () -> cut.take(() -> {}), cut::end, cut::over)));
        all.around(
                "LiveCut.take(Runnable)",
                take -> live((world, cut) -> taken(
                        world,
                        cut,
                        cut::ready,
                        () -> take.on(cut, (Runnable) () -> world.reach("between")),
                        cut::end,
                        cut::over)));
        all.around(
                "LiveCut.end()",
                end -> live((world, cut) ->
                        taken(world, cut, cut::ready, () -> cut.take(() -> {}), () -> end.on(cut), cut::over)));
        all.around(
                "LiveCut.over()",
                over -> live((world, cut) ->
                        taken(world, cut, cut::ready, () -> cut.take(() -> {}), cut::end, () -> over.on(cut))));
    }

    @FunctionalInterface
    private interface OfCut {
        Object on(FaultWorld world, LiveCut cut) throws Exception;
    }

    @FunctionalInterface
    private interface Asked {
        Object get() throws Exception;
    }

    private static Operation live(OfCut use) {
        return warm(Kind.HANDLED, 2, world -> use.on(world, world.node(0).liveCut(MINUTE)));
    }

    /// What waited for the cut goes on behind it, whatever fails in it.
    private static Object taken(FaultWorld world, LiveCut cut, Asked ready, Asked take, Step end, Asked over)
            throws Exception {
        CompletionStage<?> waits = null;
        try {
            world.get((CompletionStage<?>) ready.get());
            world.sends(1, 1);
            waits = world.watch(world.node(0).broadcast(TAG, world.message(1)));
            ((NodeCut) world.get((CompletionStage<?>) take.get())).close();
        } finally {
            cut.end();
        }
        end.run();
        world.get((CompletionStage<?>) over.get());
        int reached = reached((BroadcastResult) world.get(waits), 1);
        world.expectHandled(reached);
        if (reached == 0) {
            throw new UnsupportedOperationException("a node was not reached, and the result says so");
        }
        return "taken";
    }

    private static void lives(FaultCatalogue all) {
        for (Kind kind : List.of(Kind.FRAGILE, Kind.SIGNED, Kind.LOCAL, Kind.BULK)) {
            all.around(
                    "OobNode.close()",
                    close -> cold(
                            kind,
                            2,
                            world -> closed(world, () -> {
                                close.on(world.node(0));
                            })));
        }
        all.around(
                "OobNode.close(Duration)",
                close -> cold(
                        Kind.HANDLED,
                        2,
                        world -> closed(world, () -> {
                            close.on(world.node(0), Duration.ofMillis(20));
                        })));
        all.around("OobNode.builder(int, int)", builder -> scene -> () -> builder.on(null, 0, 2));
        all.around("OobNode.builder()", builder -> scene -> () -> builder.on(null));
        all.around(
                "OobNodeBuilder.start()",
                start -> started(
                        (world, builder) -> {
                            try (OobNode node = (OobNode) start.on(builder)) {
                                return node.rank();
                            }
                        },
                        0));
        all.around(
                "OobNodeBuilder.bind()",
                bind -> started(
                        (world, builder) -> {
                            try (BoundNode bound = (BoundNode) bind.on(builder)) {
                                return bound.address().getAddress();
                            }
                        },
                        FaultBuilds.UNKNOWN));
        all.around(
                "BoundNode.start(int, int, PeerDirectory)",
                start -> started(
                        (world, builder) -> {
                            PeerDirectory directory = rank -> null;
                            try (BoundNode bound = builder.bind();
                                    OobNode node = (OobNode) start.on(bound, 0, 1, directory)) {
                                return node.rank();
                            }
                        },
                        FaultBuilds.UNKNOWN));
        all.around(
                "BoundNode.address()",
                address -> started(
                        (world, builder) -> {
                            try (BoundNode bound = builder.bind()) {
                                return ((InetSocketAddress) address.on(bound)).getAddress();
                            }
                        },
                        FaultBuilds.UNKNOWN));
        all.around(
                "BoundNode.close()",
                close -> started(
                        (world, builder) -> {
                            BoundNode bound = builder.bind();
                            close.on(bound);
                            return "closed";
                        },
                        FaultBuilds.UNKNOWN));
    }

    private static Operation started(FaultBuilds.Build build, int rank) {
        return FaultBuilds.operation(build, rank);
    }

    /// In the middle of sends, each of which completes all the same.
    private static Object closed(FaultWorld world, Step close) throws Exception {
        List<CompletionStage<?>> sends = new ArrayList<>();
        for (int i = 0; i < world.messages(); i++) {
            world.sends(i, 3);
            sends.add(world.watch(world.node(0).send(1, TAG, world.message(i))));
            sends.add(world.watch(world.node(0).broadcast(TAG, world.message(i))));
            sends.add(world.watch(world.node(1).send(0, TAG, world.message(i))));
        }
        sends.add(world.node(0).receiveOnce(99));
        world.closes();
        close.run();
        world.node(1).lost(0, "closed");
        for (CompletionStage<?> send : sends) {
            try {
                world.get(send);
            } catch (TimeoutException | IOException | IllegalStateException over) {
                // as it says
            }
        }
        return "closed";
    }
}
