// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.MemoryRegistrationLookup;
import io.bulla.pool.device.MemoryRegistrationUse;
import io.bulla.pool.device.RetireReason;
import io.bulla.posix.file.FixedBufferOperation;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.posix.file.SealedFileWriter;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/// How the operations of `io.bulla.posix.file` are called: with lookups, claims and listeners that may fail or call
/// back.
final class FileCalls {

    private static final int BYTES = 16 << 10;
    private static final int PART = 64;
    private static final int SLOTS = 64;

    private FileCalls() {}

    static void in(FaultCatalogue all, Path folder) {
        tables(all);
        writers(all, folder);
    }

    private static void tables(FaultCatalogue all) {
        PosixCalls.receiver(
                all, FixedBufferTable.class, scene -> World.ofTable(scene).filled());
        all.on("FixedBufferTable.register(Slab, long, long, Access, Peer, long)", scene -> {
            World world = World.ofTable(scene);
            SealedBuffer buffer = world.buffer();
            Slab slab = world.slab(buffer);
            return FaultCall.on(
                    world.table, slab, world.address(buffer) - slab.address(), (long) BYTES, Access.LOCAL, null, 0L);
        });
        all.on("FixedBufferTable.retire(MemoryRegistration, RetireReason, Runnable)", scene -> {
            scene.onlyOnce();
            World world = World.ofTable(scene);
            return FaultCall.on(world.table, world.mark(), RetireReason.IDLE, scene.onRelease());
        });
        for (String then : new String[] {"progress(int)", "close()"}) {
            all.on("FixedBufferTable." + then, scene -> {
                scene.mayVary();
                World world = World.ofTable(scene);
                world.retiredByAnotherThread();
                world.retiredByAnotherThread();
                return FaultCall.on(world.table, then.startsWith("p") ? new Object[] {0} : new Object[0]);
            });
        }
        for (String transfer : new String[] {"send", "receive"}) {
            all.on("FixedBufferTable." + transfer + "(PosixSocket, MemoryRegistration, long, int)", scene -> {
                World world = World.ofTable(scene);
                SealedBuffer buffer = world.buffer();
                MemoryRegistration mark = world.mark(buffer);
                PosixSocket socket = SocketCalls.unixPair(scene)[0];
                return FaultCall.on(world.table, socket, mark, world.address(buffer), PART);
            });
        }
        PosixCalls.receiver(
                all, FixedBufferOperation.class, scene -> World.ofTable(scene).sent());
    }

    private static void writers(FaultCatalogue all, Path folder) {
        PosixCalls.receiver(all, SealedFileWriter.class, scene -> new World(scene).begun(folder));
        for (Function<World, SealedBuffer> buffer : List.<Function<World, SealedBuffer>>of(
                World::buffer, world -> world.scene.lastHandle(), world -> world.scene.buffer(BYTES))) {
            all.on("SealedFileWriter.append(SealedBuffer)", scene -> {
                World world = new World(scene);
                return FaultCall.on(world.writer(folder), buffer.apply(world));
            });
            all.on("SealedFileWriter.append(SealedBuffer)", scene -> {
                World world = new World(scene);
                return FaultCall.on(world.begun(folder), buffer.apply(world));
            });
        }
        all.on("SealedFileWriter.create(Path, FixedBufferTable, MemoryRegistrationLookup, Duration)", scene -> {
            World world = new World(scene);
            List<Path> paths = new ArrayList<>();
            long[] writers = {0};
            scene.owed(
                    "files without a writer",
                    () -> paths.stream().filter(Files::exists).count() - writers[0]);
            return FaultCall.with(null, same -> {
                        paths.add(PosixCalls.fresh(folder));
                        return new Object[] {paths.getLast(), world.table, world.lookup(), PosixCalls.PATIENCE};
                    })
                    .then(writer -> writers[0]++);
        });
    }

    /// Pooled memory, and a table that may know it.
    private static final class World {

        final FaultScene scene;
        final FixedBufferTable table;
        private final SlabSource memory;

        World(FaultScene scene) {
            this.scene = scene;
            scene.mayTake(64 << 20);
            MemoryBudget budget = new MemoryBudget(64 << 20);
            memory = SlabSource.builder()
                    .budget(budget)
                    .idle(Duration.ofHours(1))
                    .trace(scene.trace())
                    .build();
            table = PosixCalls.made(() -> FixedBufferTable.open(SLOTS));
            scene.callBack("table.progress", FailingCalls.back(() -> table.progress(0)));
            scene.ownLast(() -> {
                table.close();
                memory.close(PosixCalls.PATIENCE);
            });
            scene.owed("bytes booked by the pool", budget::used);
        }

        /// Whose table may be closed by what it calls.
        static World ofTable(FaultScene scene) {
            World world = new World(scene);
            scene.callBack("table.close", world.table::close);
            return world;
        }

        SealedBuffer buffer() {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, BYTES)) {
                return scene.own(builder.put(FaultScene.bytes(BYTES, 6)).seal());
            }
        }

        Slab slab(SealedBuffer buffer) {
            return Objects.requireNonNull(Slab.of(buffer.iovec(), 0), "slab");
        }

        long address(SealedBuffer buffer) {
            return buffer.iovec().lent().region(0).address();
        }

        FixedBufferTable filled() {
            mark();
            return table;
        }

        MemoryRegistration mark() {
            return mark(buffer());
        }

        MemoryRegistration mark(SealedBuffer buffer) {
            Slab slab = slab(buffer);
            long offset = address(buffer) - slab.address();
            return PosixCalls.made(() -> table.register(slab, offset, BYTES, Access.LOCAL, null, 0));
        }

        /// Taken up by the next call of the table's thread.
        void retiredByAnotherThread() {
            MemoryRegistration mark = mark();
            Runnable free = scene.onRelease();
            PosixCalls.made(() -> {
                Thread other = Thread.ofPlatform().start(() -> table.retire(mark, RetireReason.IDLE, free));
                other.join();
                return null;
            });
        }

        FixedBufferOperation sent() {
            SealedBuffer buffer = buffer();
            MemoryRegistration mark = mark(buffer);
            PosixSocket socket = SocketCalls.unixPair(scene)[0];
            return PosixCalls.made(() -> {
                FixedBufferOperation sent = table.send(socket, mark, address(buffer), PART);
                PosixCalls.await(() -> PosixCalls.made(() -> table.progress(1)) >= 0 && sent.isDone());
                return sent;
            });
        }

        SealedFileWriter writer(Path folder) {
            SealedFileWriter writer = PosixCalls.made(() ->
                    scene.own(SealedFileWriter.create(PosixCalls.fresh(folder), table, lookup(), PosixCalls.PATIENCE)));
            scene.callBack("writer.append", FailingCalls.back(() -> writer.append(scene.buffer(PART))));
            scene.callBack("writer.close", FailingCalls.back(writer::close));
            return writer;
        }

        /// With bytes that are not written yet.
        SealedFileWriter begun(Path folder) {
            SealedFileWriter writer = writer(folder);
            PosixCalls.made(() -> writer.append(scene.buffer(PART)));
            return writer;
        }

        /// Knows the memory of the pool.
        MemoryRegistrationLookup lookup() {
            FaultPoints points = scene.points();
            return (buffer, region) -> {
                points.reach("MemoryRegistrationLookup.use");
                if (Slab.of(buffer.iovec(), region) == null) {
                    return null;
                }
                MemoryRegistration mark = mark(buffer);
                points.reach("MemoryRegistrationLookup.use, done");
                return new Known(points, mark);
            };
        }
    }

    private record Known(FaultPoints points, MemoryRegistration registration) implements MemoryRegistrationUse {
        @Override
        public void close() {
            points.reach("MemoryRegistrationUse.close, done");
        }
    }
}
