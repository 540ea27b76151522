// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.PATIENCE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.RetireReason;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// The cache of one device: invariants 1, 2, 4 to 7, 10 and 12 of docs/registration.md. It does not outlive the
/// memory, as in libfabric#6474, libfabric#5944 and ucx#11467.
class RegistrationsTest {

    @Test
    void slabIsRegisteredOnceForAllItsBuffers() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer one = scene.buffer(1, 1000);
                SealedBuffer other = scene.buffer(2, 1000)) {
            long key = keyOf(scene, one);
            assertEquals(key, keyOf(scene, other));
            assertEquals(key, keyOf(scene, one));
            assertEquals(1, scene.device.calls());
            assertEquals(SLAB, scene.pins.used());
        }
    }

    @Test
    void slabThatADeviceKnowsIsNotGivenBack() throws Exception {
        try (Scene scene = new Scene()) {
            RegistrationUse use;
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                use = use(scene, buffer);
            }
            scene.memory.trim();
            assertEquals(SLAB, scene.memory.bookedBytes());
            assertEquals(1, scene.device.open());
            use.close();
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
            assertEquals(0, scene.device.open());
        }
    }

    @Test
    void slabIsNotGivenBackBeforeTheDeviceHasLetGo() throws Exception {
        try (Scene scene = new Scene()) {
            scene.device.freeing(Freeing.LATE);
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                use(scene, buffer).close();
            }
            scene.memory.trim();
            assertEquals(List.of(RetireReason.IDLE), scene.device.endings());
            assertEquals(SLAB, scene.memory.bookedBytes());
            assertEquals(SLAB, scene.pins.used());
            scene.device.freeLate();
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
            assertEquals(0, scene.pins.used());
        }
    }

    @Test
    void wholeSlabsAreUsedAgainWithTheirRegistration() throws Exception {
        try (Scene scene = new Scene()) {
            long slab = 0;
            for (int i = 0; i < 10; i++) {
                try (SealedBuffer large = scene.buffer(i, 1 << 20)) {
                    use(scene, large).close();
                    Slab now = Objects.requireNonNull(Slab.of(large.iovec(), 0));
                    slab = slab == 0 ? now.id() : slab;
                    assertEquals(slab, now.id());
                }
            }
            assertEquals(1, scene.device.calls());
            assertEquals(SLAB, scene.memory.bookedBytes());
        }
    }

    @Test
    void slabThatIsWantedIsTakenFromAnIdleRegistration() throws Exception {
        try (Scene scene = new Scene()) {
            for (int i = 0; i < 8; i++) {
                try (SealedBuffer large = scene.buffer(i, 2 * SLAB)) {
                    use(scene, large).close();
                }
                try (SealedBuffer larger = scene.buffer(i, 9 * SLAB)) {
                    use(scene, larger).close();
                }
            }
            // both sizes do not fit beside each other and a third
            try (SealedBuffer largest = scene.buffer(9, 16 * SLAB)) {
                assertNotNull(Slab.of(largest.iovec(), 0));
                assertThrows(MemoryLimitException.class, () -> scene.buffer(9, 100));
            }
        }
    }

    @Test
    void foreignMemoryIsNeverRegistered() throws Exception {
        try (Scene scene = new Scene();
                Arena arena = Arena.ofShared();
                SealedBuffer adopted = SealedBuffer.adopt(arena.allocate(4096, 4096), () -> {});
                ArenaSource chunks = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(chunks);
                SealedBuffer carved = builder.putInt(1).seal()) {
            assertNull(scene.registrations.use(adopted, 0));
            assertNull(scene.registrations.use(carved, 0));
            assertEquals(0, scene.device.calls());
        }
    }

    @Test
    void regionsOfAConcatenationAreFoundEach() throws Exception {
        try (Scene scene = new Scene();
                Arena arena = Arena.ofShared();
                SealedBuffer small = scene.buffer(1, 1000);
                SealedBuffer large = scene.buffer(2, SLAB);
                SealedBuffer adopted = SealedBuffer.adopt(arena.allocate(64), () -> {});
                SealedBuffer all = SealedBuffer.concat(small, adopted, large)) {
            assertEquals(keyOf(scene, small), keyOf(scene, all, 0));
            assertNull(scene.registrations.use(all, 1));
            assertEquals(keyOf(scene, large), keyOf(scene, all, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> scene.registrations.use(small, 1));
        }
    }

    @Test
    void addressThatIsUsedAgainIsRegisteredAgain() throws Exception {
        try (Scene scene = new Scene()) {
            long firstKey;
            long address;
            Slab before;
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                firstKey = keyOf(scene, buffer);
                before = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
                address = before.address();
            }
            scene.registrations.quiesce(PATIENCE);
            scene.memory.trim();
            List<SealedBuffer> taken = new ArrayList<>();
            Slab now = before;
            for (int i = 0; i < 64 && (now.address() != address || now == before); i++) {
                taken.add(scene.buffer(2, SLAB));
                now = Objects.requireNonNull(Slab.of(taken.getLast().iovec(), 0));
                if (taken.size() > 12) {
                    taken.removeFirst().close();
                }
            }
            assertNotEquals(before.id(), now.id());
            assertNotEquals(firstKey, keyOf(scene, taken.getLast()));
            assertFalse(before.hold(new Registration(scene.registrations.marks, before)), "a slab whose life is over");
            taken.forEach(SealedBuffer::close);
        }
    }

    @Test
    void roomIsMadeByTheLongestUnused() throws Exception {
        try (Scene scene = new Scene(2, 64 * SLAB);
                SealedBuffer a = scene.buffer(1, SLAB);
                SealedBuffer b = scene.buffer(2, SLAB);
                SealedBuffer c = scene.buffer(3, SLAB)) {
            long keyOfA = keyOf(scene, a);
            long keyOfB = keyOf(scene, b);
            scene.registrations.trim();
            assertEquals(keyOfA, keyOf(scene, a));
            keyOf(scene, c);
            assertEquals(keyOfA, keyOf(scene, a));
            assertNotEquals(keyOfB, keyOf(scene, b));
            assertEquals(2, scene.registrations.figures().marks());
        }
    }

    @Test
    void whatIsUsedIsNeverTakenBack() throws Exception {
        try (Scene scene = new Scene(1, 64 * SLAB);
                SealedBuffer used = scene.buffer(1, SLAB);
                SealedBuffer other = scene.buffer(2, SLAB)) {
            try (RegistrationUse use = use(scene, used)) {
                assertNull(scene.registrations.use(other, 0));
                scene.registrations.trim();
                scene.registrations.trim();
                assertEquals(1, scene.device.open());
                assertTrue(use.toString().contains("live uses=1"), use::toString);
            }
            assertEquals(0, scene.registrations.figures().evicted());
        }
    }

    @Test
    void whatWasNotUsedSinceTheLastTrimIsTakenBack() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer a = scene.buffer(1, SLAB);
                SealedBuffer b = scene.buffer(2, SLAB)) {
            keyOf(scene, a);
            keyOf(scene, b);
            scene.registrations.trim();
            assertEquals(2, scene.device.open());
            keyOf(scene, a);
            scene.registrations.trim();
            assertEquals(1, scene.device.open());
            assertEquals(1, scene.registrations.figures().evicted());
        }
    }

    @Test
    void underTheLimitOneOfTwoGoesAndTheOtherIsRefusedWithAReason() throws Exception {
        // 5 MiB and 5 MiB below 8, in slabs of 6
        try (Scene scene = new Scene(100, 8 << 20);
                SealedBuffer one = scene.buffer(1, 5 << 20);
                SealedBuffer other = scene.buffer(2, 5 << 20)) {
            try (RegistrationUse use = use(scene, one)) {
                assertNotNull(use);
                assertNull(scene.registrations.use(other, 0));
            }
            String reason = Objects.requireNonNull(scene.registrations.lastRefusal());
            for (String part :
                    List.of("bytes=6291456", "pinned=6291456", "limit=8388608", "rlimit=", "hostile slab=")) {
                assertTrue(reason.contains(part), reason);
            }
            assertEquals(6 << 20, scene.pins.peak());
        }
    }

    @Test
    void refusingDeviceIsNotAskedAgainAtOnce() throws Exception {
        AtomicLong clock = new AtomicLong();
        HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, scene.pins, clock::get);
                SealedBuffer buffer = scene.buffer(1, 1000)) {
            device.refuse(1);
            assertNull(registrations.use(buffer, 0));
            assertNull(registrations.use(buffer, 0));
            assertEquals(1, device.calls());
            assertEquals(2, registrations.figures().refused());
            clock.addAndGet(1_000_000_000);
            RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0));
            use.close();
            assertEquals(2, device.calls());
        }
    }

    @Test
    void callbackThatComesTwiceCountsOnce() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, 1000)) {
            scene.device.freeing(Freeing.TWICE);
            use(scene, buffer).close();
            scene.registrations.quiesce(PATIENCE);
            assertEquals(1, scene.registrations.figures().surprises());
            assertEquals(0, scene.pins.used());
            assertEquals(0, Objects.requireNonNull(Slab.of(buffer.iovec(), 0)).holderCount());
        }
    }

    @Test
    void memoryOfADeviceThatThrowsWaitsForItsEnd() throws Exception {
        try (Scene scene = new Scene()) {
            scene.device.freeing(Freeing.THROWS);
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                use(scene, buffer).close();
            }
            scene.memory.trim();
            scene.memory.trim();
            assertEquals(1, scene.registrations.figures().surprises());
            assertEquals(SLAB, scene.memory.bookedBytes());
            assertTrue(
                    scene.registrations.held().getFirst().toString().contains("closing"),
                    () -> scene.registrations.held().toString());
            scene.registrations.close();
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
        }
    }

    @Test
    void keyThatIsAnotherMarksIsRefused() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer one = scene.buffer(1, SLAB);
                SealedBuffer other = scene.buffer(2, SLAB)) {
            scene.device.sameKey();
            keyOf(scene, one);
            assertNull(scene.registrations.use(other, 0));
            assertEquals(1, scene.registrations.figures().surprises());
            assertEquals(List.of(RetireReason.IDLE), scene.device.endings());
            keyOf(scene, one);
        }
    }

    @Test
    void everyFailureOfADeviceLeavesNothingBehind() throws Exception {
        for (int nth = 1; nth <= 5; nth++) {
            try (Scene scene = new Scene()) {
                scene.device.refuse(nth);
                for (int i = 0; i < 6; i++) {
                    try (SealedBuffer buffer = scene.buffer(i, SLAB);
                            RegistrationUse use = scene.registrations.use(buffer, 0)) {
                        assertTrue(use != null || scene.registrations.lastRefusal() != null);
                    }
                    scene.registrations.quiesce(PATIENCE);
                }
                RegistrationFigures figures = scene.registrations.figures();
                assertEquals(0, figures.marks());
                assertEquals(6, figures.registered() + figures.refused());
                assertEquals(0, scene.pins.used());
            }
        }
    }

    @Test
    void noLockIsHeldWhileADeviceIsCalled() throws Exception {
        HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION);
        var asked = new ArrayList<String>();
        var elsewhere = new ArrayList<Registrations>();
        var watched = new Watched(device, step -> {
            // another thread gets through everything that has a lock
            asked.add(step);
            CompletableFuture.runAsync(() -> {
                        elsewhere.getFirst().figures();
                        elsewhere.getFirst().held();
                        elsewhere.getFirst().trim();
                    })
                    .get(30, TimeUnit.SECONDS);
        });
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(watched, scene.pins)) {
            elsewhere.add(registrations);
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                Objects.requireNonNull(registrations.use(buffer, 0)).close();
            }
            watched.alsoTrims(scene.memory);
            scene.memory.trim();
            assertEquals(0, registrations.figures().surprises());
        }
        assertEquals(List.of("register", "retire"), asked);
    }

    @Test
    void devicesOfASlabAreIndependent() throws Exception {
        HostileRegistrar stuck = new HostileRegistrar(100, false, Fence.NONE).freeing(Freeing.NEVER);
        try (Scene scene = new Scene();
                Registrations bad = Registrations.of(stuck, scene.pins)) {
            try (SealedBuffer buffer = scene.buffer(1, 1000)) {
                Objects.requireNonNull(bad.use(buffer, 0)).close();
                keyOf(scene, buffer);
                assertEquals(
                        2, Objects.requireNonNull(Slab.of(buffer.iovec(), 0)).holderCount());
                assertThrows(IllegalStateException.class, () -> bad.quiesce(Duration.ZERO));
                scene.registrations.quiesce(PATIENCE);
                keyOf(scene, buffer);
            }
            // the slab waits for the one that is stuck; others do not
            scene.memory.trim();
            assertEquals(SLAB, scene.memory.bookedBytes());
            try (SealedBuffer next = scene.buffer(2, SLAB)) {
                keyOf(scene, next);
            }
            end(bad);
            scene.memory.trim();
            assertEquals(0, scene.memory.bookedBytes());
        }
    }

    @Test
    void quiescedDeviceKnowsNothingAndIsUsedAgain() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, 1000)) {
            long key = keyOf(scene, buffer);
            long slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0)).id();
            try (RegistrationUse use = use(scene, buffer)) {
                IllegalStateException used = assertThrows(
                        IllegalStateException.class, () -> scene.registrations.quiesce(Duration.ofMillis(1)));
                assertTrue(used.getMessage().contains("retiring uses=1"), used::getMessage);
                assertNull(scene.registrations.use(buffer, 0), "a use while it retires");
                assertNotNull(use);
            }
            scene.registrations.quiesce(PATIENCE);
            assertEquals(0, scene.device.open());
            assertNotEquals(key, keyOf(scene, buffer));
            assertEquals(
                    slab, Objects.requireNonNull(Slab.of(buffer.iovec(), 0)).id());
        }
    }

    @Test
    void closeUnderAnOperationIsRefused() throws Exception {
        try (Scene scene = new Scene();
                SealedBuffer buffer = scene.buffer(1, 1000)) {
            RegistrationUse use = use(scene, buffer);
            assertThrows(IllegalStateException.class, scene.registrations::close);
            use.close();
            use.close();
            scene.registrations.close();
            assertNull(scene.registrations.use(buffer, 0));
        }
    }

    /// Eviction under load: what is in use is never taken back, and every byte comes home.
    @Test
    void manyThreadsShareFewMarks() throws Exception {
        try (Scene scene = new Scene(3, 64 * SLAB)) {
            List<CompletableFuture<Long>> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long seed = t;
                threads.add(CompletableFuture.supplyAsync(() -> load(scene, new Random(seed))));
            }
            long used = 0;
            for (var each : threads) {
                used += each.get(60, TimeUnit.SECONDS);
            }
            assertTrue(used > 0);
            scene.registrations.quiesce(PATIENCE);
            assertEquals(0, scene.device.open());
        }
    }

    private static long load(Scene scene, Random random) {
        long used = 0;
        for (int i = 0; i < 2_000; i++) {
            try (SealedBuffer buffer = scene.buffer(i, random.nextInt(10) == 0 ? SLAB : 4000);
                    RegistrationUse use = scene.registrations.use(buffer, 0)) {
                if (use != null) {
                    used++;
                    Slab slab = Objects.requireNonNull(Slab.of(buffer.iovec(), 0));
                    if (slab.holderCount() == 0 || scene.device.open() == 0) {
                        throw new AssertionError("taken back while in use: " + slab);
                    }
                }
            }
        }
        return used;
    }

    private static void end(Registrations device) {
        device.close();
    }

    private static RegistrationUse use(Scene scene, SealedBuffer buffer) {
        return Objects.requireNonNull(scene.registrations.use(buffer, 0));
    }

    private static long keyOf(Scene scene, SealedBuffer buffer) {
        return keyOf(scene, buffer, 0);
    }

    private static long keyOf(Scene scene, SealedBuffer buffer, int region) {
        try (RegistrationUse use = scene.registrations.use(buffer, region)) {
            return Objects.requireNonNull(use).registration().key();
        }
    }
}
