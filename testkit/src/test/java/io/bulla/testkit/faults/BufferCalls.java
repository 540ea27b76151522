// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.RecordWriter;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.util.List;
import java.util.function.Function;

/// How the operations of `buffer-core` are called.
final class BufferCalls {

    private static final List<String> SHARING = List.of(
            "share()",
            "share(Object)",
            "shares(int)",
            "shares(int, Object)",
            "slice(long, long)",
            "move()",
            "move(Object)",
            "iovec()");

    private BufferCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        return readers(sources(builders(sealed(all))));
    }

    private static FaultCatalogue sealed(FaultCatalogue all) {
        all.receiver(SealedBuffer.class, scene -> scene.buffer(300))
                .receiver(SealedBuffer.class, FaultScene::lastHandle)
                .receiver(SealedBuffer.class, BufferCalls::joined);
        for (String operation : SHARING) {
            Object[] arguments = operation.contains("long")
                    ? new Object[] {4L, 4L}
                    : operation.contains("int, Object")
                            ? new Object[] {4, "tag"}
                            : operation.contains("int")
                                    ? new Object[] {4}
                                    : operation.contains("Object") ? new Object[] {"tag"} : new Object[0];
            for (Function<FaultScene, SealedBuffer> on :
                    List.<Function<FaultScene, SealedBuffer>>of(scene -> scene.buffer(300), FaultScene::lastHandle)) {
                all.on("SealedBuffer." + operation, scene -> {
                    scene.noCopy();
                    return FaultCall.on(on.apply(scene), arguments);
                });
            }
        }
        all.on("SealedBuffer.concat(SealedBuffer[])", scene -> {
            scene.noCopy();
            SealedBuffer[] parts = {scene.buffer(300), scene.lastHandle(), joined(scene)};
            return FaultCall.on(null, (Object) parts);
        });
        // a slice that is copied, and a handle that is shared
        all.on(
                "SealedBuffer.compact(MemorySource, double)",
                scene -> FaultCall.on(scene.own(scene.buffer(300).slice(0, 8)), scene.source(), 0.5));
        all.on(
                "SealedBuffer.compact(MemorySource, double)",
                scene -> FaultCall.on(scene.buffer(300), scene.source(), 0.5));
        return all;
    }

    private static FaultCatalogue readers(FaultCatalogue all) {
        return all.receiver(BufferReader.class, scene -> scene.watch(BufferReader.of(scene.buffer(600))))
                .receiver(BufferReader.class, scene -> scene.watch(BufferReader.of(scene.lastHandle())));
    }

    private static SealedBuffer joined(FaultScene scene) {
        return scene.own(SealedBuffer.concat(scene.buffer(100), scene.lastHandle()));
    }

    private static FaultCatalogue builders(FaultCatalogue all) {
        all.receiver(BufferBuilder.class, scene -> scene.builder(0))
                .receiver(BufferBuilder.class, scene -> scene.builder(16))
                .receiver(BufferBuilder.class, scene -> scene.builderWithRoom(100))
                .receiver(BufferBuilder.class, FaultScene::builderOfManyRegions)
                .receiver(BufferBuilder.class, PoolCalls::builder)
                // of a builder that is not looked at: a look leaves the record open, and it refuses all else
                .receiver(
                        RecordWriter.class,
                        scene -> scene.own(BufferBuilder.create(scene.source())).record(64));
        all.on(
                "RecordWriter.end()",
                scene -> FaultCall.on(scene.builder(16).record(4).putInt(1)));
        for (String array : new String[] {"short", "int", "long"}) {
            String name = "BufferBuilder.put" + Character.toUpperCase(array.charAt(0)) + array.substring(1) + "s("
                    + array + "[], int, int)";
            for (Function<FaultScene, BufferBuilder> on : List.<Function<FaultScene, BufferBuilder>>of(
                    scene -> scene.builder(16), FaultScene::builderOfManyRegions)) {
                all.on(name, scene -> {
                    scene.mayKeepPart();
                    return FaultCall.with(on.apply(scene), same -> new Object[] {values(array), 4, 3000});
                });
            }
        }
        // 5136 bytes: back over two regions
        for (int left : new int[] {0, 4}) {
            all.on("BufferBuilder.truncate(long)", scene -> {
                scene.mayEndAt(left);
                return FaultCall.on(scene.builderOfManyRegions(), (long) left);
            });
            all.on("BufferBuilder.truncate(long)", scene -> {
                scene.mayEndAt(left);
                return FaultCall.on(scene.builder(16), (long) left);
            });
        }
        for (String put : new String[] {"put(byte[])"}) {
            all.on(
                    "BufferBuilder." + put,
                    scene -> FaultCall.on(scene.builder(16), (Object) FaultScene.bytes(5000, 1)));
            all.on(
                    "BufferBuilder." + put,
                    scene -> FaultCall.on(scene.builderOfManyRegions(), (Object) FaultScene.bytes(50_000, 1)));
        }
        for (String read : new String[] {"readFully", "readFrom"}) {
            all.on(
                    "BufferBuilder." + read + "(ReadableByteChannel, long)",
                    scene -> FaultCall.with(scene.builder(16), same -> channel(scene)));
            all.on(
                    "BufferBuilder." + read + "(ReadableByteChannel, long)",
                    scene -> FaultCall.with(scene.builderOfManyRegions(), same -> channel(scene)));
        }
        return all;
    }

    private static Object[] channel(FaultScene scene) {
        return new Object[] {Doubles.readable(scene.points(), FaultScene.bytes(900, 6)), 800L};
    }

    private static Object values(String array) {
        return switch (array) {
            case "short" -> new short[4000];
            case "int" -> new int[4000];
            default -> new long[4000];
        };
    }

    private static FaultCatalogue sources(FaultCatalogue all) {
        all.receiver(ArenaSource.class, Fixtures::arena)
                .receiver(ArenaSource.Builder.class, scene -> ArenaSource.builder())
                .receiver(MemorySource.class, FaultScene::source)
                .receiver(Region.class, Fixtures::region)
                .receiver(MemoryBudget.class, scene -> new MemoryBudget(1 << 20));
        all.arguments("ArenaSource.Builder.chunkBytes(long)", 1L << 16);
        for (String type : new String[] {"ArenaSource", "MemorySource"}) {
            all.on(
                    type + ".allocate(long)",
                    scene -> FaultCall.on(source(type, scene), 400L)
                            .then(region -> Fixtures.released(scene, (Region) region)));
            all.on(type + ".grow(MemorySource.Region, long)", scene -> onRegion(scene, source(type, scene), 400L));
            all.on(type + ".seal(MemorySource.Region, long)", scene -> onRegion(scene, source(type, scene), 4L));
        }
        all.on("MemorySource.Region.release()", scene -> {
            scene.onlyOnce();
            return FaultCall.on(scene.source().allocate(64));
        });
        all.on("MemoryBudget.give(long)", scene -> {
            MemoryBudget budget = new MemoryBudget(100);
            budget.take(8);
            return FaultCall.on(budget, 4L);
        });
        all.arguments("Safety.valueOf(String)", "FAST");
        return all;
    }

    private static MemorySource source(String type, FaultScene scene) {
        return type.equals("ArenaSource") ? Fixtures.arena(scene) : scene.source();
    }

    private static FaultCall onRegion(FaultScene scene, MemorySource source, long bytes) {
        Region region = Fixtures.released(scene, source.allocate(64));
        return FaultCall.on(source, region, bytes);
    }
}
