// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.security.Security;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/// How the operations of `runtime/checkpoint` are called: with a disk, savers and loaders that may fail or call back.
final class CheckpointCalls {

    private static final int SIZE = 1;
    private static final long BYTES = 8;
    private static final RankEntry ENTRY = new RankEntry(0, 4, 1, "0".repeat(64), "1".repeat(64));
    private static final CheckpointManifest MANIFEST = new CheckpointManifest(1, Images.TAKEN, List.of(ENTRY));
    private static final CheckpointSummary SUMMARY = new CheckpointSummary(1, Images.TAKEN, 1, 1, 4);
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(long.class, scene -> 1L);
        VALUES.put(int.class, scene -> 1);
        VALUES.put(String.class, scene -> "text");
        VALUES.put(Object.class, scene -> "another");
        VALUES.put(Duration.class, scene -> Duration.ofMinutes(1));
        VALUES.put(Instant.class, scene -> Images.TAKEN);
        VALUES.put(Path.class, scene -> ForgetfulDisk.ROOT);
        VALUES.put(MemorySource.class, FaultScene::source);
        VALUES.put(CheckpointStore.class, scene -> new World(scene).written());
        VALUES.put(CheckpointManifest.class, scene -> MANIFEST);
        VALUES.put(CheckpointOptions.class, scene -> CheckpointOptions.DEFAULT);
        VALUES.put(CheckpointSummary.class, scene -> SUMMARY);
        VALUES.put(RankEntry.class, scene -> ENTRY);
        VALUES.put(RestoreLimits.class, scene -> RestoreLimits.DEFAULT);
        VALUES.put(Undelivered.class, scene -> new Undelivered(Undelivered.Kind.ARRIVED, 1, 2, 3, 4));
        VALUES.put(List.class, scene -> List.of(ENTRY));
        VALUES.put(StateSaver.class, scene -> new World(scene).saver());
        VALUES.put(Undelivered.Kind.class, scene -> Undelivered.Kind.ARRIVED);
    }

    private CheckpointCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("checkpoint", Checkpoints.class)
                .values(VALUES::get)
                .records(VALUES::get);
        all.on("RestoreLimits.new(long, long, int)", scene -> FaultCall.on(null, 1L, 1L, 1));
        all.on(
                "CheckpointSummary.new(long, Instant, int, long, long)",
                scene -> FaultCall.on(null, 1L, Images.TAKEN, 1, 1L, 1L));
        all.on(
                "RankEntry.new(int, long, int, String, String)",
                scene -> FaultCall.on(null, 0, 4L, 1, "0".repeat(64), "1".repeat(64)));
        all.on("CheckpointOptions.new(Map, int)", scene -> FaultCall.on(null, Map.of(), 1));
        all.on("Undelivered.Kind.valueOf(String)", scene -> FaultCall.on(null, "ARRIVED"));
        all.on("CheckpointTicket.State.valueOf(String)", scene -> FaultCall.on(null, "CUTTING"));
        return nodes(restored(images(archives(stores(all)))));
    }

    private static FaultCatalogue stores(FaultCatalogue all) {
        Function<FaultScene, CheckpointStore> folder = scene -> new World(scene).written();
        Function<FaultScene, CheckpointStore> both = scene -> PartnerStore.of(folder.apply(scene), folder.apply(scene));
        for (var each : Map.of("FolderStore", folder, "PartnerStore", both).entrySet()) {
            for (String type : List.of(each.getKey(), "CheckpointStore")) {
                stores(all, type, each.getValue());
            }
            // of the rank file that such a store makes
            for (boolean written : new boolean[] {false, true}) {
                all.on("CheckpointStore.RankFile.publish()", scene -> {
                    // a name is given once
                    scene.onlyOnce();
                    CheckpointStore.RankFile file = file(scene, each.getValue().apply(scene));
                    if (written) {
                        write(file);
                    }
                    return FaultCall.on(file);
                });
            }
        }
        all.on("FolderStore.toString()", scene -> FaultCall.on(folder.apply(scene)));
        all.on("PartnerStore.toString()", scene -> FaultCall.on(both.apply(scene)));
        return all;
    }

    private static CheckpointStore.RankFile file(FaultScene scene, CheckpointStore store) {
        try {
            return scene.own(store.create(2, 0));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void write(CheckpointStore.RankFile file) {
        try {
            file.write(ByteBuffer.allocate(4));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void stores(FaultCatalogue all, String type, Function<FaultScene, CheckpointStore> store) {
        all.on(type + ".create(long, int)", scene -> {
            // where it cannot be created, what it left is of another name
            scene.mayVary();
            return FaultCall.on(store.apply(scene), 2L, 0);
        });
        all.on(type + ".publish(long, ByteBuffer)", scene -> {
            // a failure of the last step may come after the rename
            scene.onlyOnce();
            CheckpointStore made = store.apply(scene);
            file(scene, made);
            return FaultCall.with(made, same -> new Object[] {2L, MANIFEST.toBytes()});
        });
        for (String reading : List.of("rank(long, int)", "mapped(long, int)", "manifest(long)")) {
            all.on(type + "." + reading, scene -> {
                scene.mayVary();
                return reading.startsWith("manifest")
                        ? FaultCall.on(store.apply(scene), 1L)
                        : FaultCall.on(store.apply(scene), 1L, 0);
            });
        }
        all.on(type + ".epochs()", scene -> FaultCall.on(store.apply(scene)));
        all.on(type + ".nextEpoch()", scene -> FaultCall.on(store.apply(scene)));
        all.on(type + ".delete(long)", scene -> FaultCall.on(store.apply(scene), 1L));
    }

    private static FaultCatalogue archives(FaultCatalogue all) {
        all.on("CheckpointArchive.of(CheckpointStore)", scene -> FaultCall.on(null, new World(scene).written()));
        all.on("CheckpointArchive.latest()", scene -> FaultCall.on(new World(scene).archive()));
        all.on("CheckpointArchive.manifest(long)", scene -> FaultCall.on(new World(scene).archive(), 1L));
        all.on("CheckpointArchive.verify(CheckpointManifest)", scene -> {
            World world = new World(scene);
            return FaultCall.on(world.archive(), world.manifest);
        });
        all.on("CheckpointArchive.publish(CheckpointManifest)", scene -> {
            scene.onlyOnce();
            World world = new World(scene);
            return FaultCall.on(world.archive(), world.unpublished());
        });
        all.on("CheckpointArchive.write(long, RankImage)", scene -> {
            World world = new World(scene);
            world.written();
            scene.onlyOnce();
            return FaultCall.on(CheckpointArchive.of(world.store), 2L, world.image());
        });
        all.on("CheckpointArchive.write(long, long, RankImage)", scene -> {
            World world = new World(scene);
            world.written();
            scene.onlyOnce();
            return FaultCall.on(CheckpointArchive.of(world.store), 2L, 7L, world.image());
        });
        all.on("CheckpointArchive.read(CheckpointManifest, int, MemorySource, RestoreLimits)", scene -> {
            World world = new World(scene);
            scene.mayVary();
            return FaultCall.on(world.archive(), world.manifest, 0, scene.source(), RestoreLimits.DEFAULT);
        });
        all.on("CheckpointArchive.map(CheckpointManifest, int, RestoreLimits)", scene -> {
            World world = new World(scene);
            scene.mayVary();
            return FaultCall.on(world.archive(), world.manifest, 0, RestoreLimits.DEFAULT);
        });
        return all;
    }

    private static FaultCatalogue images(FaultCatalogue all) {
        all.receiver(RankImage.class, scene -> {
            scene.mayVary();
            return new World(scene).image();
        });
        all.on("RankImage.new(NodeCut, SortedMap)", scene -> {
            scene.mayVary();
            RankImage image = new World(scene).image();
            return FaultCall.on(null, image.cut(), image.states());
        });
        return all;
    }

    private static FaultCatalogue restored(FaultCatalogue all) {
        all.on("Checkpoints.restore(CheckpointStore, long, int, MemorySource, RestoreLimits)", scene -> {
            scene.mayVary();
            return FaultCall.on(null, new World(scene).written(), 1L, 0, scene.source(), RestoreLimits.DEFAULT);
        });
        all.on("Checkpoints.map(CheckpointStore, long, int, RestoreLimits)", scene -> {
            scene.mayVary();
            return FaultCall.on(null, new World(scene).written(), 1L, 0, RestoreLimits.DEFAULT);
        });
        all.on("Checkpoints.mapLatest(CheckpointStore, int, RestoreLimits)", scene -> {
            scene.mayVary();
            return FaultCall.on(null, new World(scene).written(), 0, RestoreLimits.DEFAULT);
        });
        all.on("Checkpoints.restoreLatest(CheckpointStore, int, MemorySource, RestoreLimits)", scene -> {
            scene.mayVary();
            return FaultCall.on(null, new World(scene).written(), 0, scene.source(), RestoreLimits.DEFAULT);
        });
        all.receiver(Restored.class, scene -> {
            scene.mayVary();
            return new World(scene).restored();
        });
        all.on("Restored.load(String, StateLoader)", scene -> {
            scene.mayVary();
            StateLoader loader = state -> {
                scene.points().reachIo("StateLoader.load");
                state.iovec().byteSize();
                scene.points().reachIo("StateLoader.load, done");
            };
            return FaultCall.on(new World(scene).restored(), "state", loader);
        });
        all.on("Restored.into(OobNodeBuilder)", scene -> {
            scene.mayVary();
            return FaultCall.on(new World(scene).restored(), builder(scene));
        });
        all.on("Restored.resume(OobNodeBuilder)", scene -> {
            scene.mayVary();
            scene.onlyOnce();
            return FaultCall.on(new World(scene).restored(), builder(scene));
        });
        return all;
    }

    private static FaultCatalogue nodes(FaultCatalogue all) {
        all.receiver(Checkpoints.class, scene -> new World(scene).checkpoints());
        all.receiver(CheckpointTicket.class, scene -> {
            scene.mayVary();
            return new World(scene).checkpoints().take(Duration.ofMinutes(1));
        });
        all.on("Checkpoints.of(OobNode, CheckpointStore, CheckpointOptions)", scene -> {
            World world = new World(scene);
            scene.mayVary();
            return FaultCall.on(null, world.node(), world.written(), world.options());
        });
        all.on("Checkpoints.take(Duration)", scene -> {
            scene.mayVary();
            return FaultCall.on(new World(scene).checkpoints(), Duration.ofMinutes(1));
        });
        all.on("StateSaver.save()", scene -> FaultCall.on(new World(scene).saver()));
        all.on("StateLoader.load(SealedBuffer)", scene -> {
            StateLoader loader = state -> scene.points().reachIo("StateLoader.load");
            return FaultCall.on(loader, scene.buffer(4));
        });
        return all;
    }

    private static OobNodeBuilder builder(FaultScene scene) {
        return OobNode.builder(0, SIZE)
                .memory(scene.source())
                .security(Security.plaintext())
                .directory(peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));
    }

    /// A disk in memory with one checkpoint of a job of one node, and a node.
    private static final class World {

        final CheckpointStore store;
        CheckpointManifest manifest = MANIFEST;
        private final FaultScene scene;
        private final FaultyDisk disk;

        World(FaultScene scene) {
            this.scene = scene;
            this.disk = new FaultyDisk(scene.points());
            this.store = new FolderStore(ForgetfulDisk.ROOT, disk);
            scene.owed("files open", disk.open::get);
            scene.callBack("store.epochs", () -> {
                try {
                    store.epochs();
                    store.nextEpoch();
                } catch (IOException failure) {
                    throw new UncheckedIOException(failure);
                }
            });
        }

        RankImage image() {
            TreeMap<String, SealedBuffer> states = new TreeMap<>();
            states.put("state", scene.own(Images.bytes(scene.source(), 1, (int) BYTES)));
            states.put("more", scene.lastHandle());
            NodeCut cut = new NodeCut(
                    0,
                    SIZE,
                    List.of(),
                    List.of(new io.bulla.runtime.oob.Message(
                            0, 4, java.util.Optional.empty(), Images.bytes(scene.source(), 2, 41))));
            return scene.own(new RankImage(cut, states));
        }

        CheckpointStore written() {
            manifest = manifest(1);
            try {
                store.publish(1, manifest.toBytes());
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
            return store;
        }

        CheckpointManifest unpublished() {
            return manifest(2);
        }

        private CheckpointManifest manifest(long epoch) {
            try (RankImage image = image()) {
                return new CheckpointManifest(
                        epoch, Images.TAKEN, List.of(CheckpointArchive.of(store).write(epoch, image)));
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        CheckpointArchive archive() {
            return CheckpointArchive.of(written());
        }

        Restored restored() {
            try {
                return scene.own(Checkpoints.restore(written(), 1, 0, scene.source(), RestoreLimits.DEFAULT));
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        OobNode node() {
            try {
                OobNode node = builder(scene).start();
                scene.ownLast(node);
                return node;
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        CheckpointOptions options() {
            return CheckpointOptions.DEFAULT.save("state", saver());
        }

        StateSaver saver() {
            return () -> {
                scene.points().reachIo("StateSaver.save");
                SealedBuffer state = Images.bytes(scene.source(), 1, (int) BYTES);
                try {
                    scene.points().reachIo("StateSaver.save, done");
                } catch (Throwable failed) {
                    state.close();
                    throw failed;
                }
                return state;
            };
        }

        Checkpoints checkpoints() {
            return scene.own(Checkpoints.of(node(), written(), options()));
        }
    }

    /// Fails before and after each step.
    private static final class FaultyDisk implements Disk {

        final AtomicInteger open = new AtomicInteger();
        private final FaultPoints points;
        private final ForgetfulDisk real = new ForgetfulDisk();

        FaultyDisk(FaultPoints points) {
            this.points = points;
        }

        private interface Step {
            void run() throws IOException;
        }

        private void step(String name, Step step) throws IOException {
            points.reachIo("Disk." + name);
            step.run();
            points.reachIo("Disk." + name + ", done");
        }

        @Override
        public void createFolder(Path folder) throws IOException {
            step("createFolder", () -> real.createFolder(folder));
        }

        @Override
        public String attempt() {
            points.reach("Disk.attempt");
            return real.attempt();
        }

        @Override
        public Output create(Path file) throws IOException {
            points.reachIo("Disk.create");
            return new Out(real.create(file));
        }

        @Override
        public ReadableByteChannel open(Path file) throws IOException {
            points.reachIo("Disk.open");
            return new In(real.open(file));
        }

        @Override
        public MemorySegment map(Path file) throws IOException {
            points.reachIo("Disk.map");
            return real.map(file);
        }

        @Override
        public void rename(Path from, Path to) throws IOException {
            step("rename", () -> real.rename(from, to));
        }

        @Override
        public void forceFolder(Path folder) throws IOException {
            step("forceFolder", () -> real.forceFolder(folder));
        }

        @Override
        public void delete(Path path) throws IOException {
            step("delete", () -> real.delete(path));
        }

        @Override
        public boolean exists(Path path) {
            points.reach("Disk.exists");
            return real.exists(path);
        }

        @Override
        public List<String> list(Path folder) throws IOException {
            points.reachIo("Disk.list");
            return real.list(folder);
        }

        private final class Out implements Output {

            private final Output out;
            private boolean closed;

            Out(Output out) {
                this.out = out;
                open.incrementAndGet();
            }

            @Override
            public void force() throws IOException {
                step("force", out::force);
            }

            @Override
            public int write(ByteBuffer bytes) throws IOException {
                points.reachIo("Disk.write");
                return out.write(bytes);
            }

            @Override
            public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
                points.reachIo("Disk.write");
                return out.write(bytes, offset, length);
            }

            @Override
            public long write(ByteBuffer[] bytes) throws IOException {
                return write(bytes, 0, bytes.length);
            }

            @Override
            public boolean isOpen() {
                return !closed;
            }

            /// A descriptor is gone however its close ends.
            @Override
            public void close() throws IOException {
                if (!closed) {
                    closed = true;
                    open.decrementAndGet();
                    out.close();
                    points.reachIo("Disk.close");
                }
            }
        }

        private final class In implements ReadableByteChannel {

            private final ReadableByteChannel in;
            private boolean closed;

            In(ReadableByteChannel in) {
                this.in = in;
                open.incrementAndGet();
            }

            @Override
            public int read(ByteBuffer into) throws IOException {
                points.reachIo("Disk.read");
                return in.read(into);
            }

            @Override
            public boolean isOpen() {
                return !closed;
            }

            @Override
            public void close() throws IOException {
                if (!closed) {
                    closed = true;
                    open.decrementAndGet();
                    in.close();
                    points.reachIo("Disk.close of a reader");
                }
            }
        }
    }
}
