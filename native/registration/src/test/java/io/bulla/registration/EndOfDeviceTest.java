// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.BOB;
import static io.bulla.registration.Scene.PATIENCE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.registration.Revocation.Clean;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What the device is told, and in which order, and what a report says of it.
class EndOfDeviceTest {

    /// A device that writes down what it is told.
    private static final class Told implements Registrar {

        private final HostileRegistrar device;
        private final DeviceCapabilities capabilities;
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private int freeAfter = Integer.MAX_VALUE;

        Told(HostileRegistrar device, long mostBytes, Set<Access> accesses) {
            this.device = device;
            this.capabilities = new DeviceCapabilities("told", accesses, true, false, 100, mostBytes, Fence.COMPLETION);
        }

        @Override
        public DeviceCapabilities capabilities() {
            return capabilities;
        }

        @Override
        public MemoryRegistration register(
                Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
                throws RegistrationRefusedException {
            return device.register(slab, offset, length, access, peer, wantedKey);
        }

        @Override
        public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
            device.retire(mark, reason, memoryIsFree);
            calls.add(reason.toString());
            if (calls.size() == freeAfter) {
                device.freeLate();
            }
        }

        @Override
        public void close() {
            calls.add("close");
            device.close();
        }
    }

    private static Told told(HostileRegistrar device) {
        return new Told(device, Long.MAX_VALUE, EnumSet.allOf(Access.class));
    }

    private static HostileRegistrar device() {
        return new HostileRegistrar(100, false, Fence.COMPLETION);
    }

    @Test
    void marksAreRetiredBeforeTheDeviceIsClosedOnce() throws Exception {
        Told told = told(device());
        try (Scene scene = new Scene()) {
            Registrations registrations = Registrations.of(told, scene.pins);
            try (SealedBuffer buffer = scene.buffer(1, 1000);
                    RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
                Objects.requireNonNull(registrations.use(buffer, 0)).close();
                landing.grant(ALICE);
                registrations.close();
                assertEquals(List.of("IDLE", "REVOKED", "close"), told.calls);
                registrations.close();
                assertEquals(3, told.calls.size());
                assertEquals(0, scene.pins.used());
            }
        }
    }

    @Test
    void capabilitiesAreTheDevices() throws Exception {
        Told told = told(device());
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(told, scene.pins)) {
            assertSame(told.capabilities, registrations.capabilities());
        }
    }

    @Test
    void markThatFailsToEndIsToldWhenAllHaveEnded() throws Exception {
        HostileRegistrar stuck = device().freeing(Freeing.NEVER);
        try (Scene scene = new Scene();
                SealedBuffer one = scene.buffer(1, SLAB);
                SealedBuffer other = scene.buffer(2, SLAB)) {
            Registrations registrations = Registrations.of(stuck, scene.pins);
            Objects.requireNonNull(registrations.use(one, 0)).close();
            Objects.requireNonNull(registrations.use(other, 0)).close();
            Registration first = registrations.marks.registrations().getFirst();
            first.slab().letGo(first);
            IllegalStateException failure = assertThrows(IllegalStateException.class, registrations::close);
            assertTrue(failure.getMessage().startsWith("does not hold this slab: "), failure::getMessage);
            assertEquals(0, registrations.figures().marks());
            assertEquals(0, Objects.requireNonNull(Slab.of(other.iovec(), 0)).holderCount());
        }
    }

    @Test
    void closedRegistrationsTakeNoMemory() throws Exception {
        try (Scene scene = new Scene()) {
            scene.registrations.close();
            IllegalStateException over = assertThrows(
                    IllegalStateException.class, () -> scene.registrations.remoteWriteTarget(scene.memory, 1000));
            assertEquals("registrations are closed: device=hostile", over.getMessage());
            assertEquals(0, scene.memory.figures().liveBytes());
        }
    }

    /// No peer goes on writing while another one's grant is waited for.
    @Test
    void deviceIsToldOfEveryGrantBeforeAnyIsWaitedFor() throws Exception {
        HostileRegistrar late = device().freeing(Freeing.LATE);
        Told told = told(late);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(told, scene.pins);
                RemoteWriteTarget one = registrations.remoteWriteTarget(scene.memory, 1000);
                RemoteWriteTarget other = registrations.remoteWriteTarget(scene.memory, 1000)) {
            one.grant(ALICE);
            other.grant(ALICE);
            // the device stops when it knows of both
            told.freeAfter = 2;
            assertEquals(List.of(new Clean(), new Clean()), registrations.revoke(ALICE, PATIENCE));
            one.grant(ALICE, 0, 500);
            one.grant(BOB, 500, 500);
            told.freeAfter = 4;
            one.reclaim(PATIENCE);
            assertEquals(List.of(), one.unfenced());
        }
    }

    private static Thread stopsAfter(Told told, int calls) {
        return Thread.ofPlatform().start(() -> {
            while (told.calls.size() < calls) {
                Thread.onSpinWait();
            }
            told.device.freeLate();
        });
    }

    @Test
    void revocationWaitsForTheDevice() throws Exception {
        HostileRegistrar late = device().freeing(Freeing.LATE);
        Told told = told(late);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(told, scene.pins);
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
            landing.grant(ALICE);
            Thread stopping = stopsAfter(told, 1);
            assertEquals(List.of(new Clean()), registrations.revoke(ALICE, PATIENCE));
            stopping.join();
            landing.grant(BOB);
            Thread again = stopsAfter(told, 2);
            landing.reclaim(PATIENCE);
            again.join();
            assertEquals(List.of(), landing.unfenced());
        }
    }

    @Test
    void grantThatIsWaitedForIsCleanWhenTheDeviceStops() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            scene.device.freeing(Freeing.LATE);
            Grant grant = landing.grant(ALICE);
            assertEquals(grant.key(), grant.registration().key());
            Thread waits = Thread.currentThread();
            Thread stopping = Thread.ofPlatform().start(() -> {
                long end = System.nanoTime() + PATIENCE.toNanos();
                while (waits.getState() != Thread.State.TIMED_WAITING && System.nanoTime() - end < 0) {
                    Thread.onSpinWait();
                }
                scene.device.freeLate();
            });
            assertEquals(new Clean(), grant.complete(PATIENCE));
            stopping.join();
        }
    }

    @Test
    void grantThatTheDeviceRefusedIsOver() throws Exception {
        List<Grant> asked = new ArrayList<>();
        List<RemoteWriteTarget> there = new ArrayList<>();
        HostileRegistrar refusing = device().refuse(1);
        Watched watched =
                new Watched(refusing, call -> asked.addAll(there.getFirst().unfenced()));
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(watched, scene.pins);
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
            there.add(landing);
            assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertTrue(asked.getFirst().isGone());
            assertTrue(asked.getFirst().isFenced());
            assertEquals(new Clean(), asked.getFirst().revoke(Duration.ZERO));
            assertEquals(List.of(), landing.unfenced());
        }
    }

    @Test
    void quiesceWaitsForTheDevice() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, 1000)) {
            scene.device.freeing(Freeing.LATE);
            Objects.requireNonNull(scene.registrations.use(buffer, 0)).close();
            Thread stopping = Thread.ofPlatform().start(() -> {
                while (scene.device.open() > 0) {
                    Thread.onSpinWait();
                }
                scene.device.freeLate();
            });
            scene.registrations.quiesce(PATIENCE);
            stopping.join();
            assertEquals(0, scene.registrations.figures().marks());
        }
    }

    @Test
    void limitOfOneMarkIsThatOfTheDevice() throws Exception {
        Told told = new Told(device(), SLAB, EnumSet.of(Access.LOCAL));
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(told, scene.pins);
                SealedBuffer fits = scene.buffer(1, SLAB);
                SealedBuffer larger = scene.buffer(2, SLAB + 1);
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
            RegistrationUse use = registrations.use(fits, 0);
            assertNotNull(use);
            use.close();
            assertNull(registrations.use(larger, 0));
            assertTrue(
                    Objects.requireNonNull(registrations.lastRefusal()).contains("mostBytes=" + SLAB),
                    registrations::lastRefusal);
            RegistrationRefusedException cannot =
                    assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertTrue(cannot.getMessage().contains("access=REMOTE_WRITE"), cannot::getMessage);
            assertNull(cannot.getCause());
        }
    }

    @Test
    void refusalOfADeviceIsTheCauseOfTheRefusal() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            scene.device.refuse(1);
            RegistrationRefusedException refused =
                    assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertEquals(
                    "refused by the test: call=1",
                    Objects.requireNonNull(refused.getCause()).getMessage());
            assertTrue(refused.getMessage().contains("refused by the test: call=1"), refused::getMessage);
        }
    }

    @Test
    void refusalNamesFourHoldersAndCountsTheOthers() throws Exception {
        for (int marks = 4; marks <= 5; marks++) {
            try (Scene scene = new Scene(marks, 64 * SLAB)) {
                List<SealedBuffer> all = new ArrayList<>();
                List<RegistrationUse> uses = new ArrayList<>();
                for (int i = 0; i <= marks; i++) {
                    all.add(scene.buffer(i, SLAB));
                    RegistrationUse use = scene.registrations.use(all.getLast(), 0);
                    assertEquals(i == marks, use == null);
                    if (use != null) {
                        uses.add(use);
                    }
                }
                String reason = Objects.requireNonNull(scene.registrations.lastRefusal());
                assertEquals(5, reason.split("hostile slab=", -1).length, reason);
                assertEquals(marks == 5, reason.endsWith("; and 1 more]"), reason);
                assertEquals(marks == 5, reason.contains("more"), reason);
                uses.forEach(RegistrationUse::close);
                all.forEach(SealedBuffer::close);
            }
        }
    }

    @Test
    void reportsSayWhoHoldsWhatSinceWhen() throws Exception {
        AtomicLong clock = new AtomicLong(7);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device(), scene.pins, clock::get);
                SealedBuffer buffer = scene.buffer(1, 1000);
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
            RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0));
            clock.addAndGet(500);
            Grant grant = landing.grant(ALICE);
            clock.addAndGet(1000);
            long slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0)).id();
            assertEquals(
                    List.of(
                            new PinnedMemory(
                                    "hostile", slab, SLAB, Access.LOCAL, "-", Duration.ofNanos(1500), "live uses=1"),
                            new PinnedMemory(
                                    "hostile",
                                    grant.slab().id(),
                                    1000,
                                    Access.REMOTE_WRITE,
                                    ALICE.toString(),
                                    Duration.ofNanos(1000),
                                    "granted")),
                    registrations.held());
            RegistrationFigures figures = registrations.figures();
            assertEquals(1, figures.registered());
            assertEquals(1, figures.granted());
            assertEquals(2, figures.marks());
            assertEquals(SLAB + 1000, figures.markedBytes());
            assertEquals(0, figures.quarantined());
            use.close();
        }
    }

    @Test
    void registrationsAndGrantsAreCountedApart() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, SLAB);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            landing.grant(ALICE, 0, 500);
            landing.grant(BOB, 500, 500);
            Objects.requireNonNull(scene.registrations.use(buffer, 0)).close();
            assertEquals(2, scene.registrations.figures().granted());
            assertEquals(1, scene.registrations.figures().registered());
        }
    }

    @Test
    void quarantineIsReportedUntilTheDeviceHasStopped() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            scene.device.freeing(Freeing.LATE);
            Grant grant = landing.grant(ALICE);
            assertFalse(grant.isFenced());
            grant.revoke(Duration.ZERO);
            assertFalse(grant.isFenced());
            assertEquals(1, scene.registrations.figures().quarantined());
            assertEquals(1000, scene.registrations.figures().quarantinedBytes());
            assertEquals("quarantined", scene.registrations.held().getFirst().phase());
            scene.device.freeLate();
            assertTrue(grant.isFenced());
            assertEquals(0, scene.registrations.figures().quarantined());
            assertEquals(0, scene.registrations.figures().quarantinedBytes());
            assertEquals(List.of(), scene.registrations.held());
        }
    }

    @Test
    void quarantineCountsEveryGrant() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            landing.grant(ALICE, 0, 500);
            scene.device.freeing(Freeing.LATE);
            landing.grant(BOB, 500, 200).revoke(Duration.ZERO);
            landing.grant(BOB, 700, 100).revoke(Duration.ZERO);
            assertEquals(2, scene.registrations.figures().quarantined());
            assertEquals(300, scene.registrations.figures().quarantinedBytes());
            assertEquals(800, scene.registrations.figures().markedBytes());
            scene.device.freeLate();
            assertEquals(500, scene.registrations.figures().markedBytes());
            scene.device.freeing(Freeing.AT_ONCE);
        }
    }

    @Test
    void partsOfALandingAreExact() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            assertThrows(IndexOutOfBoundsException.class, () -> landing.grant(ALICE, 1, 1000));
            Grant middle = landing.grant(ALICE, 100, 100);
            assertEquals(100, middle.byteSize());
            Grant before = landing.grant(BOB, 0, 100);
            Grant behind = landing.grant(BOB, 200, 800);
            assertEquals(middle.address(), before.address() + 100);
            assertEquals(behind.address(), middle.address() + 100);
            before.revoke(PATIENCE);
            behind.revoke(PATIENCE);
            assertThrows(IllegalArgumentException.class, () -> landing.grant(BOB, 0, 101));
            assertThrows(IllegalArgumentException.class, () -> landing.grant(BOB, 199, 1));
            middle.complete(PATIENCE);
            assertThrows(IllegalArgumentException.class, () -> landing.seal(-1));
            assertThrows(IllegalArgumentException.class, () -> landing.seal(1001));
            try (SealedBuffer all = landing.seal(1000)) {
                assertEquals(1000, all.byteSize());
            }
            assertThrows(IllegalStateException.class, () -> landing.grant(BOB));
            assertThrows(IllegalStateException.class, () -> landing.reclaim(PATIENCE));
        }
    }
}
