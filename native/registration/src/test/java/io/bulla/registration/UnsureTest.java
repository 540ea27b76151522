// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.NONE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import io.bulla.registration.Revocation.Quarantined;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Devices that may know memory, and have not said so: it counts as marked until they have ended.
class UnsureTest {

    private static Throwable failure(String kind) {
        return kind.equals("heap is full") ? new OutOfMemoryError("by the test") : new IllegalStateException(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"heap is full", "thrown"})
    void grantOfADeviceThatThrewKeepsItsMemory(String kind) throws Exception {
        try (Scene scene = new Scene()) {
            Throwable failure = failure(kind);
            scene.device.throwsAfterMarking(failure);
            RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000);
            Throwable thrown = assertThrows(Throwable.class, () -> landing.grant(ALICE));
            assertTrue(thrown == failure || thrown instanceof RegistrationRefusedException, thrown::toString);
            assertEquals(1, scene.registrations.figures().marks());
            assertEquals(1, scene.registrations.figures().surprises());
            assertEquals(1, scene.registrations.figures().quarantined());
            assertEquals(1000, scene.registrations.figures().quarantinedBytes());
            assertEquals("quarantined", scene.registrations.held().getFirst().phase());
            assertThrows(IllegalStateException.class, landing::seal);
            assertInstanceOf(Quarantined.class, landing.unfenced().getFirst().revoke(NONE));
            landing.close();
            scene.memory.trim();
            assertEquals(SLAB, scene.memory.bookedBytes());
            try (RemoteWriteTarget next = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
                // where the device still writes no other message lands
                assertNotEquals(
                        landing.unfenced().getFirst().address(),
                        next.grant(ALICE).address());
            }
            scene.registrations.close();
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
        }
    }

    @Test
    void grantOfAMarkWithoutAKeyIsTakenBack() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            scene.device.freeing(Freeing.LATE).keyThrows(new OutOfMemoryError("by the test"));
            assertThrows(OutOfMemoryError.class, () -> landing.grant(ALICE));
            assertEquals(List.of(RetireReason.REVOKED), scene.device.endings());
            assertEquals(1, scene.registrations.figures().marks());
            assertEquals(1000, scene.pins.used());
            assertEquals(1, landing.unfenced().size());
            scene.device.freeLate();
            assertEquals(0, scene.registrations.figures().marks());
            assertEquals(0, scene.pins.used());
            assertEquals(List.of(), landing.unfenced());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"heap is full", "thrown"})
    void slabOfADeviceThatThrewIsNotGivenBack(String kind) throws Exception {
        try (Scene scene = new Scene()) {
            Throwable failure = failure(kind);
            scene.device.throwsAfterMarking(failure);
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                if (failure instanceof Error) {
                    assertThrows(Error.class, () -> scene.registrations.use(buffer, 0));
                } else {
                    assertNull(scene.registrations.use(buffer, 0));
                    String why = Objects.requireNonNull(scene.registrations.lastRefusal());
                    assertTrue(why.startsWith("device threw, and may know the memory: thrown: "), why);
                }
                // the plain way
                assertNull(scene.registrations.use(buffer, 0));
            }
            scene.memory.trim();
            assertEquals(SLAB, scene.memory.bookedBytes());
            assertEquals(SLAB, scene.pins.used());
            assertEquals(1, scene.registrations.figures().marks());
            assertEquals(1, scene.registrations.figures().quarantined());
            assertEquals(SLAB, scene.registrations.figures().quarantinedBytes());
            assertEquals("quarantined", scene.registrations.held().getFirst().phase());
            scene.registrations.close();
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
            assertEquals(0, scene.pins.used());
        }
    }

    @Test
    void deviceThatMakesNothingMayKnowTheMemory() throws Exception {
        MakesUpKeys device = new MakesUpKeys();
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = landing(device, scene)) {
            device.makesNothing = true;
            assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertEquals(1, landing.unfenced().size());
            device.registrations.close();
            assertEquals(List.of(), landing.unfenced());
        }
    }

    @Test
    void keysOfADeviceAreFoundHoweverManyThereAre() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, 100)) {
            Slab slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
            KeysInUse keys = new KeysInUse();
            Registration[] marks = new Registration[1000];
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < marks.length; i++) {
                    marks[i] = new Registration(scene.registrations.marks, slab);
                    // without room made for it a chain is longer
                    if (round != 0 || i % 2 == 0) {
                        keys.reserve();
                    }
                    assertTrue(keys.add(marks[i], i * 4096L));
                }
                for (int i = 0; i < marks.length; i++) {
                    assertFalse(keys.add(new Registration(scene.registrations.marks, slab), i * 4096L));
                }
                for (int i = marks.length - 1; i >= 0; i -= 2) {
                    keys.remove(marks[i]);
                }
                assertEquals(marks.length / 2, keys.size());
                for (int i = 0; i < marks.length; i += 2) {
                    keys.remove(marks[i]);
                }
                assertEquals(0, keys.size());
            }
        }
    }

    private static RemoteWriteTarget landing(MakesUpKeys device, Scene scene) {
        device.registrations = Registrations.of(device, new PinBudget(Long.MAX_VALUE));
        return device.registrations.remoteWriteTarget(scene.memory, 100);
    }

    private static final class MakesUpKeys implements Registrar {

        private record Made(long key) implements MemoryRegistration {}

        private @Nullable Registrations registrations;
        private boolean makesNothing;

        @Override
        public DeviceCapabilities capabilities() {
            return new DeviceCapabilities(
                    "makes-up-keys",
                    Set.of(Access.REMOTE_WRITE),
                    false,
                    true,
                    Long.MAX_VALUE,
                    Long.MAX_VALUE,
                    Fence.COMPLETION);
        }

        @Override
        @SuppressWarnings("NullAway") // what it does wrong
        public MemoryRegistration register(
                Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey) {
            return makesNothing ? null : new Made(7);
        }

        @Override
        public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
            memoryIsFree.run();
        }

        @Override
        public void close() {}
    }
}
