// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Peer;
import io.bulla.runtime.registration.Grant;
import io.bulla.runtime.registration.Landing;
import io.bulla.runtime.registration.PinBudget;
import io.bulla.runtime.registration.Registrations;
import io.bulla.runtime.registration.Revocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two domains of one process; `./check registration` has processes that are killed.
class FabricDomainTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer WRITER = new Peer(1, "writer");
    private static final Peer READER = new Peer(2, "reader");
    private static final int LARGE = 32 << 20;

    @Test
    void providersSayWhatTheyPromise() throws Exception {
        List<FabricProvider> all = providers();
        for (FabricProvider each : all) {
            assertEquals(each.name().equals("shm") ? Fence.STEP : Fence.ENDPOINT, each.fence());
            assertTrue(each.mostMessageBytes() > 0 && each.keyBytes() > 0, each::toString);
        }
        assertEquals("1.17", Libfabric.text(Libfabric.version()));
    }

    @Test
    void nullIsStillANullPointerException() throws Exception {
        providers();
        // one that is met by the signal of the machine and not by a comparison: a field of an object that never was
        // null
        Field[] fields = {new Field()};
        for (int i = 0; i < 100_000; i++) {
            fields[0].value++;
        }
        fields[0] = null;
        assertThrows(NullPointerException.class, () -> fields[0].value++);
    }

    private static final class Field {
        private int value;
    }

    @Test
    void unknownProviderIsRefusedByName() throws Exception {
        providers();
        FabricException refused = assertThrows(FabricException.class, () -> FabricDomain.open("no-such"));
        assertTrue(refused.getMessage().contains("provider=no-such"), refused::getMessage);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "net", "sockets"})
    void whatAPeerWritesIsSealed(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                Landing landing = scene.registrations.landing(scene.memory, 5000)) {
            Grant grant = landing.grant(WRITER);
            FabricWrite write = scene.write(grant, (byte) 'w', 5000);
            scene.until(write);
            assertInstanceOf(Revocation.Clean.class, grant.complete(PATIENCE));
            byte[] expected = new byte[5000];
            Arrays.fill(expected, (byte) 'w');
            try (SealedBuffer message = landing.seal()) {
                assertArrayEquals(expected, message.toByteArray());
            }
            assertSame(scene.reader.endpoint(WRITER), scene.reader.endpoint(WRITER));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "net", "sockets"})
    void writeByAnOldKeyReachesNothing(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                Landing landing = scene.registrations.landing(scene.memory, 5000)) {
            Grant grant = landing.grant(WRITER);
            scene.until(scene.write(grant, (byte) 'a', 5000));
            grant.complete(PATIENCE);
            Grant next = landing.grant(WRITER);
            FabricWrite late = scene.write(grant, (byte) 'b', 5000);
            scene.progress(late, Duration.ofSeconds(3));
            assertTrue(!late.isDone() || scene.failed(late), late::toString);
            next.revoke(PATIENCE);
            try (SealedBuffer message = landing.seal()) {
                for (byte each : message.toByteArray()) {
                    assertEquals('a', each);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "net", "sockets"})
    void noByteArrivesAfterARevocation(String provider) throws Exception {
        try (Scene scene = new Scene(provider)) {
            Landing landing = scene.registrations.landing(scene.memory, LARGE);
            Grant grant = landing.grant(WRITER);
            FabricWrite write = scene.write(grant, (byte) 'd', LARGE);
            MemorySegment bytes = Scene.at(grant);
            scene.progressUntilItBegins(bytes);
            assertEquals(List.of(new Revocation.Clean()), scene.registrations.revoke(WRITER, PATIENCE));
            assertFalse(scene.registrations.held().stream()
                    .anyMatch(each -> each.peer().contains("writer")));
            bytes.fill((byte) 'n');
            scene.progress(write, Duration.ofMillis(500));
            assertEquals(-1, bytes.mismatch(scene.filled((byte) 'n', LARGE)));
            landing.close();
            // the peer is served again, by another endpoint
            try (Landing again = scene.registrations.landing(scene.memory, 10)) {
                assertNotNull(scene.reader.endpoint(WRITER));
                again.grant(WRITER).revoke(PATIENCE);
            }
        }
    }

    @Test
    void remoteOperationHasADeadline() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm");
                Landing landing = scene.registrations.landing(scene.memory, LARGE)) {
            FabricWrite write = scene.write(landing.grant(WRITER), (byte) 'x', LARGE);
            // the reader makes no progress
            assertThrows(TimeoutException.class, () -> write.await(Duration.ofMillis(200)));
        }
    }

    private static List<FabricProvider> providers() {
        try {
            List<FabricProvider> all = FabricProvider.all();
            assumeTrue(!all.isEmpty(), "SKIPPED: libfabric has no provider here");
            return all;
        } catch (FabricException none) {
            assumeTrue(false, "SKIPPED: " + none.getMessage());
            throw new AssertionError(none);
        }
    }

    /// A domain that grants and one that writes.
    private static final class Scene implements AutoCloseable {

        final SlabSource memory = SlabSource.create();
        final FabricDomain reader;
        final FabricDomain writer;
        final Registrations registrations;
        private final Arena arena = Arena.ofShared();
        private final FabricEndpoint from;
        private final long to;

        Scene(String provider) throws Exception {
            assumeTrue(providers().stream().anyMatch(each -> each.name().equals(provider)), "SKIPPED: no " + provider);
            reader = FabricDomain.open(provider);
            writer = FabricDomain.open(provider);
            registrations = Registrations.of(reader, new PinBudget(1L << 40));
            from = writer.endpoint(READER);
            to = from.connect(reader.endpoint(WRITER).name());
        }

        FabricWrite write(Grant grant, byte value, int size) throws FabricException {
            return from.write(
                    to, grant.key(), reader.provider().byAddress() ? grant.address() : 0, filled(value, size));
        }

        MemorySegment filled(byte value, int size) {
            MemorySegment bytes = arena.allocate(size, 64);
            bytes.fill(value);
            return bytes;
        }

        @SuppressWarnings("restricted")
        static MemorySegment at(Grant grant) {
            return MemorySegment.ofAddress(grant.address()).reinterpret(grant.byteSize());
        }

        void until(FabricWrite write) throws Exception {
            progress(write, PATIENCE);
            write.await(Duration.ofSeconds(10));
        }

        boolean failed(FabricWrite write) throws Exception {
            try {
                write.await(Duration.ZERO);
                return false;
            } catch (FabricException said) {
                return true;
            }
        }

        void progress(FabricWrite write, Duration time) throws FabricException {
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - end < 0 && !write.isDone()) {
                reader.progress();
                writer.progress();
            }
        }

        void progressUntilItBegins(MemorySegment bytes) throws FabricException {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (bytes.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0) != 'd') {
                assertTrue(System.nanoTime() - end < 0, "nothing arrives");
                reader.progress();
                writer.progress();
            }
        }

        @Override
        public void close() {
            registrations.close();
            writer.close();
            arena.close();
            try {
                memory.close(PATIENCE);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
        }
    }
}
