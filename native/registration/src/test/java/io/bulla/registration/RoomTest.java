// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// How much is taken back for how much, when a device is asked again, and what a refusal leaves.
class RoomTest {

    private static final long MILLI = 1_000_000;

    private static List<SealedBuffer> registered(Scene scene, int slabs) {
        List<SealedBuffer> all = new ArrayList<>();
        for (int i = 0; i < slabs; i++) {
            all.add(scene.buffer(i, SLAB));
            Objects.requireNonNull(scene.registrations.use(all.getLast(), 0)).close();
        }
        return all;
    }

    @Test
    void roomForOneMarkIsMadeByOne() throws Exception {
        try (Scene scene = new Scene(4, 64 * SLAB)) {
            List<SealedBuffer> there = registered(scene, 4);
            try (SealedBuffer one = scene.buffer(9, SLAB)) {
                Objects.requireNonNull(scene.registrations.use(one, 0)).close();
            }
            assertEquals(1, scene.registrations.figures().evicted());
            assertEquals(4, scene.registrations.figures().marks());
            there.forEach(SealedBuffer::close);
        }
    }

    @Test
    void roomForBytesIsMadeByAsManyAsItTakes() throws Exception {
        try (Scene scene = new Scene(100, 5 * SLAB)) {
            List<SealedBuffer> there = registered(scene, 5);
            try (SealedBuffer two = scene.buffer(9, 2 * SLAB)) {
                long wanted = Objects.requireNonNull(Slab.of(two.iovec(), 0)).byteSize();
                Objects.requireNonNull(scene.registrations.use(two, 0)).close();
                assertEquals(wanted / SLAB, scene.registrations.figures().evicted());
            }
            there.forEach(SealedBuffer::close);
        }
    }

    /// What was taken back is still the device's: more of it makes no room sooner.
    @Test
    void noMoreIsTakenBackThanIsWantedWhenTheDeviceIsLate() throws Exception {
        try (Scene scene = new Scene(100, 5 * SLAB)) {
            List<SealedBuffer> there = registered(scene, 5);
            scene.device.freeing(Freeing.LATE);
            try (SealedBuffer one = scene.buffer(9, SLAB)) {
                assertNull(scene.registrations.use(one, 0));
            }
            assertEquals(1, scene.registrations.figures().evicted());
            assertEquals(1, scene.device.endings().size());
            scene.device.freeing(Freeing.AT_ONCE).freeLate();
            there.forEach(SealedBuffer::close);
        }
    }

    @Test
    void pauseAfterARefusalDoublesUntilTheDeviceMakesAMark() throws Exception {
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5 * MILLI);
        HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, scene.pins, clock::get);
                SealedBuffer buffer = scene.buffer(1, 1000)) {
            long asked = 0;
            for (long pause = MILLI; pause < 4000 * MILLI; pause *= 2) {
                device.refuse(1);
                assertNull(registrations.use(buffer, 0));
                assertEquals(++asked, device.calls());
                long now = Math.min(pause, 1000 * MILLI);
                clock.addAndGet(now - 1);
                assertNull(registrations.use(buffer, 0));
                assertEquals(asked, device.calls(), "asked before the pause was over: pause=" + now);
                clock.addAndGet(1);
            }
            Objects.requireNonNull(registrations.use(buffer, 0)).close();
            registrations.quiesce(Scene.PATIENCE);
            device.refuse(1);
            assertNull(registrations.use(buffer, 0));
            clock.addAndGet(MILLI);
            RegistrationUse use = registrations.use(buffer, 0);
            assertNotNull(use);
            use.close();
        }
    }

    /// A clock of nanoseconds may begin anywhere.
    @Test
    void newDeviceIsAskedWhateverTheTime() throws Exception {
        for (long now : new long[] {Long.MIN_VALUE, -MILLI, 0, Long.MAX_VALUE}) {
            HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION);
            try (Scene scene = new Scene();
                    Registrations registrations = Registrations.of(device, scene.pins, () -> now);
                    SealedBuffer buffer = scene.buffer(1, 1000)) {
                Objects.requireNonNull(registrations.use(buffer, 0)).close();
            }
        }
    }

    @Test
    void deviceWithoutRoomIsNotAskedAgainAtOnce() throws Exception {
        AtomicLong clock = new AtomicLong();
        HostileRegistrar device = new HostileRegistrar(1, false, Fence.COMPLETION);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, scene.pins, clock::get);
                SealedBuffer used = scene.buffer(1, SLAB);
                SealedBuffer other = scene.buffer(2, SLAB)) {
            RegistrationUse use = Objects.requireNonNull(registrations.use(used, 0));
            assertNull(registrations.use(other, 0));
            use.close();
            // there would be room now
            assertNull(registrations.use(other, 0));
            clock.addAndGet(MILLI);
            Objects.requireNonNull(registrations.use(other, 0)).close();
        }
    }

    /// A grant waits for nobody's pause: a peer is there.
    @Test
    void refusedUseDelaysNoGrant() throws Exception {
        AtomicLong clock = new AtomicLong();
        HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, scene.pins, clock::get);
                SealedBuffer buffer = scene.buffer(1, 1000);
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
            device.refuse(1);
            assertNull(registrations.use(buffer, 0));
            assertTrue(landing.grant(ALICE).byteSize() == 1000);
        }
    }

    /// Whichever step it is that fails.
    @Test
    void openThatFailsIsNotInTheLedger() throws Exception {
        LeaseLedger ledger = LeaseLedger.full();
        HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, scene.pins, ledger)) {
            Slab over;
            try (SealedBuffer buffer = scene.buffer(1, SLAB)) {
                over = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
                device.refuse(1);
                assertNull(registrations.use(buffer, 0));
                assertEquals(List.of(), ledger.open());
                assertEquals(List.of(), registrations.held());
            }
            scene.memory.trim();
            assertThrows(
                    RegistrationRefusedException.class,
                    () -> registrations.marks.enter(
                            new Registration(registrations.marks, over), io.bulla.pool.device.Access.LOCAL));
            assertEquals(List.of(), ledger.open());
            assertEquals(List.of(), registrations.held());
            assertEquals(0, registrations.figures().markedBytes());
        }
    }
}
