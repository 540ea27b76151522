// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.NONE;
import static io.bulla.registration.Scene.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The list of marks, and the keys of devices that make them up.
class MarksTest {

    private static final int PART = 10;

    @Test
    void marksAreListedOldestFirstWhicheverEnds() throws Exception {
        for (int first = 0; first < 4; first++) {
            for (int second = 0; second < 3; second++) {
                try (Scene scene = new Scene();
                        RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 10 * PART)) {
                    List<Grant> left = new ArrayList<>();
                    for (int i = 0; i < 4; i++) {
                        left.add(landing.grant(new Peer(i, "peer"), (long) i * PART, PART));
                    }
                    for (int at : List.of(first, second)) {
                        assertInstanceOf(Revocation.Clean.class, left.remove(at).revoke(NONE));
                        assertEquals(peers(left), heldFor(scene));
                    }
                    left.add(landing.grant(new Peer(9, "peer"), 9 * PART, PART));
                    assertEquals(peers(left), heldFor(scene));
                    assertEquals(3, scene.registrations.figures().marks());
                }
            }
        }
    }

    private static List<String> peers(List<Grant> grants) {
        return grants.stream().map(each -> each.peer().toString()).toList();
    }

    private static List<String> heldFor(Scene scene) {
        return scene.registrations.held().stream().map(PinnedMemory::peer).toList();
    }

    /// Its patience is longer than that of the test.
    @Test
    void lastMarkWakesWhatWaitsForIt() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer one = scene.buffer(1, Scene.SLAB);
                SealedBuffer other = scene.buffer(2, Scene.SLAB)) {
            for (SealedBuffer each : List.of(one, other)) {
                assertTrue(scene.registrations.use(each, 0) instanceof RegistrationUse use && ended(use));
            }
            scene.device.freeing(Freeing.LATE);
            CompletableFuture<String> quiet = new CompletableFuture<>();
            Thread waits = Thread.ofPlatform().start(() -> {
                try {
                    scene.registrations.quiesce(Duration.ofHours(1));
                    quiet.complete("quiet");
                } catch (Throwable failure) {
                    quiet.completeExceptionally(failure);
                }
            });
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (waits.getState() != Thread.State.TIMED_WAITING && System.nanoTime() - end < 0) {
                Thread.onSpinWait();
            }
            scene.device.freeLate();
            assertEquals("quiet", quiet.get(60, TimeUnit.SECONDS));
            assertEquals(0, scene.registrations.figures().marks());
        }
    }

    private static boolean ended(RegistrationUse use) {
        use.close();
        return true;
    }

    @Test
    void keyThatADeviceMakesUpIsGivenOnceAtATime() throws Exception {
        MakesUpKeys device = new MakesUpKeys();
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, new PinBudget(Long.MAX_VALUE));
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 3 * PART)) {
            Grant first = landing.grant(Scene.ALICE, 0, PART);
            assertEquals(MakesUpKeys.KEY, first.key());
            RegistrationRefusedException twice =
                    assertThrows(RegistrationRefusedException.class, () -> landing.grant(Scene.BOB, PART, PART));
            assertTrue(twice.getMessage().startsWith("device gave a key that is in use: "), twice::getMessage);
            assertEquals(1, registrations.figures().surprises());
            assertEquals(1, registrations.figures().granted());
            first.revoke(NONE);
            // the device may use it again when the memory of the first is free
            assertEquals(
                    MakesUpKeys.KEY, landing.grant(Scene.BOB, 2 * PART, PART).key());
            assertEquals(2, registrations.figures().granted());
        }
    }

    @Test
    void markThatIsMadeWhileItsDeviceIsClosedKeepsNoSlab() throws Exception {
        ClosedMeanwhile device = new ClosedMeanwhile();
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, 100)) {
            Registrations registrations = Registrations.of(device, new PinBudget(Long.MAX_VALUE));
            device.meanwhile = registrations::close;
            assertNull(registrations.use(buffer, 0));
            assertEquals(0, registrations.figures().marks());
            assertEquals(List.of(), registrations.held());
            assertEquals(0, Objects.requireNonNull(Slab.of(buffer.iovec(), 0)).holderCount());
        }
    }

    /// A thread closes it while another one is told of its mark. Closed, it says nothing any more.
    private static final class ClosedMeanwhile implements Registrar {

        private record Made(long key) implements MemoryRegistration {}

        private Runnable meanwhile = () -> {};
        private boolean closed;

        @Override
        public DeviceCapabilities capabilities() {
            return new DeviceCapabilities(
                    "closed-meanwhile",
                    Set.of(Access.LOCAL),
                    false,
                    false,
                    Long.MAX_VALUE,
                    Long.MAX_VALUE,
                    Fence.COMPLETION);
        }

        @Override
        public MemoryRegistration register(
                Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey) {
            meanwhile.run();
            return new Made(wantedKey);
        }

        @Override
        public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
            if (!closed) {
                memoryIsFree.run();
            }
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /// Gives the same key each time.
    private static final class MakesUpKeys implements Registrar {

        static final long KEY = 5;

        private record Made(long key) implements MemoryRegistration {}

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
        public MemoryRegistration register(
                Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey) {
            return new Made(KEY);
        }

        @Override
        public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
            memoryIsFree.run();
        }

        @Override
        public void close() {}
    }
}
