// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.internal.calls.SharedMappings;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.util.List;
import java.util.function.Function;

/// How the operations of `io.bulla.posix.memfd` are called: with listeners that may fail or call back.
final class MemoryFileCalls {

    private static final int BYTES = 5000;
    private static final long FORMAT = 7;

    private MemoryFileCalls() {}

    static void in(FaultCatalogue all) {
        sources(all);
        handoffs(all);
    }

    private static void sources(FaultCatalogue all) {
        all.receiver(MemfdSource.class, MemoryFileCalls::source);
        all.on(
                "MemfdSource.allocate(long)",
                scene -> FaultCall.on(source(scene), 400L).then(region -> released(scene, (Region) region)));
        all.on("MemfdSource.grow(MemorySource.Region, long)", scene -> {
            // nothing, where the system has no more
            scene.mayVary();
            return onRegion(scene, BYTES);
        });
        all.on("MemfdSource.seal(MemorySource.Region, long)", scene -> onRegion(scene, 4L));
        for (String asked : new String[] {
            "MappingProtection.ofKernel()", "MemfdSource.create()", "MemfdSource.create(MemoryBudget, LeaseTrace)"
        }) {
            all.on(asked, scene -> {
                // a kernel that forbids a shared mapping has private ones
                scene.mayVary();
                Object[] given = asked.contains("Budget")
                        ? new Object[] {new MemoryBudget(1 << 20), scene.trace()}
                        : new Object[0];
                return FaultCall.with(null, same -> {
                    // what the kernel can do is tried again
                    SharedMappings.forget();
                    return given;
                });
            });
        }
    }

    private static FaultCall onRegion(FaultScene scene, long bytes) {
        MemfdSource source = source(scene);
        return FaultCall.on(source, released(scene, source.allocate(64)), bytes);
    }

    private static Region released(FaultScene scene, Region region) {
        AutoCloseable back = region::release;
        scene.own(back);
        return region;
    }

    /// Whose memory is unmapped, and booked off, before the scene is over.
    static MemfdSource source(FaultScene scene) {
        MemoryBudget budget = new MemoryBudget(64 << 20);
        MemfdSource source = MemfdSource.create(budget, scene.trace());
        scene.ownLast(() -> PosixCalls.await(() -> budget.used() == 0));
        scene.owed("bytes booked in memory files", budget::used);
        return source;
    }

    private static SealedBuffer sealed(FaultScene scene, MemfdSource source) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, BYTES)) {
            return scene.own(builder.put(FaultScene.bytes(BYTES, 3)).seal());
        }
    }

    private static void handoffs(FaultCatalogue all) {
        PosixCalls.receiver(all, SealedFileHandoff.class, MemoryFileCalls::handoff);
        List<Function<FaultScene, SealedBuffer>> contents = List.of(
                scene -> sealed(scene, source(scene)),
                // copied
                FaultScene::lastHandle,
                scene -> scene.own(BufferBuilder.create(source(scene)).seal()));
        for (Function<FaultScene, SealedBuffer> content : contents) {
            for (String made : List.of("share", "move")) {
                all.on("SealedFileHandoff." + made + "(SealedBuffer, long, MemfdSource)", scene -> {
                    MemfdSource copies = source(scene);
                    return FaultCall.with(null, same -> new Object[] {content.apply(scene), FORMAT, copies});
                });
            }
        }
        all.on(
                "SealedFileHandoff.sendTo(PosixSocket)",
                scene -> FaultCall.on(handoff(scene), SocketCalls.unixPair(scene)[0]));
        all.on(
                "SealedFileHandoff.receiveFrom(PosixSocket, long)",
                scene -> FaultCall.on(null, handedOver(scene), (long) BYTES));
        all.on("SealedFileHandoff.receiveFrom(PosixSocket, long, MemoryBudget)", scene -> {
            MemoryBudget budget = new MemoryBudget(64 << 20);
            scene.ownLast(() -> PosixCalls.await(() -> budget.used() == 0));
            scene.owed("bytes booked for holes", budget::used);
            return FaultCall.on(null, handedOver(scene), (long) BYTES, budget);
        });
    }

    private static SealedFileHandoff handoff(FaultScene scene) {
        MemfdSource source = source(scene);
        SealedFileHandoff handoff = scene.own(
                SealedFileHandoff.move(sealed(scene, source), FORMAT, source).moveWithDigest());
        scene.callBack("handoff.share", () -> handoff.share().close());
        scene.callBack("handoff.close", handoff::close);
        return handoff;
    }

    /// A socket in which two hand-overs wait, and then the end.
    private static PosixSocket handedOver(FaultScene scene) {
        PosixSocket[] pair = SocketCalls.unixPair(scene);
        return PosixCalls.made(() -> {
            try (SealedFileHandoff handoff = handoff(scene)) {
                handoff.sendTo(pair[1]);
                handoff.sendTo(pair[1]);
            }
            pair[1].close();
            return pair[0];
        });
    }
}
