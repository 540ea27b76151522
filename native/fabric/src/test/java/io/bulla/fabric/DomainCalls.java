// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RetireReason;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/// How the operations of `native/fabric` are called; those of links in a class of their own.
final class DomainCalls {

    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();
    private static final AtomicLong KEYS = new AtomicLong(1L << 40);
    private static final List<Function<FaultScene, SealedBuffer>> HANDLES =
            List.of(scene -> scene.buffer(FabricWorld.BYTES), FaultScene::lastHandle, DomainCalls::adopted);

    static {
        VALUES.put(boolean.class, scene -> false);
        VALUES.put(int.class, scene -> 4);
        VALUES.put(long.class, scene -> 4L);
        VALUES.put(String.class, scene -> "text");
        VALUES.put(Object.class, scene -> "tag");
        VALUES.put(Fence.class, scene -> Fence.NONE);
        VALUES.put(Peer.class, scene -> FabricWorld.READER);
        VALUES.put(Duration.class, scene -> FabricWorld.PATIENCE);
        VALUES.put(
                FabricProvider.class, scene -> new FabricProvider("sockets", "lo", Fence.ENDPOINT, 8, 4, false, false));
        VALUES.put(LinkLimits.class, scene -> LinkLimits.USUAL);
    }

    private DomainCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("fabric", FabricDomain.class)
                .values(VALUES::get)
                .records(VALUES::get);
        all.receiver(FabricException.class, scene -> new FabricException("fi_send", 5, "bytes=4"));
        all.on("FabricProvider.all()", scene -> {
            scene.mayTake(16 << 20);
            return FaultCall.on(null);
        });
        domains(all);
        endpoints(all);
        operations(all);
        return LinkCalls.in(all);
    }

    private static void domains(FaultCatalogue all) {
        all.receiver(FabricDomain.class, scene -> new FabricWorld(scene).connected().domain);
        all.arguments("FabricDomain.open(String)", FabricWorld.PROVIDER);
        // known already, and made anew
        all.arguments("FabricDomain.endpoint(Peer)", FabricWorld.READER);
        all.on("FabricDomain.endpoint(Peer)", scene -> {
            FabricWorld world = new FabricWorld(scene);
            return FaultCall.on(world.domain, FabricWorld.READER);
        });
        for (boolean connected : new boolean[] {false, true}) {
            all.on("FabricDomain.register(Slab, long, long, Access, Peer, long)", scene -> {
                FabricWorld world = new FabricWorld(scene);
                return FaultCall.with((connected ? world.connected() : world).domain, same -> register(world));
            });
            for (RetireReason reason : RetireReason.values()) {
                all.on("FabricDomain.retire(MemoryRegistration, RetireReason, Runnable)", scene -> {
                    FabricWorld world = new FabricWorld(scene);
                    return retire(connected ? world.connected() : world, reason);
                });
            }
        }
        for (Function<FabricWorld, Object> under : UNDER_WAY) {
            all.on("FabricDomain.progress()", scene -> {
                // how much has ended is the fabric's to say
                scene.mayVary();
                return FaultCall.on(busy(scene, under).domain);
            });
            all.on("FabricDomain.close()", scene -> FaultCall.on(busy(scene, under).domain));
            all.on(
                    "FabricEndpoint.close()",
                    scene -> FaultCall.on(busy(scene, under).writer()));
        }
    }

    private static final List<Function<FabricWorld, Object>> UNDER_WAY = List.of(
            world -> world.writing(world.scene.buffer(FabricWorld.BYTES)),
            world -> world.sending(world.scene.lastHandle()),
            world -> List.of(
                    world.receiving(),
                    world.sending(adopted(world.scene)),
                    world.writing(world.scene.lastHandle()),
                    world.writing(adopted(world.scene))));

    private static FabricWorld busy(FaultScene scene, Function<FabricWorld, Object> under) {
        FabricWorld world = new FabricWorld(scene).connected();
        under.apply(world);
        return world;
    }

    private static Object[] register(FabricWorld world) {
        SealedBuffer buffer = world.scene.own(world.pooled(FabricWorld.BYTES));
        Slab slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
        return new Object[] {
            slab, 0L, (long) FabricWorld.BYTES, Access.REMOTE_WRITE, FabricWorld.READER, KEYS.incrementAndGet()
        };
    }

    private static FaultCall retire(FabricWorld world, RetireReason reason) {
        // of a mark that a device may know or not nothing is said again
        world.scene.onlyOnce();
        Object[] made = register(world);
        MemoryRegistration mark = FabricWorld.made(() -> world.domain.register(
                (Slab) made[0], 0, FabricWorld.BYTES, Access.REMOTE_WRITE, FabricWorld.READER, (Long) made[5]));
        AtomicInteger free = new AtomicInteger();
        world.scene.owed("calls of memoryIsFree but one", () -> Math.max(0, free.get() - 1));
        Runnable memoryIsFree = () -> {
            free.incrementAndGet();
            world.scene.points().reach("memoryIsFree");
        };
        return FaultCall.on(world.domain, mark, reason, memoryIsFree)
                .then(none -> world.scene.owed("memory is not free", () -> 1 - free.get()));
    }

    private static void endpoints(FaultCatalogue all) {
        all.receiver(
                FabricEndpoint.class,
                scene -> new FabricWorld(scene).connected().writer());
        all.on("FabricEndpoint.name()", scene -> {
            scene.mayVary();
            return FaultCall.on(new FabricWorld(scene).connected().writer());
        });
        all.on("FabricEndpoint.connect(byte[])", scene -> {
            scene.mayVary();
            FabricWorld world = new FabricWorld(scene).connected();
            return FaultCall.on(world.writer(), (Object) world.reader().name());
        });
        all.on("FabricEndpoint.receive(MemorySegment)", scene -> {
            FabricWorld world = new FabricWorld(scene).connected();
            MemorySegment room = Arena.ofAuto().allocate(64, 8);
            return FaultCall.on(world.reader(), room);
        });
        for (Function<FaultScene, SealedBuffer> handle : HANDLES) {
            all.on("FabricEndpoint.send(long, SealedBuffer)", scene -> {
                FabricWorld world = new FabricWorld(scene).connected();
                world.receiving();
                world.receiving();
                return FaultCall.with(world.writer(), same -> new Object[] {world.to(), handle.apply(scene)})
                        .then(world::awaitEnd);
            });
            all.on("FabricEndpoint.write(long, long, long, SealedBuffer)", scene -> {
                FabricWorld world = new FabricWorld(scene).connected();
                long key = world.grant().key();
                return FaultCall.with(world.writer(), same ->
                                new Object[] {world.to(), key, world.target(), handle.apply(scene)})
                        .then(world::awaitEnd);
            });
        }
        all.on("FabricEndpoint.write(long, long, long, MemorySegment)", scene -> {
            FabricWorld world = new FabricWorld(scene).connected();
            MemorySegment bytes = Arena.ofAuto().allocate(64, 8);
            return FaultCall.on(world.writer(), world.to(), world.grant().key(), world.target(), bytes)
                    .then(world::awaitEnd);
        });
    }

    private static void operations(FaultCatalogue all) {
        for (Function<FaultScene, SealedBuffer> handle : HANDLES.subList(1, HANDLES.size())) {
            Function<FaultScene, FabricOperation> write = scene -> {
                FabricWorld world = new FabricWorld(scene).connected();
                return world.writing(handle.apply(scene));
            };
            Function<FaultScene, FabricOperation> send = scene -> {
                FabricWorld world = new FabricWorld(scene).connected();
                return world.sending(handle.apply(scene));
            };
            for (Function<FaultScene, FabricOperation> each : List.of(write, send)) {
                all.receiver(FabricOperation.class, scene -> {
                    scene.mayVary();
                    return each.apply(scene);
                });
            }
        }
        Function<FaultScene, FabricReceive> receive = scene -> {
            FabricWorld world = new FabricWorld(scene).connected();
            FabricReceive receiving = world.receiving();
            // a message that does not leave is waited for in vain
            world.awaitEnd(FabricWorld.made(() -> world.writer().send(world.to(), scene.buffer(FabricWorld.BYTES))));
            return receiving;
        };
        all.receiver(FabricOperation.class, scene -> {
            scene.mayVary();
            return receive.apply(scene);
        });
        all.receiver(FabricReceive.class, receive);
    }

    private static SealedBuffer adopted(FaultScene scene) {
        return scene.own(SealedBuffer.adopt(Arena.ofAuto().allocate(64), scene.onRelease()));
    }
}
