// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.Security;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.crac.CheckpointException;
import org.crac.Context;
import org.crac.Core;
import org.crac.RestoreException;

/// How the operations of `runtime/image` are called: with marks, addresses and a directory that may fail or call
/// back.
final class ImageCalls {

    private static final String CRIU = """
            #!/bin/sh
            case $1 in
                --version) echo 'Version: 4.2'; exit ;;
                restore) while [ "$1" != --pidfile ]; do shift; done; echo 17 >"$2"; exit ;;
            esac
            while [ "$1" != --images-dir ]; do shift; done
            echo '(00.1) Error (criu/sk-inet.c:192): inet: Connected TCP socket' >>"$2/dump.log"
            exit 3
            """;
    private static final long SECONDS = 60;
    private static final int TAG = 7;
    private static final int MOST_LOOKS = 4_000;

    private final Path folder;
    private final AtomicInteger images = new AtomicInteger();
    private final Map<Class<?>, Function<FaultScene, Object>> values = new HashMap<>();

    private ImageCalls(Path folder) {
        this.folder = folder;
        values.put(Object.class, scene -> "another");
        values.put(Duration.class, scene -> Duration.ofMinutes(1));
        values.put(List.class, scene -> List.of());
        values.put(Context.class, scene -> Core.getGlobalContext());
        values.put(Function.class, scene -> (Function<OobNode, InetSocketAddress>) OobNode::address);
        values.put(BiConsumer.class, scene -> (BiConsumer<OobNode, InetSocketAddress>) (node, address) -> {});
        values.put(StandstillOptions.class, scene -> StandstillOptions.DEFAULT);
        values.put(StandstillOptions.Retiring.class, scene -> retiring(scene.points()));
        values.put(Standstill.class, scene -> Standstill.of(StandstillOptions.DEFAULT));
        values.put(OobNode[].class, scene -> new OobNode[0]);
        values.put(Criu.class, scene -> criu());
        values.put(Path.class, scene -> program());
    }

    /// @param folder for programs and images
    static FaultCatalogue all(Path folder) {
        return new ImageCalls(folder).catalogue();
    }

    private FaultCatalogue catalogue() {
        FaultCatalogue all = new FaultCatalogue("image", Standstill.class)
                .values(values::get)
                .records(values::get)
                .receiver(Criu.class, scene -> criu())
                .receiver(StandstillOptions.Retiring.class, scene -> retiring(scene.points()))
                .receiver(Standstill.class, scene -> Standstill.of(StandstillOptions.DEFAULT));
        all.on("Criu.restore(Path)", scene -> FaultCall.with(criu(), same -> new Object[] {image()}));
        all.on("Standstill.of(StandstillOptions, OobNode[])", scene -> {
            World world = new World(scene);
            return FaultCall.on(null, StandstillOptions.DEFAULT, world.nodes.toArray(OobNode[]::new));
        });
        all.around("Standstill.begin()", begin -> way(world -> begin.on(world.standstill), true));
        all.around(
                "Standstill.end()",
                end -> way(
                        world -> {
                            world.standstill.begin();
                            return end.on(world.standstill);
                        },
                        false));
        Context<?> context = Core.getGlobalContext();
        all.around(
                "CracAdapter.beforeCheckpoint(Context)",
                before -> way(world -> before.on(new CracAdapter(world.standstill), context), true));
        all.around(
                "CracAdapter.afterRestore(Context)",
                after -> way(
                        world -> {
                            CracAdapter adapter = new CracAdapter(world.standstill);
                            adapter.beforeCheckpoint(null);
                            return after.on(adapter, context);
                        },
                        false));
        return all.around("CriuAdapter.dump(Path)", this::dump);
    }

    /// CRIU says no here, or the JVM has performance data; the process goes on.
    private Operation dump(Member dump) {
        return way(
                world -> {
                    try {
                        return dump.on(new CriuAdapter(criu(), world.standstill), image());
                    } catch (StandstillException failed) {
                        throw failed;
                    } catch (IOException refused) {
                        if (FaultPoints.isInjected(refused)) {
                            throw refused;
                        }
                        return refused.getMessage().contains("criu dump failed")
                                        || refused.getMessage().contains("performance data")
                                ? "no image"
                                : refused.getMessage();
                    }
                },
                false);
    }

    private static StandstillOptions.Retiring retiring(FaultPoints points) {
        return patience -> points.reach("Retiring.retire");
    }

    private Path image() {
        return made(() -> Files.createDirectory(folder.resolve("image-" + images.incrementAndGet())));
    }

    private Path program() {
        Path program = folder.resolve("criu");
        return Files.exists(program)
                ? program
                : made(() -> Files.setPosixFilePermissions(
                        Files.writeString(program, CRIU), PosixFilePermissions.fromString("rwx------")));
    }

    private Criu criu() {
        return made(() -> Criu.at(program()));
    }

    @FunctionalInterface
    private interface Making<T> {
        T make() throws IOException;
    }

    private static <T> T made(Making<T> making) {
        try {
            return making.make();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    /// @param still whether the nodes stand still where it passes
    private static Operation way(Use use, boolean still) {
        return scene -> {
            World world = new World(scene);
            // a node that cannot go on is closed
            scene.onlyOnce();
            return () -> {
                try {
                    Object result = use.on(world);
                    if (still) {
                        expect(world.standstill.isStill(), "the process does not stand still");
                        world.standstill.end();
                    }
                    return result;
                } catch (StandstillException | CheckpointException | RestoreException failure) {
                    if (world.closed) {
                        throw new IllegalStateException("a node is closed already", failure);
                    }
                    throw failure;
                } finally {
                    world.goesOn();
                }
            };
        };
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /// Two nodes, each of a job of its own.
    private static final class World {

        final List<OobNode> nodes = new ArrayList<>();
        final Standstill standstill;
        boolean closed;
        private boolean looking;
        // of which no call is counted
        private final ArenaSource memory = ArenaSource.create();

        World(FaultScene scene) {
            scene.mayTake(64 << 20);
            for (int i = 0; i < 2; i++) {
                nodes.add(made(() -> OobNode.builder(0, 1)
                        .memory(scene.source())
                        .security(Security.plaintext())
                        .directory(peer -> null)
                        .receive(TAG, message -> message.buffer().byteSize())
                        .start()));
                scene.ownLast(nodes.getLast());
            }
            scene.ownLast(memory);
            standstill = Standstill.of(options(scene.points()), nodes.toArray(OobNode[]::new));
            scene.callBack("standstill.begin", () -> call(standstill::begin));
            scene.callBack("standstill.end", () -> call(standstill::end));
            scene.callBack("node.close", () -> {
                closed = true;
                nodes.getFirst().close();
            });
        }

        @FunctionalInterface
        private interface Step {
            void run() throws StandstillException;
        }

        private void call(Step step) {
            if (looking) {
                return;
            }
            try {
                step.run();
            } catch (StandstillException failure) {
                throw new IllegalStateException(failure);
            }
        }

        private static StandstillOptions options(FaultPoints points) {
            return StandstillOptions.DEFAULT
                    .patience(Duration.ofSeconds(SECONDS))
                    .retire(retiring(points))
                    .retire(retiring(points))
                    .bind(node -> {
                        points.reach("bind");
                        return node.address();
                    })
                    .publish((node, address) -> points.reach("publish"));
        }

        /// No node stays suspended: each sends and listens, or is closed and says so.
        void goesOn() throws InterruptedException {
            looking = true;
            expect(!standstill.isStill(), "the process stands still");
            for (OobNode node : nodes) {
                // one that cannot go on is closed by a thread of its own
                for (int i = 0; !listens(node) && isOpen(node); i++) {
                    expect(i < MOST_LOOKS, "a node does not listen");
                    Thread.sleep(5);
                }
            }
        }

        private static boolean listens(OobNode node) {
            try {
                new Socket(node.address().getAddress(), node.address().getPort()).close();
                return true;
            } catch (IOException refused) {
                return false;
            }
        }

        private boolean isOpen(OobNode node) throws InterruptedException {
            try (SealedBuffer message =
                    BufferBuilder.create(memory).put(new byte[20]).seal()) {
                node.send(0, TAG, message).get(SECONDS, TimeUnit.SECONDS);
                return true;
            } catch (ExecutionException | IllegalStateException over) {
                return false;
            } catch (TimeoutException never) {
                throw new AssertionError("a node neither goes on nor ends", never);
            }
        }
    }
}
