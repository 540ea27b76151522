// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Peer;
import io.bulla.refcount.LeaseTally;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two domains of one process; `./check registration` has processes that are killed.
class FabricDomainTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer WRITER = new Peer(1, "writer");
    private static final Peer READER = new Peer(2, "reader");
    private static final int LARGE = 32 << 20;
    private static final LeaseTally OPEN = new LeaseTally();

    @Test
    void providersSayWhatTheyPromise() throws Exception {
        List<FabricProvider> all = Providers.all();
        for (FabricProvider each : all) {
            assertEquals(each.name().equals("shm") ? Fence.STEP : Fence.ENDPOINT, each.fence());
            assertTrue(each.mostMessageBytes() > 0 && each.keyBytes() > 0, each::toString);
        }
        assertFalse(all.stream().anyMatch(each -> Set.of("net", "tcp").contains(each.name())));
    }

    @Test
    void nullIsStillANullPointerException() throws Exception {
        Providers.all();
        if (Providers.all().stream().anyMatch(each -> each.name().equals("shm"))) {
            // it takes the signal by which the JVM finds null, with its first endpoint
            try (FabricDomain shm = FabricDomain.open("shm")) {
                assertNotNull(shm.endpoint(READER));
            }
        }
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
    void signalsAreHandledAsBefore() throws Exception {
        List<Long> before = handlers();
        for (FabricProvider each : Providers.all()) {
            try (FabricDomain domain = FabricDomain.open(each.name())) {
                assertNotNull(domain.endpoint(READER));
                assertEquals(before, handlers(), each::name);
            }
            assertEquals(before, handlers(), each::name);
        }
    }

    /// With the 16 KiB a buffer that rxm takes by itself it was some 700 MiB here; now it is 90.
    @Test
    void endpointsTakeLittleMemory() throws Exception {
        Providers.need("tcp;ofi_rxm");
        try (FabricDomain domain = FabricDomain.open("tcp;ofi_rxm")) {
            assertNotNull(domain.endpoint(READER));
            long before = residentBytes();
            for (int i = 0; i < 10; i++) {
                assertNotNull(domain.endpoint(new Peer(100 + i, "peer")));
            }
            long taken = residentBytes() - before;
            assertTrue(taken < 300L << 20, () -> "endpoints=10 bytes=" + taken);
        }
    }

    private static long residentBytes() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
    }

    private static List<Long> handlers() {
        return IntStream.rangeClosed(1, 31).mapToObj(SignalHandlers::handlerOf).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void bufferArrivesAsAMessage(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                SealedBuffer two = scene.many(2, 700);
                SealedBuffer many = scene.many(11, 300);
                SealedBuffer large = scene.many(1, 1 << 20);
                SealedBuffer none = SealedBuffer.concat()) {
            for (SealedBuffer each : List.of(two, many, large, none)) {
                scene.sendAndReceive(each);
            }
        }
        assertEquals(0, OPEN.open());
    }

    @Test
    void messageLongerThanItsRoomIsAnError() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm");
                Arena arena = Arena.ofShared();
                SealedBuffer message = scene.many(1, 300)) {
            FabricReceive receive = scene.reader.endpoint(WRITER).receive(arena.allocate(100));
            FabricSend send = scene.from.send(scene.to, message);
            scene.progress(receive, PATIENCE);
            assertThrows(FabricException.class, () -> receive.await(Duration.ofSeconds(10)));
            scene.progress(send, Duration.ofSeconds(1));
        }
        assertEquals(0, OPEN.open());
    }

    @Test
    void memoryOnTheHeapIsRefused() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm")) {
            MemorySegment heap = MemorySegment.ofArray(new byte[10]);
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> scene.from.write(scene.to, 1, 0, heap));
            assertEquals("memory is on the heap: region=0 byteSize=10", refused.getMessage());
        }
    }

    /// A peer's message would overwrite a sealed buffer, or memory that is not there.
    @Test
    void memoryThatCannotBeReceivedIntoIsRefused() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm")) {
            Arena closed = Arena.ofConfined();
            MemorySegment freed = closed.allocate(10);
            closed.close();
            MemorySegment sealed = scene.arena.allocate(10).asReadOnly();
            MemorySegment heap = MemorySegment.ofArray(new byte[10]);
            assertReceiveRefused(scene, heap, "readOnly=false native=false alive=true");
            assertReceiveRefused(scene, sealed, "readOnly=true native=true alive=true");
            assertReceiveRefused(scene, freed, "readOnly=false native=true alive=false");
        }
    }

    private static void assertReceiveRefused(Scene scene, MemorySegment into, String why) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> scene.from.receive(into), why);
        assertEquals("cannot receive into this: byteSize=10 " + why, refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void buffersRegionsAreWrittenBesideEachOther(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                SealedBuffer many = scene.many(11, 3000);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, many.byteSize())) {
            Grant grant = landing.grant(WRITER);
            FabricWrite write = scene.from.write(scene.to, grant.key(), scene.target(grant), many);
            scene.until(write);
            assertInstanceOf(Revocation.Clean.class, grant.complete(PATIENCE));
            try (SealedBuffer message = landing.seal()) {
                assertArrayEquals(many.toByteArray(), message.toByteArray());
            }
        }
        assertEquals(0, OPEN.open());
    }

    /// One endpoint's peer never answers; the other's does.
    @Test
    void endpointThatWaitsDelaysNoOther() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm");
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 5000)) {
            FabricDomain third = FabricDomain.open("tcp;ofi_rxm");
            byte[] gone = third.endpoint(WRITER).name();
            third.close();
            FabricEndpoint lonely = scene.writer.endpoint(new Peer(3, "gone"));
            FabricWrite never = lonely.write(lonely.connect(gone), 1, 0, scene.filled((byte) 'x', 100));
            Grant grant = landing.grant(WRITER);
            scene.until(scene.write(grant, (byte) 'a', 5000));
            lonely.close();
            assertTrue(never.isDone());
            assertThrows(FabricException.class, () -> never.await(Duration.ZERO));
        }
    }

    /// Without a look at libfabric: its peers could end the process.
    @ParameterizedTest
    @ValueSource(strings = {"net", "tcp"})
    void providerThatTrustsItsPeersIsNotOffered(String provider) {
        FabricException refused = assertThrows(FabricException.class, () -> FabricDomain.open(provider));
        assertEquals(
                "provider: error=0 a peer's wrong writes can crash this process: provider=" + provider
                        + " use=tcp;ofi_rxm",
                refused.getMessage());
    }

    @Test
    void otherVersionIsRefusedByThoseThatWork() throws Exception {
        for (int works : List.of(1 << 16 | 17, 1 << 16 | 20, 1 << 16 | 22, 2 << 16 | 1, 2 << 16 | 6)) {
            Libfabric.check(works);
        }
        for (int other : List.of(1 << 16 | 16, 3 << 16)) {
            FabricException refused = assertThrows(FabricException.class, () -> Libfabric.check(other));
            assertEquals(
                    "fi_version: error=0 found=" + Libfabric.text(other) + " taken=1.17 to 2.x", refused.getMessage());
        }
    }

    @Test
    void unknownProviderIsRefusedByName() throws Exception {
        Providers.all();
        FabricException refused = assertThrows(FabricException.class, () -> FabricDomain.open("no-such"));
        assertTrue(refused.getMessage().contains("provider=no-such"), refused::getMessage);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void whatAPeerWritesIsSealed(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 5000)) {
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
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void writeByAnOldKeyReachesNothing(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 5000)) {
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
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd"})
    void noByteArrivesAfterARevocation(String provider) throws Exception {
        try (Scene scene = new Scene(provider)) {
            RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, LARGE);
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
            try (RemoteWriteTarget again = scene.registrations.remoteWriteTarget(scene.memory, 10)) {
                assertNotNull(scene.reader.endpoint(WRITER));
                again.grant(WRITER).revoke(PATIENCE);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "udp;ofi_rxd", "shm"})
    void remoteOperationHasADeadline(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, LARGE)) {
            FabricWrite write = scene.write(landing.grant(WRITER), (byte) 'x', LARGE);
            // the reader makes no progress
            assertThrows(TimeoutException.class, () -> write.await(Duration.ofMillis(200)));
        }
    }

    /// A domain that grants and one that writes.
    private static final class Scene implements AutoCloseable {

        final SlabSource memory = SlabSource.create();
        final FabricDomain reader;
        final FabricDomain writer;
        final Registrations registrations;
        private final Arena arena = Arena.ofShared();
        private final ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), OPEN);
        private final FabricEndpoint from;
        private final long to;

        Scene(String provider) throws Exception {
            Providers.need(provider);
            reader = FabricDomain.open(provider);
            writer = FabricDomain.open(provider);
            registrations = Registrations.of(reader, new PinBudget(1L << 40));
            from = writer.endpoint(READER);
            to = from.connect(reader.endpoint(WRITER).name());
        }

        FabricWrite write(Grant grant, byte value, int size) throws FabricException {
            return from.write(to, grant.key(), target(grant), filled(value, size));
        }

        long target(Grant grant) {
            return reader.provider().byAddress() ? grant.address() : 0;
        }

        /// A buffer of so many regions.
        SealedBuffer many(int regions, int size) {
            SealedBuffer[] parts = new SealedBuffer[regions];
            for (int i = 0; i < regions; i++) {
                byte[] bytes = new byte[size];
                Arrays.fill(bytes, (byte) ('a' + i));
                try (BufferBuilder builder = BufferBuilder.ofCapacity(arenas, size)) {
                    parts[i] = builder.put(bytes).seal();
                }
            }
            SealedBuffer all = SealedBuffer.concat(parts);
            Arrays.asList(parts).forEach(SealedBuffer::close);
            return all;
        }

        void sendAndReceive(SealedBuffer message) throws Exception {
            MemorySegment room = arena.allocate(message.byteSize() + 10, 64);
            FabricReceive receive = reader.endpoint(WRITER).receive(room);
            SealedBuffer handle = message.share();
            FabricSend send = from.send(to, handle);
            handle.close();
            until(receive);
            until(send);
            assertEquals(message.byteSize(), receive.byteCount());
            assertArrayEquals(
                    message.toByteArray(), room.asSlice(0, receive.byteCount()).toArray(JAVA_BYTE));
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

        void until(FabricOperation write) throws Exception {
            progress(write, PATIENCE);
            write.await(Duration.ofSeconds(10));
        }

        boolean failed(FabricOperation write) throws Exception {
            try {
                write.await(Duration.ZERO);
                return false;
            } catch (FabricException said) {
                return true;
            }
        }

        void progress(FabricOperation write, Duration time) throws FabricException {
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - end < 0 && !write.isDone()) {
                reader.progress();
                writer.progress();
            }
        }

        void progressUntilItBegins(MemorySegment bytes) throws FabricException {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (bytes.get(JAVA_BYTE, 0) != 'd') {
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
