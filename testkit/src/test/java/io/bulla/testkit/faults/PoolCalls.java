// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.PoolFigures;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.MemoryRegistrationLookup;
import io.bulla.pool.device.MemoryRegistrationUse;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.HostileRegistrar;
import java.time.Duration;
import java.util.Set;

/// How the operations of `pool` are called: on sources whose supplier, memory, holders and listener may fail or call
/// back.
final class PoolCalls {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long SLAB = SlabSource.SLAB;
    private static final int FULL = 256;

    private PoolCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        return devices(slabs(sources(all)));
    }

    private static FaultCatalogue sources(FaultCatalogue all) {
        all.receiver(SlabSource.class, PoolCalls::used)
                .receiver(SlabSource.Builder.class, scene -> SlabSource.builder())
                .receiver(PoolFigures.class, scene -> pool(scene).figures())
                .receiver(SlabSupplier.class, scene -> new FaultySupplier(scene.points()))
                .receiver(SlabSupplier.Memory.class, PoolCalls::memory);
        all.on("SlabSource.create()", scene -> FaultCall.on(null));
        for (long bytes : new long[] {400, 3 << 20}) {
            for (boolean full : new boolean[] {false, true}) {
                all.on("SlabSource.allocate(long)", scene -> {
                    SlabSource pool = full ? used(scene) : pool(scene);
                    return FaultCall.on(pool, bytes).then(region -> Fixtures.released(scene, (Region) region));
                });
            }
        }
        all.on("SlabSource.grow(MemorySource.Region, long)", scene -> onRegion(scene, pool(scene), 400L));
        all.on("SlabSource.grow(MemorySource.Region, long)", scene -> {
            SlabSource pool = pool(scene);
            FaultCall call = onRegion(scene, pool, 400L);
            fill(scene, pool);
            return call;
        });
        all.on("SlabSource.seal(MemorySource.Region, long)", scene -> {
            scene.onlyOnce();
            return onRegion(scene, pool(scene), 4L);
        });
        all.on("SlabSource.sealFilled(MemorySource.Region, long)", scene -> {
            scene.onlyOnce();
            SlabSource pool = pool(scene);
            return FaultCall.on(pool, pool.allocate(64), 4L);
        });
        all.on("SlabSource.close(Duration)", scene -> FaultCall.on(idle(scene), PATIENCE));
        all.on("SlabSource.toString()", scene -> {
            // it says what is booked, which another step may have given back
            scene.mayVary();
            return FaultCall.on(used(scene));
        });
        all.on("SlabSupplier.take(long)", scene -> {
            FaultySupplier supplier = new FaultySupplier(scene.points());
            scene.mayVary();
            return FaultCall.on(supplier, SLAB).then(memory -> ((SlabSupplier.Memory) memory).end());
        });
        all.on("SlabSupplier.Memory.segment()", scene -> {
            scene.mayVary();
            return FaultCall.on(memory(scene));
        });
        all.on(
                "PoolFigures.new(long, long, long, long, long, long, long, long, long)",
                scene -> FaultCall.on(null, 1L, 0L, 1L, 1L, SLAB, 0L, 0L, 1L, 0L));
        return all;
    }

    private static FaultCatalogue slabs(FaultCatalogue all) {
        all.receiver(Slab.class, PoolCalls::slab).receiver(Slab.Holder.class, Device::new);
        for (String address : new String[] {"address()", "id()", "toString()"}) {
            all.on("Slab." + address, scene -> {
                scene.mayVary();
                return FaultCall.on(slab(scene));
            });
        }
        all.on("Slab.of(IoVec, int)", scene -> {
            scene.mayVary();
            return FaultCall.on(null, pooled(scene).iovec(), 0);
        });
        all.on("Slab.of(MemorySource.Region)", scene -> {
            scene.mayVary();
            return FaultCall.on(null, Fixtures.released(scene, pool(scene).allocate(64)));
        });
        all.on("Slab.hold(Slab.Holder)", scene -> {
            Slab slab = slab(scene);
            Device first = new Device(scene);
            slab.hold(first);
            Device holder = new Device(scene);
            scene.own((AutoCloseable) () -> slab.letGo(first));
            scene.own((AutoCloseable) () -> letGo(slab, holder));
            scene.callBack("hold by the same owner", () -> slab.hold(holder));
            scene.callBack("let go of another", () -> letGo(slab, holder));
            return FaultCall.on(slab, holder);
        });
        all.on("Slab.letGo(Slab.Holder)", scene -> {
            Slab slab = slab(scene);
            Device holder = new Device(scene);
            slab.hold(holder);
            scene.onlyOnce();
            return FaultCall.on(slab, holder);
        });
        return all;
    }

    private static void letGo(Slab slab, Slab.Holder holder) {
        if (slab.holder(holder.owner()) == holder) {
            slab.letGo(holder);
        }
    }

    private static FaultCatalogue devices(FaultCatalogue all) {
        Values.add(new Peer(1, "peer"));
        Values.add(capabilities());
        all.receiver(
                        MemoryRegistration.class,
                        scene -> Doubles.each(scene.points(), MemoryRegistration.class, () -> 7L))
                .receiver(
                        MemoryRegistrationUse.class,
                        scene -> Doubles.each(scene.points(), MemoryRegistrationUse.class, new Use()))
                .receiver(
                        MemoryRegistrationLookup.class,
                        scene -> Doubles.each(
                                scene.points(), MemoryRegistrationLookup.class, (buffer, region) -> new Use()))
                .receiver(Registrar.class, PoolCalls::registrar);
        for (String type : new String[] {"Access", "RetireReason", "Fence"}) {
            all.arguments(
                    type + ".valueOf(String)",
                    type.equals("Access") ? "LOCAL" : type.equals("RetireReason") ? "IDLE" : "NONE");
        }
        all.arguments(
                "DeviceCapabilities.new(String, Set, boolean, boolean, long, long, Fence)",
                "device",
                Set.of(Access.LOCAL),
                false,
                false,
                4L,
                SLAB,
                Fence.NONE);
        all.arguments("RegistrationRefusedException.new(String, Throwable)", "refused", new IllegalStateException());
        all.on("Registrar.register(Slab, long, long, Access, Peer, long)", scene -> {
            scene.mayVary();
            return FaultCall.on(registrar(scene), slab(scene), 0L, SLAB, Access.LOCAL, null, 0L);
        });
        all.on("Registrar.retire(MemoryRegistration, RetireReason, Runnable)", scene -> {
            Registrar real = new HostileRegistrar(1, false, Fence.NONE);
            scene.onlyOnce();
            return FaultCall.on(
                    Doubles.each(scene.points(), Registrar.class, real),
                    mark(real, slab(scene)),
                    RetireReason.IDLE,
                    (Runnable) () -> {});
        });
        return all;
    }

    /// A source over a supplier that may fail, booked in a budget that has to come back.
    static SlabSource pool(FaultScene scene) {
        MemoryBudget budget = new MemoryBudget(64 << 20);
        FaultySupplier supplier = new FaultySupplier(scene.points());
        SlabSource pool = SlabSource.builder()
                .budget(budget)
                .supplier(supplier)
                .trace(scene.trace())
                .idle(Duration.ofHours(1))
                .build();
        scene.mayTake(16 << 20);
        scene.ownLast(() -> pool.close(PATIENCE));
        scene.owed("bytes booked by the pool", budget::used);
        scene.owed("slabs not ended", () -> supplier.awaitEnded(PATIENCE));
        scene.callBack("pool.close", pool::close);
        scene.callBack("pool.trim", pool::trim);
        scene.callBack("pool.allocate", () -> {
            pool.allocate(400).release();
            pool.allocate(SLAB).release();
            pool.figures();
        });
        scene.callBack("another builder of the pool", () -> {
            try (BufferBuilder other = BufferBuilder.create(pool)) {
                other.put(FaultScene.bytes(1000, 3)).seal().close();
            }
        });
        return pool;
    }

    /// One with an idle slab, one that a raw view was given out of, and a buffer.
    static SlabSource used(FaultScene scene) {
        SlabSource pool = idle(scene);
        scene.watch(BufferBuilder.create(pool).put(FaultScene.bytes(64, 2)).seal(), FaultScene.bytes(64, 2));
        return pool;
    }

    private static SlabSource idle(FaultScene scene) {
        SlabSource pool = pool(scene);
        Region idle = pool.allocate(SLAB);
        SealedBuffer seen = BufferBuilder.ofCapacity(pool, 2 * SLAB).putInt(1).seal();
        seen.iovec().region(0);
        seen.close();
        idle.release();
        return pool;
    }

    /// A builder whose next write has its source ask the supplier; watched.
    static BufferBuilder builder(FaultScene scene) {
        SlabSource pool = pool(scene);
        byte[] content = FaultScene.bytes(FULL, 5);
        BufferBuilder builder = BufferBuilder.create(pool);
        builder.put(content);
        fill(scene, pool);
        return scene.watch(builder, content);
    }

    /// Behind a list of the smallest regions: the slab has no room then.
    private static void fill(FaultScene scene, SlabSource pool) {
        for (int bytes : new int[] {1 << 20, 896 << 10, 112 << 10}) {
            Fixtures.released(scene, pool.allocate(bytes));
        }
    }

    private static FaultCall onRegion(FaultScene scene, SlabSource pool, long bytes) {
        Region region = pool.allocate(64);
        boolean[] over = new boolean[1];
        AutoCloseable release = () -> {
            if (!over[0]) {
                over[0] = true;
                region.release();
            }
        };
        scene.own(release);
        scene.callBack("region.seal", () -> pool.seal(region, 8));
        scene.callBack("region.grow", () -> pool.grow(region, 500_000));
        scene.callBack("region.release", () -> {
            over[0] = true;
            region.release();
        });
        return FaultCall.on(pool, region, bytes);
    }

    private static SealedBuffer pooled(FaultScene scene) {
        return scene.watch(
                BufferBuilder.create(pool(scene)).put(FaultScene.bytes(64, 2)).seal(), FaultScene.bytes(64, 2));
    }

    private static Slab slab(FaultScene scene) {
        return Slab.of(Fixtures.released(scene, pool(scene).allocate(64)));
    }

    private static SlabSupplier.Memory memory(FaultScene scene) {
        SlabSupplier.Memory memory = new FaultySupplier(scene.points()).take(SLAB);
        scene.ownLast(memory::end);
        return memory;
    }

    private static Registrar registrar(FaultScene scene) {
        return Doubles.each(scene.points(), Registrar.class, new HostileRegistrar(1, false, Fence.NONE));
    }

    private static MemoryRegistration mark(Registrar registrar, Slab slab) {
        try {
            return registrar.register(slab, 0, SLAB, Access.LOCAL, null, 0);
        } catch (RegistrationRefusedException refused) {
            throw new IllegalStateException(refused);
        }
    }

    private static DeviceCapabilities capabilities() {
        return new DeviceCapabilities("device", Set.of(Access.LOCAL), false, false, 4, 1L << 30, Fence.NONE);
    }

    /// Lets go of nothing, and may fail to say for whom it holds.
    private record Device(FaultScene scene) implements Slab.Holder {

        @Override
        public Object owner() {
            scene.points().reach("Slab.Holder.owner");
            return this;
        }

        @Override
        public void wanted() {
            scene.points().reach("Slab.Holder.wanted");
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    private static final class Use implements MemoryRegistrationUse {

        @Override
        public MemoryRegistration registration() {
            return () -> 7L;
        }

        @Override
        public void close() {}
    }
}
