// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.fixture.HostMemory;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Nodes of one host send each other places in place of bytes; everything else stays as it is.
class LocalMemoryTest {

    private static final int TAG = Cluster.TAG;
    private static final int LONG = 4 << 20;
    private static final int MOST_SENDS = 20_000;

    private final Cluster cluster = new Cluster();
    private HostMemory host = new HostMemory(1000);

    @AfterEach
    void nothingIsLent() {
        cluster.close();
        assertEquals(0, host.leases());
    }

    /// Nodes that have shown each other that they see the same memory.
    private void startLocal(int size) throws Exception {
        cluster.start(size, setup -> setup.localMemory(host.member()).routing(new Radix(size)));
        meet(size);
    }

    private void meet(int size) throws Exception {
        for (int rank = 1; rank < size; rank++) {
            meet(0, rank);
        }
    }

    /// Until what one sends another goes as a place.
    private void meet(int from, int to) throws Exception {
        long before = cluster.node(from).lentBytes();
        for (int number = 1000; cluster.node(from).lentBytes() == before; number++) {
            assertTrue(number < MOST_SENDS, "nothing is lent");
            Cluster.delivered(cluster.send(from, to, number, HostMemory.LEAST_BYTES));
            assertEquals(to + " from " + from + ": " + number, cluster.next());
        }
    }

    @Test
    void messageOfAnySizeIsAPlace() throws Exception {
        startLocal(2);
        for (int bytes : new int[] {HostMemory.LEAST_BYTES, 100_000, LONG}) {
            long before = cluster.node(0).socketBytes();
            long lent = cluster.node(0).lentBytes();
            Cluster.delivered(cluster.send(0, 1, 7, bytes));
            assertEquals("1 from 0: 7", cluster.next());
            assertEquals(bytes, cluster.node(0).lentBytes() - lent);
            assertTrue(
                    cluster.node(0).socketBytes() - before < 4 * Frame.BYTES,
                    () -> "socket-bytes=" + (cluster.node(0).socketBytes() - before));
        }
    }

    @Test
    void shortMessageGoesAsBytes() throws Exception {
        startLocal(2);
        int opened = host.opened();
        for (int bytes : new int[] {4, 2000, HostMemory.LEAST_BYTES - 1}) {
            Cluster.delivered(cluster.send(0, 1, 7, bytes));
            assertEquals("1 from 0: 7", cluster.next());
        }
        assertEquals(opened, host.opened());
    }

    @Test
    void bothWaysAndInOrder() throws Exception {
        startLocal(2);
        meet(1, 0);
        int[] sizes = {100, 30_000, 2_000_000, 5_000, 64, 600_000};
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            sends.add(cluster.send(0, 1, i, sizes[i % sizes.length]));
        }
        for (int i = 0; i < 60; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
        for (Send send : sends) {
            Cluster.delivered(send);
        }
    }

    @Test
    void broadcastOfAStarLeavesOnceInMemory() throws Exception {
        startLocal(6);
        long before = cluster.node(0).socketBytes();
        try (SealedBuffer message = cluster.numbered(3, LONG)) {
            BroadcastResult result = cluster.node(0)
                    .broadcast(TAG, message)
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            assertEquals(List.of(), result.failed());
        }
        for (int i = 1; i < 6; i++) {
            assertTrue(cluster.next().endsWith("from 0: 3"));
        }
        assertTrue(cluster.node(0).socketBytes() - before < 5 * 10 * Frame.BYTES);
    }

    @Test
    void relayOfAnotherHostLendsWhatHasLandedToItsChildren() throws Exception {
        // 0 is alone on its host; 1, its only child, is with the others
        for (int rank = 0; rank < 4; rank++) {
            LocalMemory member = rank == 0 ? new HostMemory(0).member() : host.member();
            cluster.add(rank, 4, setup -> setup.localMemory(member).routing(new UnderOne()));
        }
        meet(1, 2);
        meet(1, 3);
        long before = cluster.node(1).socketBytes();
        try (SealedBuffer message = cluster.numbered(3, LONG)) {
            BroadcastResult result = cluster.node(0)
                    .broadcast(TAG, message)
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            assertEquals(List.of(), result.failed());
        }
        for (int i = 1; i < 4; i++) {
            assertTrue(cluster.next().endsWith("from 0: 3"));
        }
        long crossed = cluster.node(1).socketBytes() - before;
        assertTrue(crossed < LONG / 20, () -> "socket-bytes=" + crossed);
        assertEquals(0, cluster.node(0).lentBytes());
    }

    /// 0 to 1, and 1 to all others.
    private static final class UnderOne implements io.bulla.runtime.oob.topology.Routing {

        @Override
        public int[] children(int rank, int root, int size) {
            return rank == 0 ? new int[] {1} : rank == 1 ? new int[] {2, 3} : new int[0];
        }
    }

    @Test
    void overTheQuotaAndOnAnotherHostGoBytes() throws Exception {
        host = new HostMemory(0);
        cluster.start(2, setup -> setup.localMemory(host.member()));
        for (int i = 0; i < 20; i++) {
            Cluster.delivered(cluster.send(0, 1, i, 1 << 20));
            assertEquals("1 from 0: " + i, cluster.next());
        }
        assertEquals(0, cluster.node(0).lentBytes());
    }

    @Test
    void peerWithoutSuchMemoryGetsBytes() throws Exception {
        cluster.add(0, 2, setup -> setup.localMemory(host.member()));
        cluster.add(1, 2, setup -> setup);
        for (int i = 0; i < 5; i++) {
            Cluster.delivered(cluster.send(0, 1, i, 1 << 20));
            assertEquals("1 from 0: " + i, cluster.next());
        }
        assertEquals(0, cluster.node(0).lentBytes());
    }

    @Test
    void resetsLoseNothingAndDoubleNothingAndLeaveNoLease() throws Exception {
        try (Proxy proxy = new Proxy(() -> cluster.address(1))) {
            cluster.directory = peer -> peer == 1 ? proxy.address() : null;
            cluster.start(2, setup -> setup.localMemory(host.member()).heartbeat(Duration.ofSeconds(60)));
            int number = 0;
            for (int cut = 0; cut < 3 * (Frame.BYTES + Frame.PLACE); cut += 7) {
                meet(0, 1);
                proxy.cutAfter(cut);
                for (int i = 0; i < 3; i++) {
                    cluster.send(0, 1, number + i, 20_000);
                }
                for (int i = 0; i < 3; i++) {
                    assertEquals("1 from 0: " + number++, cluster.next());
                }
                int at = cut;
                Cluster.await("not cut at " + at, proxy::isCut);
            }
            assertNull(cluster.got.poll());
            assertTrue(proxy.accepted() > 20, () -> "connections=" + proxy.accepted());
        }
    }

    @Test
    void bufferIsGoodAfterTheConnectionIsLost() throws Exception {
        try (Proxy proxy = new Proxy(() -> cluster.address(1))) {
            cluster.directory = peer -> peer == 1 ? proxy.address() : null;
            cluster.start(2, setup -> setup.localMemory(host.member()));
            meet(0, 1);
            CompletionStage<Message> kept = cluster.node(1).receiveOnce(TAG);
            Cluster.delivered(cluster.send(0, 1, 5, 100_000));
            try (SealedBuffer buffer =
                    kept.toCompletableFuture().get(10, TimeUnit.SECONDS).buffer()) {
                assertEquals(1, host.leases());
                proxy.cutAfter(0);
                Cluster.delivered(cluster.send(0, 1, 6, 100));
                assertEquals("1 from 0: 6", cluster.next());
                assertEquals(5, Cluster.number(buffer));
                assertEquals(1, host.leases());
            }
            Cluster.await("lease has not ended", () -> host.leases() == 0);
        }
    }

    @Test
    void restartedPeerIsInvitedAgain() throws Exception {
        startLocal(2);
        cluster.node(1).abort();
        cluster.replace(1, 2, setup -> setup.localMemory(host.member()));
        Cluster.line(cluster.lost, "0: ");
        meet(0, 1);
    }

    @Test
    void wrongProofEndsTheConnectionAndNothingIsLent() throws Exception {
        LocalMemory wrong = new LocalMemory() {

            private final LocalMemory right = host.member();

            @Override
            public int leastBytes() {
                return right.leastBytes();
            }

            @Override
            public Lender invite(int peer) {
                return right.invite(peer);
            }

            @Override
            public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
                // that of the next one
                return CompletableFuture.completedFuture(new WrongProof());
            }
        };
        cluster.add(0, 2, setup -> setup.localMemory(host.member()));
        cluster.add(1, 2, setup -> setup.localMemory(wrong));
        cluster.send(0, 1, 1, 20_000);
        Cluster.line(cluster.log, "not what this node's memory says");
        assertEquals(0, cluster.node(0).lentBytes());
    }

    private static final class WrongProof implements LocalMemory.Borrower {

        @Override
        public byte[] proof() {
            return new byte[] {99, 99};
        }

        @Override
        public SealedBuffer open(ByteBuffer place) throws IOException {
            throw new IOException("never asked");
        }

        @Override
        public void tick() {}

        @Override
        public void close() {}
    }

    @Test
    void placeThatCannotBeOpenedEndsTheConnectionAndThenBytesGo() throws Exception {
        LocalMemory unmappable = new LocalMemory() {

            private final LocalMemory right = host.member();

            @Override
            public int leastBytes() {
                return right.leastBytes();
            }

            @Override
            public Lender invite(int peer) {
                return right.invite(peer);
            }

            @Override
            public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
                return right.borrow(peer, invitation).thenApply(Unmappable::new);
            }
        };
        cluster.add(0, 2, setup -> setup.localMemory(host.member()));
        cluster.add(1, 2, setup -> setup.localMemory(unmappable));
        for (int i = 0; i < 20; i++) {
            Cluster.delivered(cluster.send(0, 1, i, 20_000));
            assertEquals("1 from 0: " + i, cluster.next());
        }
        Cluster.line(cluster.log, "no room for a mapping");
        assertEquals(0, host.opened());
    }

    private record Unmappable(LocalMemory.Borrower right) implements LocalMemory.Borrower {

        @Override
        public byte[] proof() {
            return right.proof();
        }

        @Override
        public SealedBuffer open(ByteBuffer place) throws IOException {
            throw new IOException("no room for a mapping");
        }

        @Override
        public void tick() throws IOException {
            right.tick();
        }

        @Override
        public void close() {
            right.close();
        }
    }

    @Test
    void placeOfAPeerThatLendsNothingEndsTheConnection() throws Exception {
        cluster.add(0, 2, setup -> setup.localMemory(host.member()));
        try (SocketChannel channel = SocketChannel.open(cluster.address(0))) {
            channel.write(Wire.hello(Frame.VERSION, Frame.VERSION, 1, 2, 1, 4711, 0));
            ByteBuffer place = Wire.frame(Frame.Kind.DIRECT, 1, 0, 0, 20_000, 20_000, 0);
            Frame.markLocal(place, 0);
            channel.write(place);
            channel.write(ByteBuffer.allocate(Frame.PLACE));
            Cluster.line(cluster.log, "memory is not lent on this connection");
        }
    }

    @Test
    void messageLongerThanTheWindowIsOnePlace() throws Exception {
        startLocal(2);
        int opened = host.opened();
        Cluster.delivered(cluster.send(0, 1, 9, 40 << 20));
        assertEquals("1 from 0: 9", cluster.next());
        assertEquals(opened + 1, host.opened());
    }
}
