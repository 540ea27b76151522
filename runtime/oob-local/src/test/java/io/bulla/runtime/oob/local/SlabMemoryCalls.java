// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// How the operations of `runtime/oob-local` are called: with a listener of the slabs' handles that may fail or call
/// back, on any thread of a lender and a borrower.
final class SlabMemoryCalls {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int BYTES = 100;

    private SlabMemoryCalls() {}

    /// @param folder for the sockets
    static FaultCatalogue all(Path folder) {
        FaultCatalogue all = new FaultCatalogue("oob-local", SlabMemory.class);
        for (String open : List.of("open", "openAcrossNamespaces")) {
            all.around(
                    "SlabMemory." + open + "(Path, SharedSlabSource, SlabQuota)",
                    call -> way(folder, world -> {
                        SlabMemory opened = (SlabMemory) call.on(null, world.folder, world.slabs, SlabQuota.standard());
                        opened.close(PATIENCE);
                        return "opened";
                    }));
        }
        all.around(
                "SlabMemory.figures()",
                asked -> way(folder, world -> asked.on(world.memory).getClass().getSimpleName()));
        all.around(
                "SlabMemory.toString()",
                asked -> way(folder, world -> asked.on(world.memory).getClass().getSimpleName()));
        all.around(
                "SlabMemory.invite(int)",
                invite -> way(folder, world -> {
                    try (LocalMemory.Lender lender = (LocalMemory.Lender) invite.on(world.memory, 1)) {
                        return lender.leases();
                    }
                }));
        all.around("SlabMemory.borrow(int, byte[])", borrow -> way(folder, world -> world.borrow(borrow)));
        all.around("SlabMemory.close()", close -> way(folder, world -> close.on(world.memory)));
        return all.around(
                "SlabMemory.close(Duration)", close -> way(folder, world -> close.on(world.memory, PATIENCE)));
    }

    @FunctionalInterface
    private interface Use {
        Object on(World world) throws Exception;
    }

    private static Operation way(Path folder, Use use) {
        return scene -> {
            scene.points().everyThread();
            scene.mayTake(64 << 20);
            World world = new World(scene, folder);
            return () -> use.on(world);
        };
    }

    /// Slabs, and a memory that lends and borrows them.
    private static final class World {

        final Path folder;
        final SharedSlabSource slabs;
        final SlabMemory memory;
        private final FaultPoints points;
        // volatile: of any thread
        private volatile boolean closed;

        World(FaultScene scene, Path parent) throws IOException {
            points = scene.points();
            // a peer that cannot be lent something gets bytes
            scene.mayVary();
            folder = Files.createTempDirectory(
                    parent, "f", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            MemoryBudget budget = new MemoryBudget(16 * SlabSource.SLAB);
            slabs = SharedSlabSource.create(SlabSource.builder().budget(budget).trace(scene.trace()));
            memory = SlabMemory.open(folder, slabs, SlabQuota.standard());
            scene.ownLast(() -> {
                memory.close(PATIENCE);
                slabs.close(PATIENCE);
            });
            scene.owed("bytes booked", budget::used);
            scene.owed("files in the folder", () -> folder.toFile().list().length);
            scene.callBack("memory.figures", memory::figures);
            scene.callBack("memory.invite", () -> memory.invite(3).close());
            scene.callBack("memory.close", () -> {
                closed = true;
                memory.close();
            });
        }

        /// Whatever fails for one peer, the next one is lent something.
        Object borrow(Member borrow) throws Exception {
            try {
                return lent(lender -> (CompletionStage<?>) borrow.on(memory, 2, lender.invitation()));
            } catch (IOException refused) {
                if (points.failed() == null) {
                    throw refused;
                }
                throw new UnsupportedOperationException("the lender has ended the connection, and says so", refused);
            } finally {
                if (!closed) {
                    try {
                        lent(lender -> memory.borrow(2, lender.invitation()));
                    } catch (TimeoutException never) {
                        throw new AssertionError("the next peer is lent nothing", never);
                    } catch (Exception | Error failure) {
                        // this one's turn: the one before passed
                        if (points.failed() == null) {
                            throw failure;
                        }
                    }
                }
            }
        }

        @FunctionalInterface
        private interface Borrowed {
            CompletionStage<?> by(LocalMemory.Lender lender) throws Exception;
        }

        private Object lent(Borrowed borrowed) throws Exception {
            try (LocalMemory.Lender lender = memory.invite(1);
                    LocalMemory.Borrower borrower = (LocalMemory.Borrower)
                            borrowed.by(lender).toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                    BufferBuilder builder = BufferBuilder.create(slabs);
                    SealedBuffer message = builder.put(new byte[BYTES]).seal()) {
                ByteBuffer place = ByteBuffer.allocate(LocalMemory.MOST_BYTES);
                if (!lender.isProof(borrower.proof()) || !lender.lend(message, place)) {
                    return "not lent";
                }
                try (SealedBuffer same = borrower.open(place.flip())) {
                    return same.byteSize();
                }
            } catch (ExecutionException failed) {
                if (closed) {
                    throw new IllegalStateException("memory is closed already", failed);
                }
                throw failed.getCause() instanceof Exception cause ? cause : failed;
            }
        }
    }
}
