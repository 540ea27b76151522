// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.FabricException;
import io.bulla.fabric.FabricProvider;
import io.bulla.pool.SlabSource;
import io.bulla.refcount.LeaseTally;
import io.bulla.registration.PinBudget;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.security.Security;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two nodes of one process, and what goes between them by libfabric.
class FabricBulkTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MIB = 1 << 20;
    private static final int TAG = 5;

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void longMessagesAreWrittenIntoThePeersMemoryInOrder(String provider) throws Exception {
        try (Pair pair = new Pair(provider, MemoryBudget.unlimited())) {
            List<byte[]> expected = new ArrayList<>();
            List<Send> sends = new ArrayList<>();
            for (int size : new int[] {MIB, 100, 3 * MIB + 7, 0, 5 * MIB, 4096, MIB}) {
                byte[] bytes = pair.random(size);
                expected.add(bytes);
                sends.add(pair.send(0, bytes));
            }
            for (byte[] bytes : expected) {
                assertArrayEquals(bytes, pair.next(1));
            }
            for (Send send : sends) {
                send.get(30, TimeUnit.SECONDS);
            }
            assertEquals(
                    new BulkFigures(4, 10 * MIB + 7, 0, 0, 0), pair.bulks.get(0).figures());
            assertEquals(
                    new BulkFigures(0, 0, 4, 10 * MIB + 7, 0), pair.bulks.get(1).figures());
            assertEquals(0, pair.bulks.get(1).registrations().figures().marks());
            // and back
            pair.send(1, expected.get(0));
            assertArrayEquals(expected.get(0), pair.next(0));
            assertEquals(1, pair.bulks.get(1).figures().sent());
        }
    }

    @Test
    void receiverWithoutMemoryGetsTheBytesByTheConnection() throws Exception {
        try (Pair pair = new Pair("tcp;ofi_rxm", new MemoryBudget(4 * MIB))) {
            byte[] bytes = pair.random(16 * MIB);
            Send send = pair.send(0, bytes);
            assertArrayEquals(bytes, pair.next(1));
            assertEquals(1, send.get(30, TimeUnit.SECONDS).attempts());
            assertEquals(0, pair.bulks.get(0).figures().sent());
        }
    }

    /// The peer's keys are void before who listens can use the memory again.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm"})
    void verdictRevokesBeforeTheListenerHears(String provider) throws Exception {
        try (Pair pair = new Pair(provider, MemoryBudget.unlimited())) {
            Send send = pair.send(0, pair.random(64 * MIB));
            FabricBulk receiver = pair.bulks.get(1);
            until("no grant", () -> receiver.registrations().figures().marks() > 0);
            // from here on the writer makes no progress: it is in the middle of a write
            synchronized (pair.bulks.get(0).domain()) {
                pair.nodes.get(1).lost(0, "launcher says so");
                String heard = pair.lost();
                assertTrue(heard != null && heard.startsWith("marks=0 ") && heard.contains("launcher says so"), heard);
            }
            ExecutionException failed = assertThrows(ExecutionException.class, () -> send.get(30, TimeUnit.SECONDS));
            assertTrue(failed.getCause() instanceof PeerFailedException, failed::toString);
            assertNull(pair.got.get(1).poll());
        }
    }

    @Test
    void landingOfClosedMemoryIsRefused() throws Exception {
        need("tcp;ofi_rxm");
        SlabSource memory = SlabSource.create();
        try (FabricBulk bulk = FabricBulk.open("tcp;ofi_rxm", memory, new PinBudget(1L << 40), PATIENCE);
                BulkLine line = bulk.open("peer", why -> {})) {
            line.land(4).close();
            memory.close();
            String said = assertThrows(IOException.class, () -> line.land(4)).getMessage();
            assertTrue(said.startsWith("no landing: bytes=4 reason="), said);
            assertEquals(0, bulk.registrations().figures().marks());
        }
    }

    /// The thread that tells it would wait for itself.
    @Test
    void deviceIsClosedOutOfACompletion() throws Exception {
        need("tcp;ofi_rxm");
        AtomicReference<String> teller = new AtomicReference<>();
        try (SlabSource memory = SlabSource.create();
                FabricBulk bulk = FabricBulk.open("tcp;ofi_rxm", memory, new PinBudget(1L << 40), PATIENCE);
                BulkLine first = bulk.open("first", why -> {});
                BulkLine second = bulk.open("second", why -> {});
                SealedBuffer buffer = BufferBuilder.create(memory).putInt(7).seal()) {
            first.connect(second.address());
            second.connect(first.address());
            CompletableFuture<Void> closed;
            try (BulkLanding landing = second.land(4)) {
                // no progress before it is told whom to tell
                synchronized (bulk.domain()) {
                    closed = first.write(buffer, landing.key(), landing.target())
                            .thenRun(() -> teller.set(Thread.currentThread().getName()))
                            .thenRun(bulk::close)
                            .toCompletableFuture();
                }
                closed.get(30, TimeUnit.SECONDS);
            }
            assertTrue(teller.get().startsWith("bulla-fabric-"), teller::get);
            assertThrows(IOException.class, () -> bulk.open("third", why -> {}));
        }
    }

    @Test
    void killedDeviceFallsBackToTheConnection() throws Exception {
        try (Pair pair = new Pair("tcp;ofi_rxm", MemoryBudget.unlimited())) {
            byte[] first = pair.random(2 * MIB);
            pair.send(0, first);
            assertArrayEquals(first, pair.next(1));
            pair.bulks.get(0).close();
            byte[] second = pair.random(2 * MIB);
            Send send = pair.send(0, second);
            assertArrayEquals(second, pair.next(1));
            send.get(30, TimeUnit.SECONDS);
            assertEquals(1, pair.bulks.get(0).figures().sent());
            assertNull(pair.got.get(1).poll());
        }
    }

    /// A device that refuses, frees late, twice, never, or throws: the bytes arrive once, and what is not
    /// free is in quarantine.
    @ParameterizedTest
    @ValueSource(strings = {"AT_ONCE", "LATE", "TWICE", "NEVER", "THROWS", "REFUSES", "SAME_KEY"})
    void hostileDeviceCostsNoMessage(String how) throws Exception {
        try (HostilePair pair = new HostilePair(how)) {
            for (int i = 0; i < 6; i++) {
                byte[] bytes = pair.random(MIB + i);
                Send send = pair.send(bytes);
                assertArrayEquals(bytes, pair.next());
                send.get(30, TimeUnit.SECONDS);
            }
            pair.check();
        }
    }

    @Test
    void addressOfAnotherFormatIsNotGivenToLibfabric() throws Exception {
        try (Pair pair = new Pair("tcp;ofi_rxm", MemoryBudget.unlimited());
                BulkLine line = pair.bulks.get(0).open("test", why -> {})) {
            byte[] good = line.address();
            line.connect(good);
            for (byte[] bad : new byte[][] {
                {},
                {3, 'n', 'e', 't'},
                Arrays.copyOf(good, good.length - 1),
                Arrays.copyOf(good, good.length + 1),
                family(good)
            }) {
                assertThrows(IOException.class, () -> line.connect(bad), () -> Arrays.toString(bad));
            }
        }
    }

    private static byte[] family(byte... address) {
        byte[] other = address.clone();
        other[1 + "tcp;ofi_rxm".length()] ^= 8;
        return other;
    }

    @Test
    void listenerThatThrowsKeepsTheWordFromNoOther() throws Exception {
        List<String> told = new ArrayList<>();
        try (Pair pair = new Pair("tcp;ofi_rxm", MemoryBudget.unlimited());
                BulkLine first = pair.bulks.get(0).open("first", why -> {
                    told.add("first");
                    throw new IllegalStateException("thrown by the test");
                });
                BulkLine second = pair.bulks.get(0).open("second", why -> told.add("second"))) {
            pair.bulks.get(0).close();
            assertEquals(List.of("first", "second"), told);
            assertTrue(first != second);
        }
    }

    @Test
    void unknownProviderIsRefusedByName() {
        need("tcp;ofi_rxm");
        try (SlabSource memory = SlabSource.create()) {
            assertThrows(
                    IOException.class,
                    () -> FabricBulk.open("carrier-pigeon", memory, PinBudget.ofProcess(), PATIENCE));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> FabricBulk.open("tcp;ofi_rxm", memory, PinBudget.ofProcess(), Duration.ZERO));
        }
    }

    /// Skips the test, and says why, where libfabric or its provider is not.
    static void need(String provider) {
        try {
            List<FabricProvider> all = FabricProvider.all();
            boolean there = all.stream().anyMatch(each -> each.name().equals(provider));
            Piece.LIBFABRIC.orSkip(there ? null : "no such provider: name=" + provider);
        } catch (FabricException none) {
            Piece.LIBFABRIC.orSkip(none);
        }
    }

    static void until(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - end < 0, what);
            Thread.sleep(2);
        }
    }

    /// What tests send.
    abstract static class Scene implements AutoCloseable {

        final LeaseTally handles = new LeaseTally();
        final ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), handles);
        final List<OobNode> nodes = new ArrayList<>();
        final List<BlockingQueue<byte[]>> got = List.of(new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>());
        private final BlockingQueue<String> lost = new LinkedBlockingQueue<>();
        private final Random random = new Random(22);

        byte[] random(int size) {
            byte[] bytes = new byte[size];
            random.nextBytes(bytes);
            return bytes;
        }

        /// A node; it says what the device still knows when it hears of a failure.
        void start(BulkTransport bulk, LongSupplier marks) throws IOException {
            int rank = nodes.size();
            nodes.add(OobNode.builder(rank, 2)
                    .memory(arenas)
                    .security(Security.plaintext())
                    .directory(peer -> address(peer))
                    .limit(1L << 30)
                    .bulk(bulk, MIB)
                    .onPeerLost((peer, why) -> lost.add("marks=" + marks.getAsLong() + " " + why.getMessage()))
                    .receive(TAG, message -> got.get(rank).add(message.buffer().toByteArray()))
                    .start());
        }

        private InetSocketAddress address(int peer) {
            return nodes.get(peer).address();
        }

        Send send(int from, byte... bytes) {
            try (BufferBuilder builder = BufferBuilder.create(arenas);
                    SealedBuffer buffer = builder.put(bytes).seal()) {
                return nodes.get(from).send(1 - from, TAG, buffer, SendOptions.DEFAULT);
            }
        }

        byte[] next(int at) throws InterruptedException {
            return got.get(at).poll(30, TimeUnit.SECONDS);
        }

        String lost() throws InterruptedException {
            return lost.poll(30, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            nodes.forEach(OobNode::close);
            try {
                until("handles are open", () -> handles.open() == 0);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
            arenas.close();
        }

        static void close(SlabSource pool) {
            try {
                pool.close(PATIENCE);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
        }
    }

    static final class Pair extends Scene {

        final List<FabricBulk> bulks = new ArrayList<>();
        private final List<SlabSource> pools = new ArrayList<>();

        Pair(String provider, MemoryBudget rights) throws Exception {
            need(provider);
            for (MemoryBudget budget : List.of(MemoryBudget.unlimited(), rights)) {
                SlabSource pool = SlabSource.builder().budget(budget).build();
                FabricBulk bulk = FabricBulk.open(provider, pool, new PinBudget(1L << 40), PATIENCE);
                pools.add(pool);
                bulks.add(bulk);
                start(bulk, () -> bulk.registrations().figures().marks());
            }
        }

        @Override
        public void close() {
            super.close();
            bulks.forEach(FabricBulk::close);
            pools.forEach(Scene::close);
        }
    }
}
