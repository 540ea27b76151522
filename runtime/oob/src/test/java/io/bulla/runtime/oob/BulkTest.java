// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.security.PeerIdentity;
import io.bulla.runtime.oob.security.SharedSecret;
import io.bulla.runtime.oob.topology.Radix;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Long messages that go beside the connection, by a device within the process.
class BulkTest {

    private static final int KIB = 1 << 10;
    private static final int FRAGMENT = 16 * KIB;
    private static final int LARGE = 100 * KIB;

    private final Cluster cluster = new Cluster();
    private final MemoryBulk.Net net = new MemoryBulk.Net();
    private final MemoryBulk left = new MemoryBulk(net, cluster.source);
    private final MemoryBulk right = new MemoryBulk(net, cluster.source);

    @AfterEach
    void close() {
        cluster.close();
        assertEquals(0, left.open.size() + right.open.size(), "lines");
        assertEquals(0, left.landingsThere(), "landings");
    }

    /// No verdict of time's.
    private static OobNodeBuilder patient(OobNodeBuilder builder) {
        return builder.fragment(FRAGMENT).peerTimeout(Duration.ofMinutes(1));
    }

    private void start() throws Exception {
        cluster.add(0, 2, builder -> patient(builder).bulk(left, LARGE));
        cluster.add(1, 2, builder -> patient(builder).bulk(right, LARGE));
    }

    @Test
    void longMessagesGoBesideTheConnectionAndInOrder() throws Exception {
        start();
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            int size = switch (i % 5) {
                case 0 -> LARGE + i;
                case 1 -> 10;
                case 2 -> FRAGMENT + 1;
                case 3 -> 3 * LARGE;
                default -> 3000;
            };
            sends.add(cluster.send(0, 1, i, size));
        }
        for (int i = 0; i < 30; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
            assertEquals(1, Cluster.delivered(sends.get(i)).attempts());
        }
        assertEquals(12, left.written.get());
        assertEquals(12, right.landed.get());
        // and the other way
        cluster.send(1, 0, 77, LARGE);
        assertEquals("0 from 1: 77", cluster.next());
        assertEquals(1, right.written.get());
        assertEquals(1, cluster.node(0).stats().getFirst().connections());
    }

    @Test
    void messageIsWrittenOnlyAfterItsLastByteIsThere() throws Exception {
        start();
        left.holdsWrites = true;
        Send send = cluster.send(0, 1, Cluster.TAG, 1, LARGE, SendOptions.DEFAULT.written());
        // shorter ones of another tag pass
        Send small = cluster.send(0, 1, Cluster.TAG + 1, 2, 100, SendOptions.DEFAULT);
        Cluster.delivered(small);
        Cluster.await("asked", () -> !left.waiting.isEmpty());
        assertTrue(!send.isDone());
        left.release();
        assertEquals(Delivery.Status.WRITTEN, Cluster.delivered(send).status());
        assertEquals("1 from 0: 1", cluster.next());
    }

    @Test
    void receiverWithoutRoomGetsTheBytesByTheConnection() throws Exception {
        start();
        right.refusesLandings = true;
        Send first = cluster.send(0, 1, 1, LARGE);
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals(1, Cluster.delivered(first).attempts());
        assertEquals(0, left.written.get());
        right.refusesLandings = false;
        cluster.send(0, 1, 2, LARGE);
        assertEquals("1 from 0: 2", cluster.next());
        assertEquals(1, left.written.get());
    }

    @Test
    void deviceThatFailsCostsAReconnectAndNoMessage() throws Exception {
        start();
        left.failsWrites = true;
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            sends.add(cluster.send(0, 1, i, i % 2 == 0 ? LARGE : 5));
        }
        for (int i = 0; i < 10; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
            Cluster.delivered(sends.get(i));
        }
        assertNull(cluster.got.poll());
        assertEquals(0, left.written.get());
        assertTrue(Cluster.line(cluster.log, "bulk transport failed").contains("reason=not written: key="));
        assertEquals(2, cluster.node(0).stats().getFirst().connections());
        assertEquals(List.of(), List.copyOf(cluster.lost));
    }

    @Test
    void receiversDeviceThatDoesNotLetGoCostsAReconnectAndNoMessage() throws Exception {
        start();
        right.failsSeals = true;
        Send send = cluster.send(0, 1, 1, LARGE);
        assertEquals("1 from 0: 1", cluster.next());
        Cluster.delivered(send);
        assertEquals(1, left.written.get());
        assertTrue(Cluster.line(cluster.log, "bulk transport failed").contains("reason=device has not let go"));
        assertNull(cluster.got.poll());
    }

    @Test
    void lineThatFailsByItselfIsReplacedWithItsConnection() throws Exception {
        start();
        cluster.send(0, 1, 1, LARGE);
        assertEquals("1 from 0: 1", cluster.next());
        left.open.iterator().next().failed.accept(new java.io.IOException("cable was cut"));
        Cluster.line(cluster.log, "reason=cable was cut");
        cluster.send(0, 1, 2, LARGE);
        assertEquals("1 from 0: 2", cluster.next());
        assertEquals(2, cluster.node(0).stats().getFirst().connections());
    }

    @Test
    void nodeWithoutALineGoesByTheConnection() throws Exception {
        left.refusesLines = true;
        start();
        cluster.send(0, 1, 1, LARGE);
        assertEquals("1 from 0: 1", cluster.next());
        cluster.send(1, 0, 2, LARGE);
        assertEquals("0 from 1: 2", cluster.next());
        assertEquals(0, left.written.get() + right.written.get());
    }

    @Test
    void peerThatOffersNothingGetsTheBytesByTheConnection() throws Exception {
        cluster.add(0, 2, builder -> builder.bulk(left, LARGE));
        cluster.add(1, 2, builder -> builder);
        cluster.send(0, 1, 1, LARGE);
        assertEquals("1 from 0: 1", cluster.next());
        cluster.send(1, 0, 2, 6 * LARGE);
        assertEquals("0 from 1: 2", cluster.next());
        assertEquals(0, left.written.get());
    }

    /// Who hears of it may use the memory.
    @Test
    void verdictRevokesBeforeTheListenerHears() throws Exception {
        List<String> seen = new ArrayList<>();
        cluster.add(0, 2, builder -> patient(builder).bulk(left, LARGE));
        cluster.add(
                1,
                2,
                builder -> patient(builder).bulk(right, LARGE).onPeerLost((peer, why) -> {
                    seen.add("landings=" + right.landingsThere() + " lines=" + right.open.size());
                    cluster.lost.add("1: " + why.getMessage());
                }));
        left.holdsWrites = true;
        Send send = cluster.send(0, 1, 1, LARGE);
        Cluster.await("landed", () -> right.landingsThere() == 1);
        cluster.node(1).lost(0, "launcher says so");
        Cluster.line(cluster.lost, "launcher says so");
        assertEquals(List.of("landings=0 lines=0"), seen);
        // what was being written meets a void key
        left.release();
        assertInstanceOf(PeerFailedException.class, Cluster.failure(send));
        assertEquals(1, left.voidKeys.get());
    }

    @Test
    void cancelledMessageIsSkippedWhenItIsNoLongerWritten() throws Exception {
        start();
        left.holdsWrites = true;
        Send cancelled = cluster.send(0, 1, 1, LARGE);
        Send next = cluster.send(0, 1, 2, LARGE);
        Cluster.await("asked", () -> !left.waiting.isEmpty());
        cancelled.cancel(false);
        assertInstanceOf(CancellationException.class, Cluster.failure(cancelled));
        left.release();
        assertEquals("1 from 0: 2", cluster.next());
        Cluster.delivered(next);
        assertEquals(2, left.written.get());
        assertEquals(0, right.landingsThere());
        assertNull(cluster.got.poll());
    }

    @Test
    void connectionThatBreaksVoidsTheKeysAndTheMessageArrivesOnce() throws Exception {
        try (Proxy proxy = new Proxy(() -> cluster.address(1))) {
            cluster.directory = peer -> peer == 1 ? proxy.address() : cluster.address(peer);
            start();
            left.holdsWrites = true;
            Send send = cluster.send(0, 1, 1, LARGE);
            Cluster.await("asked", () -> left.waiting.size() == 1);
            proxy.cutAfter(1);
            cluster.send(0, 1, Cluster.TAG + 1, 0, 10, SendOptions.DEFAULT);
            Cluster.await("asked again", () -> left.waiting.size() == 2);
            left.release();
            assertEquals("1 from 0: 1", cluster.next());
            Cluster.delivered(send);
            assertEquals(1, left.voidKeys.get());
            assertEquals(1, left.written.get());
            assertNull(cluster.got.poll());
        }
    }

    /// A node that got it so has it whole when it hands it on.
    @Test
    void broadcastGoesBesideDownTheTree() throws Exception {
        List<MemoryBulk> bulks = new ArrayList<>();
        for (int rank = 0; rank < 6; rank++) {
            MemoryBulk bulk = new MemoryBulk(net, cluster.source);
            bulks.add(bulk);
            cluster.add(
                    rank, 6, builder -> patient(builder).routing(new Radix(2)).bulk(bulk, LARGE));
        }
        for (int number = 0; number < 3; number++) {
            try (SealedBuffer message = cluster.numbered(number, 2 * LARGE + number)) {
                BroadcastResult result = cluster.node(0)
                        .broadcast(Cluster.TAG, message)
                        .toCompletableFuture()
                        .get(30, TimeUnit.SECONDS);
                assertEquals(List.of(), result.failed());
            }
        }
        List<String> got = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            got.add(cluster.next());
        }
        for (int rank = 1; rank < 6; rank++) {
            for (int number = 0; number < 3; number++) {
                assertTrue(got.contains(rank + " from 0: " + number), () -> "" + got);
            }
        }
        assertEquals(6, bulks.get(0).written.get());
        assertEquals(15, bulks.stream().mapToInt(bulk -> bulk.written.get()).sum());
    }

    @Test
    void closedNodeEndsItsLines() throws Exception {
        start();
        left.holdsWrites = true;
        Send send = cluster.send(0, 1, 1, LARGE);
        Cluster.await("landed", () -> right.landingsThere() == 1);
        cluster.node(1).close();
        assertEquals(0, right.open.size());
        assertInstanceOf(PeerFailedException.class, Cluster.failure(send));
        left.release();
    }

    @Test
    void bytesAsTheyAreAreForNodesWithoutProtection() throws Exception {
        byte[] secret = new byte[32];
        new java.security.SecureRandom().nextBytes(secret);
        OobNodeBuilder builder = OobNode.builder(0, 2)
                .memory(cluster.source)
                .directory(peer -> null)
                .security(SharedSecret.of(secret, new PeerIdentity("job", 0)))
                .bulk(left, LARGE);
        assertEquals(
                "bulk transport carries bytes as they are: security=tls-secret",
                assertThrows(IllegalArgumentException.class, builder::start).getMessage());
        assertThrows(IllegalArgumentException.class, () -> builder.bulk(left, 0));
    }

    @Test
    void offerIsReadBehindPartsOfOthers() {
        byte[] hello = new byte[Hello.BYTES + 5 + 5];
        hello[Hello.BYTES] = 9;
        hello[Hello.BYTES + 1] = 3;
        System.arraycopy(BulkOffer.part((byte) 1, (byte) 2, (byte) 3), 0, hello, Hello.BYTES + 5, 5);
        try (BufferBuilder builder = BufferBuilder.create(cluster.source);
                SealedBuffer whole = builder.put(hello).seal();
                SealedBuffer cut = whole.slice(0, Hello.BYTES + 8);
                SealedBuffer none = whole.slice(0, Hello.BYTES);
                SealedBuffer old = whole.slice(0, Hello.BYTES - 8)) {
            assertEquals(List.of(1, 2, 3), ints(BulkOffer.read(whole)));
            assertNull(BulkOffer.read(cut));
            assertNull(BulkOffer.read(none));
            assertNull(BulkOffer.read(old));
        }
    }

    private static List<Integer> ints(byte[] bytes) {
        List<Integer> ints = new ArrayList<>();
        for (byte each : bytes) {
            ints.add((int) each);
        }
        return ints;
    }

    @Test
    void manyBothWaysWhileConnectionsBreak() throws Exception {
        try (Proxy proxy = new Proxy(() -> cluster.address(1))) {
            cluster.directory = peer -> peer == 1 ? proxy.address() : cluster.address(peer);
            start();
            List<Send> sends = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                sends.add(cluster.send(0, 1, i, i % 3 == 0 ? 20 : LARGE + i));
                if (i % 20 == 10) {
                    Cluster.await("some", () -> !cluster.got.isEmpty());
                    proxy.cutAfter(300);
                }
            }
            for (int i = 0; i < 60; i++) {
                assertEquals(
                        "1 from 0: " + i,
                        cluster.got.poll(30, TimeUnit.SECONDS),
                        () -> cluster.node(0).stats() + " " + cluster.node(1).stats() + " "
                                + String.join("\n", cluster.log));
            }
            for (Send send : sends) {
                send.get(30, TimeUnit.SECONDS);
            }
            assertNull(cluster.got.poll());
            assertTrue(left.written.get() > 0);
        }
    }
}
