// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.fabric.FailingLibfabric.Mode;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultRun.Operation;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// How the operations of `runtime/oob-fabric` are called: with memory, completions and listeners that may fail or
/// call back, over libfabric whose calls may fail, on each thread.
final class BulkCalls {

    private static final int MIB = 1 << 20;

    @FunctionalInterface
    interface Use {
        @Nullable
        Object on(BulkWorld world) throws Exception;
    }

    @FunctionalInterface
    private interface Made {
        BulkWorld of(BulkWorld world) throws Exception;
    }

    private final Mode mode;
    private final FaultCatalogue all;

    private BulkCalls(Mode mode) {
        this.mode = mode;
        this.all = new FaultCatalogue("oob-fabric", FabricBulk.class)
                .values(type -> scene -> type == Object.class ? "another" : 4L)
                .records(type -> scene -> new BulkFigures(1, 2, 3, 4, 5));
    }

    static FaultCatalogue all(Mode mode) {
        return new BulkCalls(mode).of();
    }

    private FaultCatalogue of() {
        all.around(
                "FabricBulk.open(String, SlabSource, PinBudget, Duration)",
                open -> way(world -> world, world -> {
                    world.opened((FabricBulk)
                                    open.on(null, BulkWorld.PROVIDER, world.memory, world.pins, BulkWorld.PATIENCE))
                            .close();
                    return "opened";
                }));
        for (Made made : List.<Made>of(BulkWorld::opened, BulkWorld::busy)) {
            all.around(
                    "FabricBulk.close()",
                    close -> way(made, world -> {
                        close.on(world.bulk());
                        world.awaitVerdict();
                        return "closed";
                    }));
        }
        for (String asked : List.of("figures()", "registrations()", "toString()")) {
            all.around(
                    "FabricBulk." + asked,
                    member -> way(
                            BulkWorld::busy,
                            world -> member.on(world.bulk()).getClass().getSimpleName()));
        }
        all.around("FabricBulk.open(String, Consumer)", open -> way(BulkWorld::opened, world -> world.carry(open)));
        return all.around(
                "FabricBulk.open(String, Consumer)", open -> way(BulkWorld::opened, world -> sent(world, open)));
    }

    private Operation way(Made made, Use use) {
        return scene -> {
            BulkWorld world = made.of(new BulkWorld(scene, mode)).ready();
            return () -> world.run(use);
        };
    }

    /// Whatever fails or ends, a message between nodes arrives once, and its send has one outcome.
    private static Object sent(BulkWorld world, Member open) throws Exception {
        Nodes nodes = new Nodes(world.bulk(), open);
        try (nodes) {
            byte[] bytes = nodes.random(MIB);
            var send = nodes.send(0, bytes);
            byte[] arrived = nodes.next(1);
            if (!Arrays.equals(bytes, arrived)) {
                throw new AssertionError(arrived == null ? "a message is lost" : "other bytes arrived");
            }
            send.get(BulkWorld.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        if (!nodes.got.get(1).isEmpty()) {
            throw new AssertionError("a message arrived twice");
        }
        return "sent";
    }

    private static final class Nodes extends FabricBulkTest.Scene {

        Nodes(FabricBulk bulk, Member open) throws IOException {
            BulkTransport transport = new BulkTransport() {
                @Override
                public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
                    try {
                        return (BulkLine) open.on(bulk, peer, failed);
                    } catch (IOException | RuntimeException refused) {
                        throw refused;
                    } catch (Exception other) {
                        throw new IllegalStateException(other);
                    }
                }

                @Override
                public void close() {}
            };
            start(transport, () -> 0);
            start(transport, () -> 0);
        }
    }
}
