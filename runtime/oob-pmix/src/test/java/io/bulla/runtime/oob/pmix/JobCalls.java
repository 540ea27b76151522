// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.buffer.ArenaSource;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixOptions;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;

/// How the operations of `runtime/oob-pmix` are called: with a server, a listener, memory and protection of a node
/// that may fail or call back.
final class JobCalls {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Proc SELF = new Proc("job", 0);
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(int.class, scene -> 0);
        VALUES.put(long.class, scene -> 1L);
        VALUES.put(boolean.class, scene -> true);
        VALUES.put(String.class, scene -> "text");
        VALUES.put(Object.class, scene -> "another");
        VALUES.put(Duration.class, scene -> PATIENCE);
        VALUES.put(Optional.class, scene -> Optional.empty());
        VALUES.put(List.class, scene -> List.of(ADDRESS));
        VALUES.put(InetSocketAddress.class, scene -> ADDRESS);
        VALUES.put(Proc.class, scene -> SELF);
        VALUES.put(MeetOptions.class, scene -> MeetOptions.DEFAULT);
        VALUES.put(Member.class, scene -> new Member(0, SELF, 1, List.of(ADDRESS), ""));
    }

    private JobCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("oob-pmix", JobMembers.class)
                .values(VALUES::get)
                .records(VALUES::get);
        all.around(
                "JobMembers.meet(PmixClient, MeetOptions)",
                meet -> way(world -> {
                    world.members = (JobMembers) meet.on(null, world.client(), MeetOptions.DEFAULT);
                    return world.members.size();
                }));
        for (String asked : List.of("rank()", "size()", "security()")) {
            all.around("JobMembers." + asked, member -> ready(world -> member.on(world.members())));
        }
        all.around("JobMembers.members()", member -> ready(world -> ((List<?>) member.on(world.members())).size()));
        all.around("JobMembers.close()", close -> way(world -> close.on(world.members())));
        all.around(
                "JobMembers.start(OobNodeBuilder)",
                start -> way(world -> {
                    world.nodes = (PmixNodes) start.on(world.members(), world.builder());
                    return world.nodes.node().rank();
                }));
        all.around("PmixNodes.node()", node -> ready(world -> ((OobNode) node.on(world.nodes())).rank()));
        all.around("PmixNodes.members()", node -> ready(world -> ((List<?>) node.on(world.nodes())).size()));
        all.around("PmixNodes.procOf(int)", node -> ready(world -> node.on(world.nodes(), 0)));
        all.around(
                "PmixNodes.rankOf(Proc)",
                node -> ready(world -> node.on(world.nodes(), SELF).toString()));
        all.around("PmixNodes.lookAgain(int)", node -> way(world -> node.on(world.nodes(), 0)));
        all.around("PmixNodes.leave(Duration)", leave -> way(world -> leave.on(world.nodes(), Duration.ZERO)));
        return all.around(
                "PmixNodes.onGone(BiConsumer)",
                listen -> way(world -> {
                    CountDownLatch told = new CountDownLatch(1);
                    BiConsumer<Integer, PmixEvent> listener = (rank, event) -> {
                        told.countDown();
                        world.reach("BiConsumer.accept");
                    };
                    try (PmixClient.Registration wish = (PmixClient.Registration) listen.on(world.nodes(), listener)) {
                        world.server.gone();
                        while (!told.await(1, TimeUnit.SECONDS)) {
                            if (wish == null || world.isOver()) {
                                return "over";
                            }
                        }
                        return "told";
                    } catch (IOException ended) {
                        if (world.isOver() && !(ended instanceof PmixException)) {
                            return "over";
                        }
                        throw ended;
                    }
                }));
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    private static Operation way(Use use) {
        return scene -> {
            scene.points().everyThread();
            scene.mayTake(256 << 20);
            // where the server fails, what was said to it last may be over
            scene.mayVary();
            World[] last = new World[1];
            scene.owed("listeners registered", () -> last[0] == null ? 0 : last[0].left);
            scene.callBack("members.close", () -> {
                World world = last[0];
                if (world != null && world.members != null && !world.isServer()) {
                    world.closed = true;
                    try {
                        world.members.close();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
            scene.callBack("node.close", () -> {
                World world = last[0];
                if (world != null && world.nodes != null && !world.isServer()) {
                    world.closed = true;
                    world.nodes.node().close();
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

    /// Of what is there when no call fails yet.
    private static Operation ready(Use use) {
        return scene -> {
            scene.mayTake(256 << 20);
            World world = new World(scene);
            scene.own(world);
            world.nodes();
            return () -> world.run(use);
        };
    }

    private record FragileSecurity(World world, Security plain) implements Security {

        @Override
        public void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException {
            world.reach("Security.secure");
            plain.secure(channel, connecting, expectedPeer);
        }

        @Override
        public int peerOf(Channel channel) throws IOException {
            world.reach("Security.peerOf");
            return plain.peerOf(channel);
        }

        @Override
        public void checkRank(int rank) throws IOException {
            world.reach("Security.checkRank");
            plain.checkRank(rank);
        }

        @Override
        public String name() {
            world.reach("Security.name");
            return plain.name();
        }
    }

    /// A job of one process, and its server.
    private static final class World implements AutoCloseable {

        final JobServer server;
        final ArenaSource memory = ArenaSource.create();
        private final FaultPoints points;
        PmixClient client;
        JobMembers members;
        PmixNodes nodes;
        // volatile: of any thread
        volatile boolean closed;
        private volatile Throwable injected;
        private volatile Thread serving;
        private volatile boolean lost;
        int left;

        World(FaultScene scene) throws IOException {
            this.points = scene.points();
            this.server = new JobServer(point -> {
                serving = Thread.currentThread();
                try {
                    reach(point);
                } catch (RuntimeException | Error failure) {
                    lost = true;
                    throw failure;
                }
            });
        }

        PmixClient client() throws Exception {
            if (client == null) {
                client = PmixClient.connect(server.environment(), PmixOptions.DEFAULT.within(PATIENCE));
            }
            return client;
        }

        JobMembers members() throws Exception {
            if (members == null) {
                members = JobMembers.meet(client(), MeetOptions.DEFAULT.withSecret());
            }
            return members;
        }

        OobNodeBuilder builder() {
            return OobNode.builder(0, 1).memory(memory).security(new FragileSecurity(this, Security.plaintext()));
        }

        PmixNodes nodes() throws Exception {
            if (nodes == null) {
                nodes = members().start(builder());
            }
            return nodes;
        }

        void reach(String point) {
            try {
                points.reach(point);
            } catch (Throwable failure) {
                injected = failure;
                throw failure;
            }
        }

        boolean isServer() {
            return Thread.currentThread() == serving;
        }

        boolean isOver() {
            return closed || lost;
        }

        Object run(Use use) throws Exception {
            try {
                return use.on(this);
            } catch (PmixException failure) {
                if (injected instanceof Error error) {
                    throw error;
                }
                if (injected instanceof RuntimeException exception) {
                    throw exception;
                }
                throw closed ? new IllegalStateException("already left", failure) : failure;
            }
        }

        /// The client stays, and its listeners have to be taken back all the same.
        @Override
        public void close() throws IOException {
            try {
                if (nodes != null && !closed) {
                    // without the fence of a leave
                    nodes.node().close();
                }
                if (members != null) {
                    members.close();
                }
                left = nodes != null || closed ? 0 : server.awaitNoListener(() -> lost);
            } finally {
                if (client != null) {
                    client.close();
                }
                server.close();
                memory.close();
            }
        }
    }
}
