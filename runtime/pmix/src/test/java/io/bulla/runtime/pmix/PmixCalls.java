// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.pack.Limits;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.Header;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/// How the operations of `runtime/pmix` are called: with a server, listeners, a log and collections that may fail or
/// call back.
final class PmixCalls {

    private static final String CLIENT = "PmixClient.";
    private static final long EVENT_SECONDS = 20;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Proc OTHER = new Proc(Capture.NAMESPACE, 1);
    private static final PmixServer SERVER =
            new PmixServer("server.0", new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
    private static final PmixValue VALUE = PmixValue.of("value");
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(int.class, scene -> 1);
        VALUES.put(long.class, scene -> 1L);
        VALUES.put(boolean.class, scene -> true);
        VALUES.put(byte[].class, scene -> new byte[] {1, 2});
        VALUES.put(String.class, scene -> "text");
        VALUES.put(Object.class, scene -> "another");
        VALUES.put(Duration.class, scene -> PATIENCE);
        VALUES.put(Proc.class, scene -> OTHER);
        VALUES.put(Value.class, scene -> Value.of("value"));
        VALUES.put(Limits.class, scene -> Limits.DEFAULT);
        VALUES.put(WireFormat.class, scene -> WireFormat.PMIX_4);
        VALUES.put(InetSocketAddress.class, scene -> SERVER.address());
        VALUES.put(List.class, scene -> foreign(scene, List.class, List.of(OTHER)));
        VALUES.put(Map.class, scene -> foreign(scene, Map.class, Map.of("key", VALUE)));
        VALUES.put(PmixServer.class, scene -> SERVER);
        VALUES.put(PmixValue.class, scene -> VALUE);
        VALUES.put(PmixStatus.class, scene -> PmixStatus.SUCCESS);
        VALUES.put(PmixOptions.class, scene -> PmixOptions.DEFAULT);
        VALUES.put(PmixPublished.class, scene -> new PmixPublished(OTHER, "key", VALUE));
        VALUES.put(PmixEvent.class, scene -> new PmixEvent(PmixStatus.SUCCESS, OTHER, List.of(), Map.of()));
        VALUES.put(PmixEnvironment.class, scene -> new PmixEnvironment(OTHER, SERVER, "v41", WireFormat.PMIX_4, "4"));
    }

    private PmixCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("pmix", PmixClient.class)
                .values(VALUES::get)
                .records(VALUES::get)
                .receiver(PmixException.class, scene -> new PmixException(PmixStatus.TIMEOUT, "late"));
        all.on("PmixPersistence.valueOf(String)", scene -> FaultCall.on(null, "SESSION"))
                .on("PmixRange.valueOf(String)", scene -> FaultCall.on(null, "GLOBAL"))
                .on("PmixScope.valueOf(String)", scene -> FaultCall.on(null, "GLOBAL"))
                .on("PmixValue.asBoolean()", scene -> FaultCall.on(PmixValue.of(true)))
                .on("PmixValue.asBytes()", scene -> FaultCall.on(PmixValue.of(new byte[] {1})))
                .on("PmixValue.asLong()", scene -> FaultCall.on(PmixValue.of(1L)))
                .on("PmixValue.asProc()", scene -> FaultCall.on(PmixValue.of(OTHER)))
                .on(
                        "PmixValue.asList()",
                        scene -> FaultCall.on(
                                new PmixValue(new Value(DataType.DATA_ARRAY, DataArray.of(DataType.INT32, 1, 2)))))
                .on(
                        "PmixEnvironment.of(Map)",
                        scene -> FaultCall.on(null, foreign(scene, Map.class, PmixEnvironmentTest.mpirun())))
                .around("PmixEnvironment.ofProcess()", PmixCalls::withoutALauncher)
                .around("PmixClient.connect()", PmixCalls::withoutALauncher);
        return clients(all);
    }

    private static FaultCatalogue clients(FaultCatalogue all) {
        for (String told : List.of(
                "rank()",
                "size()",
                "job()",
                "proc()",
                "environment()",
                "options()",
                "localRanks()",
                "jobInfo()",
                "droppedEvents()",
                "lateAnswers()",
                "commit()",
                "close()")) {
            client(all, told);
        }
        client(all, "procOf(int)", 1);
        client(all, "hostOf(int)", 1);
        client(all, "forget(Proc)", OTHER);
        client(all, "close(Duration)", PATIENCE);
        client(all, "abort(int, String)", 1, "text");
        client(all, "put(PmixScope, String, PmixValue)", PmixScope.GLOBAL, "key", VALUE);
        client(all, "get(Proc, String)", OTHER, "lab.str");
        client(all, "get(Proc, String, Duration)", OTHER, "lab.str", Duration.ZERO);
        client(all, "getAll(Collection, String)", Set.of(OTHER, new Proc(Capture.NAMESPACE, 0)), "lab.str");
        client(
                all,
                "getAll(Collection, String, Duration)",
                Set.of(OTHER, new Proc(Capture.NAMESPACE, 0)),
                "lab.str",
                Duration.ofSeconds(1));
        client(all, "fence(boolean, Duration)", true, PATIENCE);
        client(all, "fence(Set, boolean, Duration)", Set.of(OTHER, new Proc(Capture.NAMESPACE, 0)), true, PATIENCE);
        client(
                all,
                "publish(Map, PmixRange, PmixPersistence)",
                Map.of("key", VALUE),
                PmixRange.GLOBAL,
                PmixPersistence.SESSION);
        client(all, "lookup(Set, PmixRange, Duration)", Set.of("key"), PmixRange.GLOBAL, Duration.ZERO);
        client(all, "unpublish(Set, PmixRange)", Set.of("key"), PmixRange.GLOBAL);
        all.around(
                CLIENT + "connect(PmixEnvironment, PmixOptions)",
                connect -> way(world -> {
                    world.client = (PmixClient) connect.on(null, world.environment(), world.options());
                    return world.client.size();
                }));
        all.around(CLIENT + "lost()", lost -> way(world -> lost(world, lost)));
        all.around(CLIENT + "onEvent(Set, Consumer)", listen -> scene -> {
            // the connection may be over before the events are told
            scene.mayVary();
            return way(world -> events(world, listen)).prepare(scene);
        });
        all.around(CLIENT + "requestEvents(Set, Consumer)", listen -> scene -> {
            scene.mayVary();
            return way(world -> events(world, listen)).prepare(scene);
        });
        all.around(
                "PmixPendingRegistration.await()",
                await -> way(world -> {
                    try (PmixPendingRegistration wish =
                            world.client().requestEvents(Set.of(PmixStatus.LOST_CONNECTION), event -> {})) {
                        await.on(wish);
                        return world.client().droppedEvents();
                    }
                }));
        all.around(
                "PmixPendingRegistration.close()",
                close -> way(world -> {
                    try (PmixPendingRegistration wish =
                            world.client().requestEvents(Set.of(PmixStatus.LOST_CONNECTION), event -> {})) {
                        close.on(wish);
                        return world.client().droppedEvents();
                    }
                }));
        return all.around(
                "PmixClient.Registration.close()",
                close -> way(world -> {
                    try (PmixClient.Registration wish = world.client()
                            .onEvent(Set.of(PmixStatus.LOST_CONNECTION), event -> {
                                world.reach("Consumer.accept");
                            })) {
                        close.on(wish);
                        return world.client().droppedEvents();
                    }
                }));
    }

    private static void client(FaultCatalogue all, String operation, Object... arguments) {
        all.around(CLIENT + operation, member -> way(world -> member.on(world.client(), world.foreign(arguments))));
    }

    /// What is refused where no launcher has started the process.
    private static Operation withoutALauncher(Member member) {
        return scene -> () -> {
            try {
                return member.on(null);
            } catch (PmixException refused) {
                return refused.getMessage();
            }
        };
    }

    /// Told once, by the thread that reads.
    private static Object lost(World world, Member lost) throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        ((CompletionStage<?>) lost.on(world.client())).thenRun(() -> {
            told.countDown();
            world.reach("lost, dependent");
        });
        world.server.peers.take().socket().close();
        return told.await(PATIENCE.toSeconds(), TimeUnit.SECONDS) ? "told" : missing("no listener is told of the loss");
    }

    /// Each event is told, though the listener fails, and the log of that.
    private static Object events(World world, Member listen) throws Exception {
        CountDownLatch told = new CountDownLatch(2);
        Consumer<PmixEvent> listener = event -> {
            told.countDown();
            world.reach("Consumer.accept");
            throw new IllegalStateException("listener's own");
        };
        Set<PmixStatus> codes = Set.of(PmixStatus.LOST_CONNECTION);
        PmixClient client = world.client();
        PmixClient.Registration wish = (PmixClient.Registration) listen.on(client, world.foreign(codes, listener));
        try {
            ScriptedServer.Peer peer = world.server.peers.take();
            for (int i = 0; i < 2 && !world.isOver(); i++) {
                peer.send(Header.EVENT, HostileServerTest.event(10));
            }
            while (!told.await(1, TimeUnit.SECONDS)) {
                if (world.isOver()) {
                    return "over";
                }
                world.spend();
            }
            return client.droppedEvents();
        } catch (IOException closed) {
            if (world.isOver()) {
                return "over";
            }
            throw closed;
        } finally {
            wish.close();
        }
    }

    static Object missing(String what) {
        throw new AssertionError(what);
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    private static Operation way(Use use) {
        return scene -> {
            scene.points().everyThread();
            scene.mayTake(64 << 20);
            World[] last = new World[1];
            scene.owed("connections open", () -> last[0] == null ? 0 : last[0].left);
            scene.callBack("client.close", () -> {
                World world = last[0];
                if (world != null && world.client != null && !world.isServer()) {
                    world.closed = true;
                    world.client.close(Duration.ZERO);
                }
            });
            scene.callBack("client.put", () -> {
                World world = last[0];
                if (world != null && world.client != null && !world.closed) {
                    world.client.put(PmixScope.GLOBAL, "another", VALUE);
                    world.client.forget(OTHER);
                    world.client.jobInfo();
                }
            });
            return () -> {
                try (World world = new World(scene)) {
                    last[0] = world;
                    return world.run(use);
                }
            };
        };
    }

    /// Each of its calls may fail.
    static <T> T foreign(FaultScene scene, Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                PmixCalls.class.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
                    scene.points().reach(type.getSimpleName() + "." + method.getName());
                    try {
                        return method.invoke(real, given);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    /// A server of one step, and its client.
    private static final class World implements AutoCloseable {

        final ScriptedServer server;
        private final FaultScene scene;
        private final FaultPoints points;
        private final FailingLog log;
        private long spent;
        PmixClient client;
        // volatile: of any thread
        volatile boolean closed;
        volatile long left;
        private volatile Throwable injected;
        private volatile Thread serving;

        World(FaultScene scene) throws Exception {
            this.scene = scene;
            this.points = scene.points();
            this.server = new ScriptedServer(this::answer);
            this.log = new FailingLog(PmixClient.class, () -> reach("Logger.publish"));
        }

        PmixEnvironment environment() {
            return server.environment();
        }

        PmixOptions options() {
            return PmixOptions.DEFAULT.within(PATIENCE);
        }

        PmixClient client() throws Exception {
            if (client == null) {
                client = PmixClient.connect(environment(), options());
            }
            return client;
        }

        /// A call of user code, or of the server, on any thread.
        void reach(String point) {
            try {
                points.reach(point);
            } catch (Throwable failure) {
                injected = failure;
                throw failure;
            }
        }

        /// Another process, which calls nothing back.
        boolean isServer() {
            return Thread.currentThread() == serving;
        }

        boolean isOver() {
            return closed || injected != null && points.failed().startsWith("PmixServer");
        }

        void spend() {
            if (++spent > EVENT_SECONDS) {
                missing("events are missing");
            }
        }

        Object[] foreign(Object... arguments) {
            Object[] given = arguments.clone();
            for (int i = 0; i < given.length; i++) {
                switch (given[i]) {
                    case Set<?> set -> given[i] = PmixCalls.foreign(scene, Set.class, set);
                    case Map<?, ?> map -> given[i] = PmixCalls.foreign(scene, Map.class, map);
                    case Collection<?> some -> given[i] = PmixCalls.foreign(scene, Collection.class, some);
                    default -> {}
                }
            }
            return given;
        }

        /// A server that fails has closed the connection.
        private void answer(ScriptedServer.Request request, ScriptedServer.Peer peer) throws IOException {
            serving = Thread.currentThread();
            try {
                reach("PmixServer.asked");
                if (request.command() == Command.LOOKUP.code()) {
                    peer.send(
                            request.tag(),
                            HostileServerTest.packed(
                                    items -> items.pack(DataType.STATUS, 0).pack(DataType.SIZE, 0L)));
                } else {
                    ScriptedServer.captured(request, peer);
                }
                reach("PmixServer.answered");
            } catch (RuntimeException | Error failure) {
                peer.socket().close();
                throw new IOException(failure);
            }
        }

        Object run(Use use) throws Exception {
            try {
                return use.on(this);
            } catch (PmixException failure) {
                // what failed the server is what the step is about
                if (injected instanceof Error error) {
                    throw error;
                }
                if (injected instanceof RuntimeException exception) {
                    throw exception;
                }
                if (closed) {
                    throw new IllegalStateException("already left", failure);
                }
                throw failure;
            }
        }

        @Override
        public void close() throws IOException {
            try {
                if (client != null) {
                    client.close();
                }
            } finally {
                log.close();
                left = server.awaitNoConnection();
                server.close();
            }
        }
    }
}
