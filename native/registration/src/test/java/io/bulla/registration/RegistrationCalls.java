// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.registration.Revocation.Clean;
import io.bulla.registration.Revocation.Quarantined;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.HostileRegistrar;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// How the operations of `native/registration` are called: with a device and a listener that may fail or call back.
final class RegistrationCalls {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BYTES = 64;
    private static final Peer PEER = new Peer(1, "alice");
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();

    static {
        VALUES.put(long.class, scene -> 4L);
        VALUES.put(int.class, scene -> 0);
        VALUES.put(String.class, scene -> "text");
        // what a device that failed does not end is not waited for
        VALUES.put(Duration.class, scene -> Duration.ZERO);
        VALUES.put(Peer.class, scene -> PEER);
        VALUES.put(Access.class, scene -> Access.LOCAL);
        VALUES.put(CompletableFuture.class, scene -> new CompletableFuture<Void>());
        VALUES.put(Object.class, scene -> "tag");
        VALUES.put(
                PinnedMemory.class,
                scene -> new PinnedMemory("device", 1, 4, Access.LOCAL, "-", Duration.ZERO, "idle"));
        VALUES.put(RegistrationFigures.class, scene -> new RegistrationFigures(1, 2, 3, 4, 5, 6, 7, 8, 9));
        VALUES.put(Clean.class, scene -> new Clean());
        VALUES.put(
                Quarantined.class,
                scene -> new Quarantined(PEER, 1, 4, Duration.ZERO, "late", new CompletableFuture<>()));
    }

    private RegistrationCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("registration", Registrations.class)
                .values(VALUES::get)
                .records(VALUES::get);
        return landings(registrations(budgets(all)));
    }

    private static FaultCatalogue budgets(FaultCatalogue all) {
        all.receiver(PinBudget.class, scene -> {
            PinBudget budget = new PinBudget(BYTES);
            budget.tryTake(16);
            return budget;
        });
        // each given back once
        all.on("PinBudget.give(long)", scene -> {
            PinBudget budget = new PinBudget(BYTES);
            budget.tryTake(16);
            return FaultCall.on(budget, 4L);
        });
        return all;
    }

    private static FaultCatalogue registrations(FaultCatalogue all) {
        all.receiver(Registrations.class, scene -> new World(scene, true).used())
                .receiver(RegistrationUse.class, scene -> {
                    scene.mayVary();
                    return new World(scene, true).use();
                });
        for (String number : new String[] {"figures()", "held()", "lastRefusal()", "toString()"}) {
            all.on("Registrations." + number, scene -> {
                scene.mayVary();
                return FaultCall.on(new World(scene, true).used());
            });
        }
        all.on("Registrations.of(Registrar, PinBudget)", scene -> {
            Device device = new Device(scene.points(), true);
            return FaultCall.on(null, device, new PinBudget(BYTES));
        });
        all.on("Registrations.of(Registrar, PinBudget, LeaseTrace)", scene -> {
            Device device = new Device(scene.points(), true);
            return FaultCall.on(null, device, new PinBudget(BYTES), scene.trace());
        });
        for (boolean known : new boolean[] {false, true}) {
            all.on("Registrations.use(SealedBuffer, int)", scene -> {
                World world = new World(scene, true);
                if (known) {
                    world.used();
                }
                // none, where the device failed
                scene.mayVary();
                return FaultCall.on(world.registrations, world.buffer(), 0);
            });
        }
        all.on("Registrations.remoteWriteTarget(SlabSource, long)", scene -> {
            World world = new World(scene, true);
            return FaultCall.on(world.registrations, world.pool, (long) BYTES);
        });
        all.on("Registrations.revoke(Peer, Duration)", scene -> {
            World world = new World(scene, true);
            world.grant();
            scene.mayVary();
            return FaultCall.on(world.registrations, PEER, Duration.ZERO);
        });
        // a device that does not let go is waited for, and named: one that fails has let go here
        all.on("Registrations.quiesce(Duration)", scene -> FaultCall.on(new World(scene, false).used(), Duration.ZERO));
        return all;
    }

    private static FaultCatalogue landings(FaultCatalogue all) {
        all.receiver(RemoteWriteTarget.class, scene -> {
                    scene.mayVary();
                    return new World(scene, true).landing();
                })
                .receiver(RemoteWriteTarget.class, scene -> {
                    World world = new World(scene, true);
                    world.grant();
                    scene.mayVary();
                    return world.landing();
                })
                .receiver(Grant.class, scene -> {
                    scene.mayVary();
                    return new World(scene, true).grant();
                })
                .receiver(BufferUnusableException.class, scene -> {
                    scene.mayVary();
                    return new BufferUnusableException(new World(scene, true).grant(), Duration.ZERO, null, null);
                });
        // without a grant: another one of the same range is refused, and so is a seal under it
        all.on("RemoteWriteTarget.grant(Peer)", scene -> granting(scene, PEER));
        all.on("RemoteWriteTarget.grant(Peer, long, long)", scene -> granting(scene, PEER, 4L, 4L));
        all.on("RemoteWriteTarget.seal()", scene -> FaultCall.on(new World(scene, true).landing()));
        all.on("RemoteWriteTarget.seal(long)", scene -> FaultCall.on(new World(scene, true).landing(), 4L));
        all.on("RemoteWriteTarget.reclaim(Duration)", scene -> {
            World world = new World(scene, false);
            world.grant();
            return FaultCall.on(world.landing(), Duration.ZERO);
        });
        return all;
    }

    private static FaultCall granting(FaultScene scene, Object... arguments) {
        // the range of one that the device may know is not granted again
        scene.onlyOnce();
        return FaultCall.on(new World(scene, true).landing(), arguments);
    }

    /// A pool, a device and its registrations; all of it is given back by the scene.
    private static final class World {

        final SlabSource pool;
        final Registrations registrations;
        private final FaultScene scene;
        private @Nullable RemoteWriteTarget landing;

        /// @param retires false: a device that fails in a retirement has let go
        World(FaultScene scene, boolean retires) {
            this.scene = scene;
            MemoryBudget budget = new MemoryBudget(64 << 20);
            PinBudget pins = new PinBudget(64 << 20);
            Device device = new Device(scene.points(), retires);
            pool = SlabSource.builder()
                    .budget(budget)
                    .idle(Duration.ofHours(1))
                    .trace(scene.trace())
                    .build();
            registrations = Registrations.of(device, pins, scene.trace());
            scene.mayTake(16 << 20);
            scene.ownLast(() -> {
                registrations.close();
                pool.close(PATIENCE);
            });
            scene.owed("bytes booked by the pool", budget::used);
            scene.owed("bytes pinned", pins::used);
            scene.owed(
                    "complaints of the device", () -> device.real.complaints().size());
            scene.callBack("registrations.trim", registrations::trim);
            scene.callBack("registrations.held", () -> {
                registrations.held();
                registrations.figures();
                registrations.lastRefusal();
            });
            if (retires) {
                // a quiesce comes with no use beside it
                scene.callBack("use of another buffer", this::useAnother);
            }
            scene.callBack("registrations.revoke", () -> registrations.revoke(PEER, Duration.ZERO));
            scene.callBack("landing.close", () -> {
                if (landing != null) {
                    landing.close();
                }
            });
        }

        SealedBuffer buffer() {
            return scene.own(
                    BufferBuilder.create(pool).put(FaultScene.bytes(BYTES, 2)).seal());
        }

        /// With an idle registration.
        Registrations used() {
            use().close();
            return registrations;
        }

        RegistrationUse use() {
            RegistrationUse use = registrations.use(buffer(), 0);
            if (use == null) {
                throw new IllegalStateException("no registration: " + registrations.lastRefusal());
            }
            return scene.own(use);
        }

        RemoteWriteTarget landing() {
            if (landing == null) {
                landing = scene.own(registrations.remoteWriteTarget(pool, BYTES));
            }
            return landing;
        }

        Grant grant() {
            try {
                return landing().grant(PEER);
            } catch (RegistrationRefusedException refused) {
                throw new IllegalStateException(refused);
            }
        }

        private void useAnother() {
            try (SealedBuffer other = BufferBuilder.create(pool)
                            .put(FaultScene.bytes(BYTES, 3))
                            .seal();
                    RegistrationUse use = registrations.use(other, 0)) {
                if (use != null) {
                    use.key();
                }
            }
        }
    }

    /// Fails before and after each call, and when a mark is asked for its key.
    private static final class Device implements Registrar {

        final HostileRegistrar real = new HostileRegistrar(100, true, Fence.COMPLETION);
        private final FaultPoints points;
        private final boolean retires;

        private record Named(FaultPoints points, MemoryRegistration real) implements MemoryRegistration {
            @Override
            public long key() {
                points.reach("MemoryRegistration.key");
                return real.key();
            }
        }

        Device(FaultPoints points, boolean retires) {
            this.points = points;
            this.retires = retires;
        }

        @Override
        public DeviceCapabilities capabilities() {
            points.reach("Registrar.capabilities");
            return real.capabilities();
        }

        @Override
        public MemoryRegistration register(
                Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
                throws RegistrationRefusedException {
            points.reach("Registrar.register");
            MemoryRegistration mark = real.register(slab, offset, length, access, peer, wantedKey);
            points.reach("Registrar.register, done");
            return new Named(points, mark);
        }

        @Override
        public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
            if (retires) {
                points.reach("Registrar.retire");
            }
            real.retire(((Named) mark).real(), reason, memoryIsFree);
            points.reach("Registrar.retire, done");
        }

        @Override
        public void close() {
            points.reach("Registrar.close");
            real.close();
            points.reach("Registrar.close, done");
        }
    }
}
