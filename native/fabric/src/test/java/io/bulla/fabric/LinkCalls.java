// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.FabricWorld.Hears;
import io.bulla.pool.device.Peer;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/// How the operations of links are called: two ends of one domain, with listeners that may fail or call back.
final class LinkCalls {

    private static final List<Function<FaultScene, SealedBuffer>> HANDLES =
            List.of(scene -> scene.buffer(FabricWorld.BYTES), FaultScene::lastHandle);

    private LinkCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        all.receiver(FabricLink.class, scene -> new Ends(scene).left);
        for (String said : new String[] {"name()", "toString()"}) {
            all.on("FabricLink." + said, scene -> {
                scene.mayVary();
                return FaultCall.on(new Ends(scene).left);
            });
        }
        all.on("FabricLink.connect(byte[])", scene -> {
            Ends ends = new Ends(scene);
            return FaultCall.on(ends.left, (Object) ends.right.name());
        });
        all.on(
                "FabricLink.open(FabricDomain, Registrations, SlabSource, Peer, LinkLimits, FabricLink.Listener)",
                scene -> {
                    FabricWorld world = new FabricWorld(scene);
                    return FaultCall.on(
                            null,
                            world.domain,
                            world.registrations,
                            world.pool,
                            FabricWorld.READER,
                            LinkLimits.USUAL,
                            new Hears(scene));
                });
        for (Function<FaultScene, SealedBuffer> handle : HANDLES) {
            all.on("FabricLink.send(SealedBuffer)", scene -> {
                Ends ends = new Ends(scene);
                return FaultCall.with(ends.left, same -> {
                            SealedBuffer buffer = handle.apply(scene);
                            ends.expect(buffer);
                            return new Object[] {buffer};
                        })
                        .then(sent -> ends.until(((LinkSend) sent)::isDone));
            });
            all.receiver(LinkSend.class, scene -> {
                scene.mayVary();
                return new Ends(scene).cleared(handle.apply(scene));
            });
            all.on("FabricLink.fail(String)", scene -> {
                Ends ends = new Ends(scene);
                ends.cleared(handle.apply(scene));
                return FaultCall.on(ends.left, "verdict");
            });
            all.on("FabricLink.fail(String)", scene -> {
                Ends ends = new Ends(scene);
                ends.cleared(handle.apply(scene));
                return FaultCall.on(ends.right, "verdict");
            });
            all.on("FabricLink.close()", scene -> {
                Ends ends = new Ends(scene);
                ends.cleared(handle.apply(scene));
                return FaultCall.on(ends.right);
            });
            for (boolean right : new boolean[] {false, true}) {
                all.around("FabricLink.progress()", progress -> scene -> {
                    Ends ends = new Ends(scene);
                    ends.send(handle.apply(scene));
                    ends.send(scene.buffer(64));
                    return () -> {
                        ends.progress(right, progress::on);
                        return null;
                    };
                });
            }
        }
        all.on("FabricLink.Listener.onBufferMoved(SealedBuffer)", scene -> {
            Hears hears = new Hears(scene);
            return FaultCall.with(hears, same -> new Object[] {scene.buffer(64)});
        });
        all.on(
                "FabricLink.Listener.failed(Peer, String, List)",
                scene -> FaultCall.on(new Hears(scene), FabricWorld.READER, "why", List.of()));
        return all;
    }

    private interface Looked {
        Object on(FabricLink link) throws Exception;
    }

    /// Both ends of a link.
    private static final class Ends {

        final FabricLink left;
        final FabricLink right;
        private final FabricWorld world;
        private final Hears atLeft;
        private final Hears atRight;
        private final List<LinkSend> sends = new ArrayList<>();
        private int sent;

        Ends(FaultScene scene) {
            world = new FabricWorld(scene);
            atLeft = new Hears(scene);
            atRight = new Hears(scene);
            left = open(FabricWorld.READER, atLeft);
            right = open(FabricWorld.WRITER, atRight);
            FabricWorld.made(() -> {
                left.connect(right.name());
                right.connect(left.name());
                return null;
            });
            scene.owed("buffers heard of more than once", () -> Math.max(0, atRight.received - sent));
            scene.owed("buffers with other bytes", () -> atRight.wrong);
            scene.owed(
                    "failures heard of more than once",
                    () -> Math.max(0, atLeft.failed - 1) + Math.max(0, atRight.failed - 1));
            scene.callBack("left.fail", () -> left.fail("called back"));
            scene.callBack("left.close", left::close);
            scene.callBack("right.fail", cutShort(() -> right.fail("called back")));
            scene.callBack("right.close", cutShort(right::close));
            scene.callBack("left.progress", left::progress);
            scene.callBack("right.progress", right::progress);
            scene.callBack("left.send", FailingFabric.back(() -> {
                try (SealedBuffer other = world.pooled(64)) {
                    expect(other);
                    left.send(other);
                }
            }));
        }

        private FabricLink open(Peer peer, Hears listener) {
            return world.scene.own(FabricWorld.made(() ->
                    FabricLink.open(world.domain, world.registrations, world.pool, peer, LinkLimits.USUAL, listener)));
        }

        /// A grant that this thread is making has no end as long as it is called back: the wait for it is cut short.
        private static Runnable cutShort(Runnable step) {
            return () -> {
                Thread.currentThread().interrupt();
                try {
                    step.run();
                } finally {
                    Thread.interrupted();
                }
            };
        }

        void expect(SealedBuffer buffer) {
            sent++;
            atRight.expected.add(buffer.toByteArray());
        }

        LinkSend send(SealedBuffer buffer) {
            expect(buffer);
            LinkSend send = FabricWorld.made(() -> left.send(buffer));
            sends.add(send);
            return send;
        }

        /// The receiver has memory for it and says so, which the sender has not taken up.
        LinkSend cleared(SealedBuffer buffer) {
            LinkSend send = send(buffer);
            until(() -> world.registrations.figures().marks() > 0, right);
            return send;
        }

        boolean isOver() {
            return left.failure() != null || right.failure() != null;
        }

        void until(BooleanSupplier condition) {
            until(condition, left, right);
        }

        private void until(BooleanSupplier condition, FabricLink... links) {
            long end = System.nanoTime() + FabricWorld.PATIENCE.toNanos();
            while (!condition.getAsBoolean() && !isOver()) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("waits in vain: " + left + " " + right);
                }
                for (FabricLink each : links) {
                    each.progress();
                }
            }
        }

        /// The end that is looked at, and the other one, until all has arrived.
        void progress(boolean ofRight, Looked looked) throws Exception {
            long end = System.nanoTime() + FabricWorld.PATIENCE.toNanos();
            do {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("waits in vain: " + left + " " + right);
                }
                looked.on(ofRight ? right : left);
                (ofRight ? left : right).progress();
            } while (!isOver() && !(sends.stream().allMatch(LinkSend::isDone) && atRight.received >= arrive()));
        }

        /// Those that were not refused.
        private long arrive() {
            return sends.stream()
                    .filter(each -> {
                        try {
                            each.await(FabricWorld.PATIENCE);
                            return true;
                        } catch (FabricException | TimeoutException refused) {
                            return false;
                        }
                    })
                    .count();
        }
    }
}
