// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.BOB;
import static io.bulla.registration.Scene.NONE;
import static io.bulla.registration.Scene.PATIENCE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.registration.Revocation.Clean;
import io.bulla.registration.Revocation.Quarantined;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// What peers write to: invariants 1 to 3, 9 and 11 of docs/registration.md.
class RemoteWriteTargetTest {

    @Test
    void whatPeersWroteIsSealedInPlace() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 8)) {
            Grant alice = landing.grant(ALICE, 0, 4);
            Grant bob = landing.grant(BOB, 4, 4);
            Scene.write(alice, (byte) 'a');
            Scene.write(bob, (byte) 'b');
            long address = alice.address();
            IllegalStateException open = assertThrows(IllegalStateException.class, landing::seal);
            assertTrue(open.getMessage().contains("alice#1"), open::getMessage);
            assertEquals(new Clean(), alice.complete(PATIENCE));
            assertThrows(IllegalStateException.class, landing::seal);
            assertEquals(new Clean(), bob.complete(PATIENCE));
            try (SealedBuffer message = landing.seal()) {
                assertArrayEquals("aaaabbbb".getBytes(), message.toByteArray());
                assertEquals(address, message.iovec().lent().region(0).address());
                assertThrows(IllegalStateException.class, () -> landing.grant(ALICE));
                assertThrows(IllegalStateException.class, landing::seal);
            }
            assertEquals(List.of(RetireReason.COMPLETE, RetireReason.COMPLETE), scene.device.endings());
        }
    }

    @Test
    void sealedLandingIsAStampedBuffer() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            SealedBuffer message = landing.seal(60);
            var kept = message.iovec();
            assertEquals(60, message.byteSize());
            message.close();
            assertThrows(IllegalStateException.class, () -> kept.getByte(0));
        }
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100);
                SealedBuffer nothing = landing.seal(0)) {
            assertEquals(0, nothing.byteSize());
        }
    }

    @Test
    void keyIsNeverUsedTwice() throws Exception {
        Set<Long> keys = new HashSet<>();
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 64)) {
            for (int i = 0; i < 20_000; i++) {
                Grant grant = landing.grant(i % 2 == 0 ? ALICE : BOB);
                assertTrue(keys.add(grant.key()));
                grant.revoke(PATIENCE);
            }
            assertEquals(20_000, scene.registrations.figures().granted());
        }
    }

    @Test
    void regionStaysOutWhileTheDeviceHasNotStopped() throws Exception {
        try (Scene scene = new Scene()) {
            scene.device.freeing(Freeing.LATE);
            RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000);
            Grant grant = landing.grant(ALICE);
            long address = grant.address();
            Quarantined left = assertInstanceOf(Quarantined.class, grant.revoke(NONE));
            assertEquals(ALICE, left.peer());
            assertEquals(grant.key(), left.key());
            assertEquals(1000, left.bytes());
            landing.close();
            landing.close();
            assertEquals(1, scene.registrations.figures().quarantined());
            assertEquals(1000, scene.registrations.figures().quarantinedBytes());
            assertTrue(scene.registrations.held().getFirst().toString().contains("peer=alice#1"));
            assertNotEquals(address, addressOfTheNext(scene, 1000));
            // the dead peer's bytes arrive
            Scene.write(grant, (byte) 'x');
            assertFalse(left.fence().isDone());
            scene.device.freeLate();
            left.fence().get(30, TimeUnit.SECONDS);
            assertEquals(new Clean(), grant.revoke(NONE));
            assertEquals(address, addressOfTheNext(scene, 1000));
            assertEquals(0, scene.registrations.figures().quarantined());
        }
    }

    /// It would wait for itself; the time stands for never.
    @Test
    void revocationFromWithinARegistrationDoesNotWait() {
        HostileRegistrar device = new HostileRegistrar(100, true, Fence.COMPLETION);
        List<Revocation> seen = new ArrayList<>();
        List<Registrations> there = new ArrayList<>();
        Watched watched = new Watched(device, call -> {
            if (call.equals("register")) {
                seen.addAll(there.getFirst().revoke(ALICE, Duration.ofDays(1)));
            }
        });
        MemoryBudget budget = new MemoryBudget(16 * SLAB);
        assertTimeoutPreemptively(Duration.ofMinutes(2), () -> {
            try (SlabSource memory = SlabSource.builder().budget(budget).build();
                    Registrations registrations = Registrations.of(watched, new PinBudget(64 * SLAB))) {
                there.add(registrations);
                try (RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000)) {
                    String why = assertThrows(IllegalStateException.class, () -> landing.grant(ALICE))
                            .getMessage();
                    assertTrue(why.contains("ended while its device was asked"), why);
                }
                Quarantined left = assertInstanceOf(Quarantined.class, seen.getFirst());
                assertTrue(left.why().contains("from within its registration"), left::why);
                assertTrue(left.fence().isDone());
                assertEquals(0, registrations.figures().marks());
            }
        });
        assertEquals(1, seen.size());
        assertEquals(0, budget.used());
        assertEquals(List.of(), device.complaints());
    }

    @Test
    void unusableMemoryComesWithOtherMemory() throws Exception {
        try (Scene scene = new Scene()) {
            scene.device.freeing(Freeing.NEVER);
            RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000);
            Grant grant = landing.grant(BOB);
            BufferUnusableException thrown =
                    assertThrows(BufferUnusableException.class, () -> landing.reclaim(Duration.ofMillis(1)));
            assertEquals(BOB, thrown.peer());
            assertEquals(grant.key(), thrown.key());
            assertEquals(1000, thrown.bytes());
            assertTrue(thrown.getMessage().contains("fence=COMPLETION"), thrown::getMessage);
            RemoteWriteTarget other = thrown.replacement().orElseThrow();
            assertEquals(1000, other.byteSize());
            other.seal().close();
            assertThrows(IllegalStateException.class, landing::seal);
            assertEquals(SLAB, scene.memory.bookedBytes());
            // the end of the device ends the quarantine
            scene.registrations.close();
            assertTrue(grant.isFenced());
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
        }
    }

    /// A grant that is asked for while the memory is taken back would be of memory that is believed to be free.
    @Test
    void memoryIsGrantedToNoneWhileItIsReclaimed() throws Exception {
        HostileRegistrar device = new HostileRegistrar(100, true, Fence.COMPLETION);
        List<RemoteWriteTarget> there = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        Watched watched = new Watched(device, call -> {
            if (call.equals("retire") && refused.isEmpty()) {
                refused.add(assertThrows(
                                IllegalStateException.class,
                                () -> there.getFirst().grant(BOB, 50, 10))
                        .getMessage());
            }
        });
        try (SlabSource memory = SlabSource.create();
                Registrations registrations = Registrations.of(watched, new PinBudget(64 * SLAB));
                RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 100)) {
            there.add(landing);
            landing.grant(ALICE, 0, 10);
            landing.reclaim(PATIENCE);
            assertTrue(refused.getFirst().contains("taken back"), refused::toString);
            assertEquals(List.of(), landing.unfenced());
            landing.grant(BOB, 50, 10).revoke(PATIENCE);
        }
        assertEquals(List.of(), device.complaints());
    }

    @Test
    void nothingIsNotGranted() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            assertThrows(IllegalArgumentException.class, () -> landing.grant(ALICE, 10, 0));
            assertEquals(List.of(), landing.unfenced());
        }
    }

    @Test
    void unusableMemoryWithoutOtherMemorySaysSo() throws Exception {
        HostileRegistrar device = new HostileRegistrar(10, false, Fence.NONE).freeing(Freeing.NEVER);
        MemoryBudget budget = new MemoryBudget(SLAB);
        SlabSource memory = SlabSource.builder().budget(budget).build();
        Registrations registrations = Registrations.of(device, new PinBudget(0));
        RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, SLAB);
        landing.grant(ALICE);
        BufferUnusableException thrown =
                assertThrows(BufferUnusableException.class, () -> landing.reclaim(Duration.ofMillis(1)));
        assertTrue(thrown.replacement().isEmpty());
        assertTrue(thrown.getCause().getMessage().contains("limit=" + SLAB), thrown::toString);
        registrations.close();
        memory.close(PATIENCE);
        assertEquals(0, budget.used());
    }

    @Test
    void reclaimedLandingIsGrantedAgain() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            landing.grant(ALICE, 0, 500);
            landing.grant(BOB, 500, 500);
            landing.reclaim(PATIENCE);
            assertEquals(List.of(), landing.unfenced());
            assertEquals(new Clean(), landing.grant(BOB).complete(PATIENCE));
            landing.seal().close();
        }
    }

    @Test
    void everyGrantOfAPeerIsOverBeforeAnyIsWaitedFor() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget one = scene.registrations.remoteWriteTarget(scene.memory, 1000);
                RemoteWriteTarget other = scene.registrations.remoteWriteTarget(scene.memory, 1000)) {
            Grant first = one.grant(ALICE, 0, 10);
            Grant second = other.grant(ALICE);
            Grant bobs = one.grant(BOB, 10, 10);
            scene.device.freeing(Freeing.LATE);
            List<Revocation> left = scene.registrations.revoke(ALICE, Duration.ofMillis(1));
            assertEquals(2, left.size());
            left.forEach(each -> assertInstanceOf(Quarantined.class, each));
            assertEquals(List.of(RetireReason.REVOKED, RetireReason.REVOKED), scene.device.endings());
            assertTrue(!first.isFenced() && !second.isFenced() && one.unfenced().contains(bobs));
            scene.device.freeLate();
            scene.device.freeing(Freeing.AT_ONCE);
            assertTrue(first.isFenced() && second.isFenced() && !bobs.isFenced());
        }
    }

    @Test
    void rangesOfPeersDoNotOverlap() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            Grant first = landing.grant(ALICE, 10, 10);
            assertThrows(IllegalArgumentException.class, () -> landing.grant(BOB, 19, 1));
            assertThrows(IllegalArgumentException.class, () -> landing.grant(BOB));
            assertThrows(IndexOutOfBoundsException.class, () -> landing.grant(BOB, 90, 11));
            landing.grant(BOB, 20, 80);
            first.revoke(PATIENCE);
            landing.grant(BOB, 10, 10);
        }
    }

    @Test
    void refusedGrantLeavesNothingBehind() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            scene.device.refuse(1);
            assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertEquals(List.of(), landing.unfenced());
            assertEquals(0, scene.pins.used());
            assertEquals(0, scene.registrations.figures().granted());
            landing.grant(ALICE);
        }
    }

    @Test
    void grantOverTheBudgetLeavesNothingBehind() throws Exception {
        try (Scene scene = new Scene(100, 99);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertEquals(List.of(), landing.unfenced());
            assertEquals(0, scene.device.calls());
            landing.grant(ALICE, 0, 99);
        }
    }

    @Test
    void grantThatMeetsTheEndOfItsLandingIsTakenBack() throws Exception {
        HostileRegistrar device = new HostileRegistrar(10, false, Fence.COMPLETION);
        var closing = new ArrayList<RemoteWriteTarget>();
        var watched = new Watched(device, call -> {
            if (call.equals("register")) {
                closing.getFirst().close();
            }
        });
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(watched, scene.pins)) {
            closing.add(registrations.remoteWriteTarget(scene.memory, SLAB));
            assertThrows(IllegalStateException.class, () -> closing.getFirst().grant(ALICE));
            assertEquals(List.of(RetireReason.REVOKED), device.endings());
            assertEquals(0, registrations.figures().surprises());
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
        }
    }

    @Test
    void callbackOfAGrantThatComesTwiceCountsOnce() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            scene.device.freeing(Freeing.TWICE);
            landing.grant(ALICE).revoke(PATIENCE);
            assertEquals(1, scene.registrations.figures().surprises());
            assertEquals(0, scene.pins.used());
            landing.seal().close();
        }
    }

    @Test
    void keyOfAnotherPeerIsRefusedAndItsMemoryStaysOut() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            scene.device.sameKey().freeing(Freeing.LATE);
            landing.grant(ALICE, 0, 10);
            assertThrows(RegistrationRefusedException.class, () -> landing.grant(BOB, 10, 10));
            assertEquals(2, landing.unfenced().size());
            scene.device.freeLate();
            assertEquals(1, landing.unfenced().size());
            scene.device.freeing(Freeing.AT_ONCE);
        }
    }

    @Test
    void interruptEndsTheWaitingAndStays() throws Exception {
        try (Scene scene = new Scene();
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 100)) {
            scene.device.freeing(Freeing.LATE);
            Thread.currentThread().interrupt();
            Quarantined left =
                    assertInstanceOf(Quarantined.class, landing.grant(ALICE).revoke(PATIENCE));
            assertTrue(Thread.interrupted());
            assertTrue(left.why().contains("interrupted"), left::why);
            scene.device.freeLate();
        }
    }

    @Test
    void sourceWithoutReuseHasNoSlabs() throws Exception {
        try (Scene scene = new Scene();
                SlabSource plain = SlabSource.builder().reuse(false).build()) {
            assertThrows(IllegalArgumentException.class, () -> scene.registrations.remoteWriteTarget(plain, 100));
            // and keeps none of its memory
            plain.close(PATIENCE);
        }
    }

    @Test
    void randomLivesLeaveEveryByteWithOneOwner() throws Exception {
        Random random = new Random(22);
        Freeing[] ways = {Freeing.AT_ONCE, Freeing.LATE, Freeing.TWICE, Freeing.THROWS};
        try (Scene scene = new Scene()) {
            List<SealedBuffer> sealed = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                scene.device.freeing(i % 50 == 0 ? ways[random.nextInt(4)] : ways[random.nextInt(3)]);
                byte value = (byte) i;
                int size = 1 + random.nextInt(20_000);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, size);
                Grant grant = landing.grant(new Peer(i, "p"));
                Scene.write(grant, value);
                Revocation end = random.nextBoolean() ? grant.complete(NONE) : grant.revoke(NONE);
                if (end instanceof Clean) {
                    sealed.add(landing.seal());
                } else {
                    landing.close();
                    // dead, and still writing
                    Scene.write(grant, (byte) -1);
                    if (random.nextInt(4) == 0) {
                        scene.device.freeLate();
                    }
                }
                while (sealed.size() > 40) {
                    try (SealedBuffer each = sealed.remove(random.nextInt(sealed.size()))) {
                        byte[] expected = new byte[(int) each.byteSize()];
                        Arrays.fill(expected, each.iovec().getByte(0));
                        assertArrayEquals(expected, each.toByteArray());
                    }
                }
            }
            sealed.forEach(SealedBuffer::close);
            scene.device.freeLate();
        }
    }

    private static long addressOfTheNext(Scene scene, long byteSize) {
        var region = scene.memory.allocate(byteSize);
        long address = region.segment().address();
        region.release();
        return address;
    }
}
