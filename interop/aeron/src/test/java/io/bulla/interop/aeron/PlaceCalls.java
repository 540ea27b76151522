// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.PosixException;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/// How the operations of lending by Aeron are called: with a listener of handles that may fail or call back.
final class PlaceCalls {

    private static final String IPC = "aeron:ipc?term-length=64k";
    private static final int BYTES = 300;
    private static final List<String> NUMBERS =
            List.of("AeronLender.toString()", "AeronLender.isOverAeron()", "AeronLender.byAeron()");

    private PlaceCalls() {}

    /// @param media `null` if nothing is run
    static void in(FaultCatalogue all, Embedded media, Path folder) {
        for (boolean over : new boolean[] {false, true}) {
            all.receiver(AeronLender.class, scene -> new World(scene, media, folder).lent(over).lender);
            all.receiver(AeronBorrower.class, scene -> new World(scene, media, folder).lent(over).borrower);
            all.around("AeronLender.lend(SealedBuffer)", lend -> scene -> {
                World world = new World(scene, media, folder).lent(over);
                SealedBuffer message = world.sealed();
                return () -> named(() -> lend.on(world.lender, message));
            });
            all.around("AeronLender.poll()", poll -> scene -> {
                // what there is to take in is taken in once
                scene.mayVary();
                World world = new World(scene, media, folder).lent(over);
                world.opened.forEach(SealedBuffer::close);
                return () -> named(() -> poll.on(world.lender));
            });
            all.on("AeronBorrower.poll()", scene -> {
                // the next one may be there or not
                scene.mayVary();
                World world = new World(scene, media, folder).lent(over);
                made(() -> world.lender.lend(world.sealed()));
                return FaultCall.on(world.borrower).then(message -> {
                    if (message != null) {
                        scene.own((SealedBuffer) message);
                    }
                });
            });
            for (String text : NUMBERS) {
                all.on(text, scene -> {
                    scene.mayVary();
                    return FaultCall.on(new World(scene, media, folder).lent(over).lender);
                });
            }
            for (String text : new String[] {"AeronBorrower.toString()", "AeronBorrower.isOverAeron()"}) {
                all.on(text, scene -> {
                    scene.mayVary();
                    return FaultCall.on(new World(scene, media, folder).lent(over).borrower);
                });
            }
        }
        all.on("AeronLender.over(SlabPeer, ExclusivePublication, Subscription)", scene -> {
            World world = new World(scene, media, folder);
            return FaultCall.on(null, world.peer, world.places, world.returns);
        });
        all.on("AeronBorrower.over(SlabBorrower, Subscription, ExclusivePublication)", scene -> {
            // a second one is refused
            scene.mayVary();
            World world = new World(scene, media, folder);
            SlabBorrower other = made(() -> SlabBorrower.connect(world.slabs.path(), 8, scene.source(), 1 << 20));
            scene.own((AutoCloseable) other::close);
            return FaultCall.on(null, other, world.placesHere, world.returnsHere);
        });
    }

    /// With the end of a borrower told in the way of the other modules.
    private static Object named(Callable<Object> call) throws Exception {
        try {
            return call.call();
        } catch (PosixException.PeerClosed gone) {
            throw new IllegalStateException("over already: " + gone.getMessage(), gone);
        }
    }

    private static <T> T made(Callable<T> one) {
        try {
            return one.call();
        } catch (Exception failure) {
            throw new IllegalStateException("cannot be made ready", failure);
        }
    }

    /// A lender and a borrower, of streams of their own; all of it ends with the scene.
    private static final class World {

        private static int streams = 1000;

        final FaultScene scene;
        final SharedSlabSource memory;
        final SlabLender slabs;
        final SlabPeer peer;
        final ExclusivePublication places;
        final Subscription returns;
        final Subscription placesHere;
        final ExclusivePublication returnsHere;
        final AeronLender lender;
        final AeronBorrower borrower;
        final List<SealedBuffer> opened = new ArrayList<>();

        World(FaultScene scene, Embedded media, Path parent) {
            this.scene = scene;
            scene.points().everyThread();
            scene.mayTake(64 << 20);
            Aeron aeron = media.aeron;
            int stream = streams += 2;
            memory = SharedSlabSource.create(
                    SlabSource.builder().idle(Duration.ofHours(1)).trace(scene.trace()));
            slabs = made(() -> SlabLender.open(
                    Files.createDirectory(
                            parent.resolve("w" + stream),
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))),
                    memory,
                    SlabQuota.standard()));
            places = aeron.addExclusivePublication(IPC, stream);
            returns = aeron.addSubscription(IPC, stream + 1);
            placesHere = aeron.addSubscription(IPC, stream);
            returnsHere = aeron.addExclusivePublication(IPC, stream + 1);
            SlabBorrower plain = made(() -> SlabBorrower.connect(slabs.path(), 7, scene.source(), 1 << 20));
            peer = Objects.requireNonNull(made(() -> slabs.accept(LendingPair.PATIENCE)));
            lender = AeronLender.over(peer, places, returns);
            borrower = AeronBorrower.over(plain, placesHere, returnsHere);
            scene.ownLast(this::end);
            scene.callBack("lender.lend", this::lendAnother);
            scene.callBack("lender.poll", this::pollLender);
            scene.callBack("borrower.close", borrower::close);
            scene.callBack("peer.close", peer::close);
        }

        /// Three messages that were received, over Aeron or the socket.
        World lent(boolean overAeron) {
            if (overAeron) {
                LendingPair.await(() -> {
                    LendingPair.poll(lender);
                    LendingPair.none(borrower);
                    return lender.isOverAeron() && borrower.isOverAeron();
                });
            }
            for (int i = 0; i < 3; i++) {
                made(() -> lender.lend(sealed()));
            }
            LendingPair.await(() -> {
                SealedBuffer message = LendingPair.none(borrower);
                if (message != null) {
                    opened.add(scene.own(message));
                }
                return opened.size() == 3;
            });
            return this;
        }

        SealedBuffer sealed() {
            try (BufferBuilder builder = BufferBuilder.create(memory)) {
                return scene.own(builder.put(FaultScene.bytes(BYTES, 4)).seal());
            }
        }

        private void lendAnother() {
            try (SealedBuffer other = BufferBuilder.create(memory).putInt(1).seal()) {
                lender.lend(other);
            } catch (IOException | IllegalStateException refused) {
                // the borrower is gone, or this is within a call
            }
        }

        private void pollLender() {
            try {
                lender.poll();
            } catch (IOException | IllegalStateException refused) {
                // as above
            }
        }

        private void end() throws InterruptedException {
            borrower.close();
            slabs.close(LendingPair.PATIENCE);
            memory.close(LendingPair.PATIENCE);
            places.close();
            returns.close();
            placesHere.close();
            returnsHere.close();
        }
    }
}
