// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// How the operations of `io.bulla.posix.lending` are called: with a listener of handles that may fail or call back,
/// on the lender's thread, too.
final class LendingCalls {

    private static final int BYTES = 300;
    private static final long TOKEN = 7;

    private LendingCalls() {}

    static FaultCatalogue in(FaultCatalogue all, Path folder) {
        sources(all, folder);
        lenders(all, folder);
        peers(all, folder);
        borrowers(all, folder);
        return all;
    }

    private static void sources(FaultCatalogue all, Path folder) {
        PosixCalls.receiver(all, SharedSlabSource.class, scene -> new World(scene, folder).used());
        all.on(
                "SharedSlabSource.allocate(long)",
                scene -> FaultCall.on(new World(scene, folder).slabs, 400L)
                        .then(region -> released(scene, (Region) region)));
        all.on("SharedSlabSource.grow(MemorySource.Region, long)", scene -> onRegion(scene, folder, 400L));
        all.on("SharedSlabSource.seal(MemorySource.Region, long)", scene -> onRegion(scene, folder, 4L));
        all.on("SharedSlabSource.create(SlabSource.Builder)", scene -> FaultCall.on(null, SlabSource.builder()));
        all.on("SharedSlabSource.figures()", scene -> {
            scene.mayVary();
            return FaultCall.on(new World(scene, folder).used());
        });
    }

    private static FaultCall onRegion(FaultScene scene, Path folder, long bytes) {
        SharedSlabSource slabs = new World(scene, folder).slabs;
        return FaultCall.on(slabs, released(scene, slabs.allocate(64)), bytes);
    }

    private static Region released(FaultScene scene, Region region) {
        AutoCloseable back = region::release;
        scene.own(back);
        return region;
    }

    private static void lenders(FaultCatalogue all, Path folder) {
        PosixCalls.receiver(all, SlabLender.class, scene -> new World(scene, folder).lending());
        all.on("SlabLender.open(Path, SharedSlabSource, SlabQuota)", scene -> {
            World world = new World(scene, folder);
            return FaultCall.on(null, world.folder, world.slabs, SlabQuota.standard())
                    .then(lender -> world.lender = (SlabLender) lender);
        });
        all.on("SlabLender.accept(Duration)", scene -> {
            World world = new World(scene, folder);
            SlabLender lender = world.lending();
            world.connected();
            return FaultCall.on(lender, PosixCalls.PATIENCE);
        });
        all.on("SlabLender.path()", scene -> {
            scene.mayVary();
            return FaultCall.on(new World(scene, folder).lending());
        });
        all.on("SlabLender.figures()", scene -> {
            scene.mayVary();
            World world = new World(scene, folder);
            world.peer();
            return FaultCall.on(world.lender);
        });
        all.on("SlabLender.close(Duration)", scene -> {
            // an interrupt comes too late for a thread that has ended
            scene.mayVary();
            return FaultCall.on(new World(scene, folder).lending(), PosixCalls.PATIENCE);
        });
        // with a borrower that has something
        all.on("SlabLender.close()", scene -> {
            World world = new World(scene, folder);
            world.lent();
            return FaultCall.on(world.lender);
        });
    }

    private static void peers(FaultCatalogue all, Path folder) {
        PosixCalls.receiver(all, SlabPeer.class, scene -> new World(scene, folder).peer());
        for (Function<World, SealedBuffer> message : World.MESSAGES) {
            all.on("SlabPeer.lend(SealedBuffer)", scene -> {
                World world = new World(scene, folder);
                return FaultCall.on(world.peer(), message.apply(world));
            });
            all.on("SlabPeer.lend(SealedBuffer, ByteBuffer)", scene -> {
                World world = new World(scene, folder);
                return FaultCall.with(world.peer(), same ->
                        new Object[] {message.apply(world), ByteBuffer.allocate(SlabPeer.RECORD_BYTES)});
            });
            all.on("SlabPeer.send(SealedBuffer)", scene -> {
                World world = new World(scene, folder);
                return FaultCall.on(world.peer(), message.apply(world));
            });
            all.on("SlabPeer.send(SealedBuffer, Duration)", scene -> {
                World world = new World(scene, folder);
                return FaultCall.on(world.peer(), message.apply(world), PosixCalls.PATIENCE);
            });
        }
        for (String number : new String[] {"pid()", "gone()", "bytes()", "leases()"}) {
            all.on("SlabPeer." + number, scene -> {
                scene.mayVary();
                World world = new World(scene, folder);
                world.lent();
                return FaultCall.on(world.peer());
            });
        }
        linkedPeers(all, folder);
        all.on("SlabPeer.close()", scene -> {
            World world = new World(scene, folder);
            world.lent();
            return FaultCall.on(world.peer());
        });
    }

    /// Those for another connection beside the socket.
    private static void linkedPeers(FaultCatalogue all, Path folder) {
        all.receiver(SlabPeer.Words.class, scene -> (what, value) -> {});
        all.on("SlabPeer.tell(int, long, long, ByteBuffer)", scene -> {
            World world = new World(scene, folder);
            world.linked();
            return FaultCall.with(
                    world.peer(), same -> new Object[] {4, 1L, 2L, ByteBuffer.allocate(SlabPeer.RECORD_BYTES)});
        });
        all.on(
                "SlabPeer.onWords(SlabPeer.Words)",
                scene -> FaultCall.on(new World(scene, folder).peer(), (SlabPeer.Words) (what, value) -> {}));
        all.on("SlabPeer.cutOff(String)", scene -> {
            World world = new World(scene, folder);
            world.lent();
            return FaultCall.on(world.peer(), "it said that the moon is of cheese");
        });
        all.on("SlabPeer.giveBack(int, int, long)", scene -> {
            // a second time it is a lie
            scene.mayVary();
            World world = new World(scene, folder);
            ByteBuffer record = world.record(World.LENT.getFirst());
            return FaultCall.on(world.peer(), record.getInt(8), record.getInt(12), record.getLong(0));
        });
    }

    /// Those for another connection beside the socket.
    private static void linkedBorrowers(FaultCatalogue all, Path folder) {
        all.receiver(SlabBorrower.Link.class, scene -> new World(scene, folder).link());
        all.arguments(
                "SlabBorrower.Link.onWord(int, long, long, ByteBuffer)",
                4,
                1L,
                2L,
                ByteBuffer.allocate(SlabPeer.RECORD_BYTES));
        all.on("SlabBorrower.link(SlabBorrower.Link)", scene -> {
            World world = new World(scene, folder);
            return FaultCall.on(world.connected(), world.link());
        });
        all.on("SlabBorrower.tell(int, long)", scene -> {
            // the socket may have no room
            scene.mayVary();
            World world = new World(scene, folder);
            return FaultCall.on(world.linked(), 4, 1L);
        });
        all.on("SlabBorrower.giveBack(int, int, long)", scene -> {
            scene.mayVary();
            World world = new World(scene, folder);
            ByteBuffer record = world.record(World.LENT.getFirst());
            return FaultCall.on(world.connected(), record.getInt(8), record.getInt(12), record.getLong(0));
        });
        for (Function<World, SealedBuffer> message : World.LENT) {
            all.on("SlabBorrower.openNow(ByteBuffer)", scene -> {
                World world = new World(scene, folder);
                ByteBuffer[] next = {world.record(message), world.record(message), world.record(message)};
                int[] opened = {0};
                SlabBorrower borrower = world.connected();
                PosixCalls.made(() -> {
                    borrower.listen();
                    return null;
                });
                return FaultCall.with(borrower, same -> new Object[] {next[opened[0]++]});
            });
            all.on("SlabBorrower.listenOnce()", scene -> {
                // what is there to be heard is heard once
                scene.mayVary();
                World world = new World(scene, folder);
                SlabBorrower borrower = world.linked();
                world.record(message);
                PosixCalls.made(() -> world.peer().tell(4, 1, 2, ByteBuffer.allocate(SlabPeer.RECORD_BYTES)));
                return FaultCall.on(borrower);
            });
        }
    }

    private static void borrowers(FaultCatalogue all, Path folder) {
        linkedBorrowers(all, folder);
        PosixCalls.receiver(all, SlabBorrower.class, scene -> {
            World world = new World(scene, folder);
            world.lent();
            return world.connected();
        });
        all.on("SlabBorrower.connect(Path, long, MemorySource, long)", scene -> {
            World world = new World(scene, folder);
            Path path = world.lending().path();
            return FaultCall.on(null, path, TOKEN, scene.source(), 1L << 20);
        });
        for (Function<World, SealedBuffer> message : World.MESSAGES) {
            all.on("SlabBorrower.receive()", scene -> {
                World world = new World(scene, folder);
                PosixCalls.made(() -> {
                    for (int i = 0; i < 3; i++) {
                        world.peer().send(message.apply(world));
                    }
                    return null;
                });
                world.listening();
                return FaultCall.on(world.connected());
            });
        }
        for (Function<World, SealedBuffer> message : World.LENT) {
            all.on("SlabBorrower.open(ByteBuffer)", scene -> {
                World world = new World(scene, folder);
                ByteBuffer first = world.record(message);
                world.listening();
                ByteBuffer[] next = {first, world.record(message), world.record(message)};
                int[] opened = {0};
                return FaultCall.with(world.connected(), same -> new Object[] {next[opened[0]++]});
            });
            all.on("SlabBorrower.listen()", scene -> {
                World world = new World(scene, folder);
                world.record(message);
                world.listening();
                return FaultCall.on(world.connected());
            });
        }
    }

    /// Slabs, and what lends and borrows them; all of it ends with the scene.
    private static final class World {

        static final List<Function<World, SealedBuffer>> LENT =
                List.of(world -> world.sealed(world.slabs), world -> world.sealed(world.files));
        static final List<Function<World, SealedBuffer>> MESSAGES = List.of(
                LENT.get(0), LENT.get(1), world -> world.scene.buffer(BYTES), world -> world.scene.lastHandle());

        final Path folder;
        final SharedSlabSource slabs;
        final MemorySource files;
        final FaultScene scene;
        private final MemoryBudget budget = new MemoryBudget(16 * SlabSource.SLAB);

        @Nullable
        SlabLender lender;

        private @Nullable SlabBorrower borrower;
        private @Nullable SlabPeer peer;

        World(FaultScene scene, Path parent) {
            this.scene = scene;
            scene.points().everyThread();
            scene.mayTake(64 << 20);
            folder = PosixCalls.made(() -> Files.createDirectory(
                    PosixCalls.fresh(parent),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
            slabs = SharedSlabSource.create(SlabSource.builder()
                    .budget(budget)
                    .idle(Duration.ofHours(1))
                    .trace(scene.trace()));
            files = MemoryFileCalls.source(scene);
            scene.ownLast(this::end);
            scene.owed("bytes booked in slabs", budget::used);
            scene.owed("files in the folder", () -> folder.toFile().list().length);
            scene.callBack("slabs.trim", slabs::trim);
        }

        private void end() throws InterruptedException {
            if (borrower != null) {
                borrower.close();
            }
            if (lender != null) {
                lender.close(PosixCalls.PATIENCE);
            }
            slabs.close(PosixCalls.PATIENCE);
            PosixCalls.await(() -> budget.used() == 0);
        }

        SharedSlabSource used() {
            sealed(slabs).close();
            return slabs;
        }

        SlabLender lending() {
            if (lender == null) {
                SlabLender open = PosixCalls.made(() -> SlabLender.open(folder, slabs, SlabQuota.standard()));
                lender = open;
                scene.callBack("lender.figures", open::figures);
                scene.callBack("lender.close", open::close);
            }
            return lender;
        }

        SlabBorrower connected() {
            if (borrower == null) {
                Path path = lending().path();
                SlabBorrower connected =
                        PosixCalls.made(() -> SlabBorrower.connect(path, TOKEN, scene.source(), 1 << 20));
                borrower = connected;
                scene.callBack("borrower.close", connected::close);
            }
            return borrower;
        }

        /// With another connection, which hears words and takes no lease.
        SlabBorrower linked() {
            peer().onWords((what, value) -> scene.points().reach("SlabPeer.Words.onWord"));
            connected().link(link());
            return connected();
        }

        SlabBorrower.Link link() {
            return new SlabBorrower.Link() {
                @Override
                public boolean giveBack(int slot, int generation, long slab) {
                    scene.points().reach("SlabBorrower.Link.giveBack");
                    return false;
                }

                @Override
                public void onWord(int what, long first, long second, ByteBuffer record) {
                    scene.points().reach("SlabBorrower.Link.onWord");
                }
            };
        }

        SlabPeer peer() {
            if (peer == null) {
                connected();
                SlabPeer accepted = Objects.requireNonNull(
                        PosixCalls.made(() -> lending().accept(PosixCalls.PATIENCE)), "borrower");
                peer = accepted;
                scene.callBack("peer.lend", FailingCalls.back(() -> lendAnother(accepted)));
                scene.callBack("peer.close", accepted::close);
            }
            return peer;
        }

        /// A lease that the borrower has opened.
        void lent() {
            PosixCalls.made(() -> {
                peer().send(sealed(slabs));
                return scene.own(connected().receive());
            });
        }

        /// Where nothing but slabs comes over the socket, or a message is being received.
        void listening() {
            SlabBorrower listens = connected();
            scene.callBack("borrower.listen", FailingCalls.back(listens::listen));
        }

        ByteBuffer record(Function<World, SealedBuffer> message) {
            ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
            boolean lent = PosixCalls.made(() -> peer().lend(message.apply(this), record));
            if (!lent) {
                throw new IllegalStateException("not lent: " + peer);
            }
            return record.flip();
        }

        SealedBuffer sealed(MemorySource source) {
            try (BufferBuilder builder = BufferBuilder.create(source)) {
                return scene.own(builder.put(FaultScene.bytes(BYTES, 4)).seal());
            }
        }

        private void lendAnother(SlabPeer to) throws IOException {
            try (SealedBuffer other = BufferBuilder.create(slabs).putInt(1).seal()) {
                to.lend(other);
            }
        }
    }
}
