// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.LinkMessage.Kind;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.Revocation;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two ends of a link in one process.
class FabricLinkTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MIB = 1 << 20;

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void buffersArriveInOrderBothWays(String provider) throws Exception {
        try (Scene scene = new Scene(provider, LinkLimits.USUAL)) {
            Random random = new Random(22);
            for (End from : List.of(scene.left, scene.right)) {
                End to = from == scene.left ? scene.right : scene.left;
                List<byte[]> expected = new ArrayList<>();
                List<LinkSend> sends = new ArrayList<>();
                for (int size : new int[] {0, 1, 4096, 3 * MIB, 17, 70_000, 0, MIB + 1}) {
                    byte[] bytes = new byte[size];
                    random.nextBytes(bytes);
                    expected.add(bytes);
                    try (SealedBuffer buffer = scene.inPieces(bytes)) {
                        sends.add(from.link.send(buffer));
                    }
                }
                scene.until(() -> to.received.size() == expected.size());
                scene.until(() -> sends.stream().allMatch(LinkSend::isDone));
                for (int i = 0; i < expected.size(); i++) {
                    assertArrayEquals(expected.get(i), to.received.get(i), "buffer " + i);
                    sends.get(i).await(PATIENCE);
                }
            }
            assertNull(scene.left.link.failure());
        }
    }

    @Test
    void bufferThatIsTooLargeIsRefusedAndTheLinkGoesOn() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm", new LinkLimits(1000, 16, PATIENCE));
                SealedBuffer large = scene.inPieces(new byte[1001]);
                SealedBuffer small = scene.inPieces(new byte[1000])) {
            LinkSend refused = scene.left.link.send(large);
            LinkSend taken = scene.left.link.send(small);
            scene.until(() -> refused.isDone() && taken.isDone());
            String why = assertThrows(FabricException.class, () -> refused.await(PATIENCE))
                    .getMessage();
            assertEquals("rendezvous: error=0 peer has no room: bytes=1001", why);
            taken.await(PATIENCE);
            scene.until(() -> scene.right.received.size() == 1);
        }
    }

    @Test
    void receiverWithoutMemoryRefuses() throws Exception {
        MemoryBudget budget = new MemoryBudget(4 * MIB);
        try (Scene scene = new Scene("tcp;ofi_rxm", LinkLimits.USUAL, budget);
                SealedBuffer large = scene.inPieces(new byte[16 * MIB])) {
            LinkSend refused = scene.left.link.send(large);
            scene.until(refused::isDone);
            assertThrows(FabricException.class, () -> refused.await(PATIENCE));
            assertNull(scene.right.link.failure());
        }
    }

    /// The listener may use the memory: the grants are gone, and so is the endpoint.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm"})
    void verdictRevokesBeforeTheListenerHears(String provider) throws Exception {
        try (Scene scene = new Scene(provider, LinkLimits.USUAL);
                SealedBuffer large = scene.inPieces(new byte[32 * MIB])) {
            LinkSend send = scene.left.link.send(large);
            scene.until(() -> scene.right.registrations.figures().marks() > 0);
            scene.right.link.fail("heartbeat is missing");
            assertEquals(List.of("heartbeat is missing"), scene.right.failures);
            assertEquals(List.of(new Revocation.Clean()), scene.right.revoked);
            assertEquals(0, scene.right.marksAtFailure);
            scene.left.link.close();
            assertTrue(send.isDone());
            assertTrue(assertThrows(FabricException.class, () -> send.await(PATIENCE))
                    .getMessage()
                    .contains("link is closed"));
            assertThrows(FabricException.class, () -> scene.right.link.send(large));
            // another link to the same peer
            scene.open(LinkLimits.USUAL);
            try (SealedBuffer small = scene.inPieces(new byte[100])) {
                scene.left.link.send(small);
            }
            scene.until(() -> scene.right.received.size() == 1);
        }
    }

    @Test
    void senderThatStopsIsRevokedWhenTheTimeIsOver() throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm", new LinkLimits(1 << 30, 16, Duration.ofMillis(300)));
                SealedBuffer large = scene.inPieces(new byte[32 * MIB])) {
            scene.left.link.send(large);
            // on a machine that stops meanwhile it may be late already
            scene.until(() -> scene.right.registrations.figures().marks() > 0 || !scene.right.failures.isEmpty());
            // the left end makes no progress any more
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (scene.right.failures.isEmpty()) {
                assertTrue(System.nanoTime() - end < 0);
                scene.right.link.progress();
            }
            assertEquals(List.of("buffer took too long: patienceMs=300"), scene.right.failures);
            assertEquals(List.of(new Revocation.Clean()), scene.right.revoked);
        }
    }

    /// An endpoint that stays open is no fence: its peer's memory is out of use, and the listener is told so.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm"})
    void listenerHearsOfAFabricThatRefusesTheEnd(String provider) throws Exception {
        try (Scene scene = new Scene(provider, LinkLimits.USUAL);
                SealedBuffer large = scene.inPieces(new byte[32 * MIB])) {
            scene.left.link.send(large);
            scene.until(() -> scene.right.registrations.figures().marks() > 0);
            try (RefusedClose refused = new RefusedClose(scene.right.endpoint())) {
                // ends the wait for a fence that does not come
                Thread.currentThread().interrupt();
                String why = assertThrows(
                                IllegalStateException.class, () -> scene.right.link.fail("heartbeat is missing"))
                        .getMessage();
                assertTrue(Thread.interrupted());
                assertTrue(why.startsWith("fi_close(endpoint): error=16 "), why);
                assertEquals(2, refused.calls());
            }
            assertEquals(List.of("heartbeat is missing"), scene.right.failures);
            assertEquals(1, scene.right.revoked.size());
            assertInstanceOf(Revocation.Quarantined.class, scene.right.revoked.getFirst());
            assertEquals(1, scene.right.registrations.figures().quarantined());
        }
    }

    /// One handle's trace throws: the other buffers are let go all the same, and the listener hears.
    @Test
    void everySendEndsWhateverAnotherThrows() throws Exception {
        FaultyTrace trace = new FaultyTrace();
        ArenaSource traced = ArenaSource.create(MemoryBudget.unlimited(), trace);
        try (Scene scene = new Scene("tcp;ofi_rxm", LinkLimits.USUAL)) {
            List<LinkSend> sends = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                try (BufferBuilder builder = BufferBuilder.ofCapacity(traced, 10);
                        SealedBuffer buffer = builder.put(new byte[10]).seal()) {
                    sends.add(scene.left.link.send(buffer));
                }
            }
            trace.fails = true;
            IllegalStateException thrown =
                    assertThrows(IllegalStateException.class, () -> scene.left.link.fail("heartbeat is missing"));
            trace.fails = false;
            assertEquals("thrown by the test", thrown.getMessage());
            assertEquals(3, trace.thrown);
            assertTrue(sends.stream().allMatch(LinkSend::isDone));
            assertEquals(List.of("heartbeat is missing"), scene.left.failures);
        }
    }

    @Test
    void whatIsNoMessageOfALinkEndsIt() throws Exception {
        List<LinkMessage> wrong = List.of(
                new LinkMessage(Kind.REQUEST, 0, 5, 0),
                new LinkMessage(Kind.REQUEST, 1, -5, 0),
                new LinkMessage(Kind.CLEAR, 1, 5, 0),
                new LinkMessage(Kind.REFUSED, 1, 5, 0),
                new LinkMessage(Kind.FINISHED, 1, 5, 0));
        for (LinkMessage each : wrong) {
            byte[] bytes = new byte[LinkMessage.BYTES];
            MemorySegment native32 = Arena.ofAuto().allocate(LinkMessage.BYTES);
            each.write(native32);
            MemorySegment.copy(native32, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, bytes, 0, bytes.length);
            assertEnds(bytes);
        }
        assertEnds(new byte[LinkMessage.BYTES]);
        assertEnds(new byte[1]);
        byte[] unknown = new byte[LinkMessage.BYTES];
        unknown[0] = 2;
        unknown[1] = (byte) 200;
        assertEnds(unknown);
    }

    private static void assertEnds(byte[] message) throws Exception {
        try (Scene scene = new Scene("tcp;ofi_rxm", LinkLimits.USUAL);
                FabricDomain domain = FabricDomain.open("tcp;ofi_rxm");
                SealedBuffer buffer = scene.inPieces(message)) {
            FabricEndpoint hostile = domain.endpoint(new Peer(7, "hostile"));
            FabricSend send = hostile.send(hostile.connect(scene.right.link.name()), buffer);
            scene.until(() -> {
                progress(domain);
                return send.isDone() && !scene.right.failures.isEmpty();
            });
            assertTrue(
                    scene.right.failures.getFirst().startsWith("rendezvous: error=0 "), scene.right.failures::toString);
            assertFalse(scene.right.link.failure().isEmpty());
        }
    }

    private static void progress(FabricDomain domain) {
        try {
            domain.progress();
        } catch (FabricException refused) {
            throw new AssertionError(refused);
        }
    }

    private static final class FaultyTrace implements LeaseTrace {

        boolean fails;
        int thrown;

        @Override
        public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
            return this;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            if (fails) {
                thrown++;
                throw new IllegalStateException("thrown by the test");
            }
        }
    }

    /// An endpoint that libfabric does not close: it has another table of operations meanwhile.
    private static final class RefusedClose implements AutoCloseable {

        private static final int BUSY = 16;

        private final Arena arena = Arena.ofShared();
        private final MemorySegment object;
        private final long operations;
        private int calls;

        // restricted: a call from libfabric
        @SuppressWarnings("restricted")
        RefusedClose(FabricEndpoint endpoint) throws ReflectiveOperationException {
            object = Libfabric.at(endpoint.address, 24);
            operations = object.get(JAVA_LONG, 16);
            MemorySegment others = arena.allocate(56, 8).copyFrom(Libfabric.at(operations, 56));
            MethodHandle refuse = MethodHandles.lookup()
                    .findVirtual(RefusedClose.class, "refuse", MethodType.methodType(int.class, long.class))
                    .bindTo(this);
            others.set(
                    JAVA_LONG,
                    8,
                    Linker.nativeLinker()
                            .upcallStub(refuse, FunctionDescriptor.of(JAVA_INT, JAVA_LONG), arena)
                            .address());
            object.set(JAVA_LONG, 16, others.address());
        }

        private int refuse(long endpoint) {
            calls++;
            return -BUSY;
        }

        int calls() {
            return calls;
        }

        @Override
        public void close() {
            object.set(JAVA_LONG, 16, operations);
            arena.close();
        }
    }

    /// One process's part.
    private static final class End implements FabricLink.Listener, AutoCloseable {

        final FabricDomain domain;
        final SlabSource memory;
        final Registrations registrations;
        final List<byte[]> received = new ArrayList<>();
        final List<String> failures = new ArrayList<>();
        final List<Revocation> revoked = new ArrayList<>();
        private final Peer other;
        long marksAtFailure = -1;
        FabricLink link;

        End(String provider, String other, MemoryBudget budget) throws FabricException {
            this.domain = FabricDomain.open(provider);
            this.other = new Peer(other.hashCode(), other);
            this.memory = SlabSource.builder().budget(budget).build();
            this.registrations = Registrations.of(domain, new PinBudget(1L << 40));
        }

        FabricEndpoint endpoint() throws FabricException {
            return domain.endpoint(other);
        }

        void open(LinkLimits limits) throws FabricException {
            if (link != null) {
                link.close();
            }
            link = FabricLink.open(domain, registrations, memory, other, limits, this);
        }

        @Override
        public void onBufferMoved(SealedBuffer buffer) {
            try (buffer) {
                received.add(buffer.toByteArray());
            }
        }

        @Override
        public void failed(Peer peer, String why, List<Revocation> all) {
            failures.add(why);
            revoked.addAll(all);
            marksAtFailure = registrations.figures().marks();
        }

        @Override
        public void close() {
            link.close();
            registrations.close();
            try {
                memory.close(PATIENCE);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
        }
    }

    private static final class Scene implements AutoCloseable {

        final End left;
        final End right;
        private final LeaseTally handles = new LeaseTally();
        private final ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), handles);

        Scene(String provider, LinkLimits limits) throws Exception {
            this(provider, limits, MemoryBudget.unlimited());
        }

        Scene(String provider, LinkLimits limits, MemoryBudget rights) throws Exception {
            Providers.need(provider);
            left = new End(provider, "right", MemoryBudget.unlimited());
            right = new End(provider, "left", rights);
            open(limits);
        }

        void open(LinkLimits limits) throws FabricException {
            left.open(limits);
            right.open(limits);
            left.link.connect(right.link.name());
            right.link.connect(left.link.name());
        }

        /// A buffer of up to five regions.
        SealedBuffer inPieces(byte[] bytes) {
            List<SealedBuffer> parts = new ArrayList<>();
            int piece = Math.max(1, (bytes.length + 4) / 5);
            for (int at = 0; at < bytes.length; at += piece) {
                int length = Math.min(piece, bytes.length - at);
                try (BufferBuilder builder = BufferBuilder.ofCapacity(arenas, length)) {
                    parts.add(builder.put(bytes, at, length).seal());
                }
            }
            SealedBuffer all = SealedBuffer.concat(parts.toArray(SealedBuffer[]::new));
            parts.forEach(SealedBuffer::close);
            return all;
        }

        void until(BooleanSupplier condition) {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - end < 0, () -> left.link + " " + right.link);
                left.link.progress();
                right.link.progress();
            }
        }

        @Override
        public void close() {
            left.close();
            right.close();
            assertEquals(0, handles.open());
        }
    }
}
