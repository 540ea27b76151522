// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.fixture.HostMemory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A line of a user's, or a memory that is lent, whose close throws an `Error`: it costs what it is the end of, and
/// nothing beside it.
@Timeout(300)
class LineClosingTest {

    private static final int LARGE = 100_000;

    private final Cluster cluster = new Cluster();
    private final MemoryBulk.Net net = new MemoryBulk.Net();
    private final AtomicInteger closes = new AtomicInteger();

    private final class Device implements BulkTransport {

        private final MemoryBulk device = new MemoryBulk(net, cluster.source);

        @Override
        public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
            return new Line(device.open(peer, failed), closes);
        }

        @Override
        public void close() {
            device.close();
        }
    }

    private record Line(BulkLine line, AtomicInteger closes) implements BulkLine {

        @Override
        public byte[] address() {
            return line.address();
        }

        @Override
        public void connect(byte[] peersAddress) throws IOException {
            line.connect(peersAddress);
        }

        @Override
        public boolean takes(SealedBuffer buffer) {
            return line.takes(buffer);
        }

        @Override
        public BulkLanding land(long byteSize) throws IOException {
            return line.land(byteSize);
        }

        @Override
        public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) throws IOException {
            return line.write(buffer, key, target);
        }

        @Override
        public void close() {
            line.close();
            closes.incrementAndGet();
            throw new Error("line, as told");
        }
    }

    private record Member(LocalMemory memory, AtomicInteger closes) implements LocalMemory {

        @Override
        public int leastBytes() {
            return memory.leastBytes();
        }

        @Override
        public LocalMemory.Lender invite(int peer) {
            return new Lends(memory.invite(peer), closes);
        }

        @Override
        public CompletionStage<LocalMemory.Borrower> borrow(int peer, byte[] invitation) {
            return memory.borrow(peer, invitation).thenApply(borrower -> new Borrows(borrower, closes));
        }
    }

    private record Lends(LocalMemory.Lender lender, AtomicInteger closes) implements LocalMemory.Lender {

        @Override
        public byte[] invitation() {
            return lender.invitation();
        }

        @Override
        public boolean isProof(byte[] proof) {
            return lender.isProof(proof);
        }

        @Override
        public boolean lend(SealedBuffer buffer, ByteBuffer place) {
            return lender.lend(buffer, place);
        }

        @Override
        public int leases() {
            return lender.leases();
        }

        @Override
        public long leasedBytes() {
            return lender.leasedBytes();
        }

        @Override
        public void close() {
            lender.close();
            closes.incrementAndGet();
            throw new Error("lender, as told");
        }
    }

    private record Borrows(LocalMemory.Borrower borrower, AtomicInteger closes) implements LocalMemory.Borrower {

        @Override
        public byte[] proof() {
            return borrower.proof();
        }

        @Override
        public SealedBuffer open(ByteBuffer place) throws IOException {
            return borrower.open(place);
        }

        @Override
        public void tick() throws IOException {
            borrower.tick();
        }

        @Override
        public void close() {
            borrower.close();
            closes.incrementAndGet();
            throw new Error("borrower, as told");
        }
    }

    private void start() throws Exception {
        cluster.start(2, setup -> setup.bulk(new Device(), LARGE).peerTimeout(Duration.ofMinutes(1)));
        Cluster.delivered(cluster.send(0, 1, 1, LARGE));
        assertEquals("1 from 0: 1", cluster.next());
    }

    private void close(int rank) throws Exception {
        CompletableFuture.runAsync(cluster.node(rank)::close).get(20, TimeUnit.SECONDS);
    }

    @Test
    void nodeClosesAlthoughItsOpenLineCannotBeClosed() throws Exception {
        start();
        InetSocketAddress address = cluster.address(0);
        close(0);
        // the other node's, too
        Cluster.line(cluster.log, "line was not closed: rank=0");
        try (ServerSocket free = new ServerSocket()) {
            free.bind(address);
        }
        close(1);
        assertEquals(2, closes.get());
        cluster.close();
    }

    @Test
    void sessionGoesOnAlthoughTheLineOfALostConnectionCannotBeClosed() throws Exception {
        start();
        reset(1);
        Cluster.delivered(cluster.send(0, 1, 2, LARGE));
        assertEquals("1 from 0: 2", cluster.next());
        assertTrue(closes.get() >= 2, "closes=" + closes);
        assertEquals(null, cluster.lost.poll());
        close(0);
        close(1);
        cluster.close();
    }

    @Test
    void sessionGoesOnAlthoughTheMemoryOfALostConnectionCannotBeGivenBack() throws Exception {
        HostMemory host = new HostMemory(1000);
        cluster.start(
                2, setup -> setup.localMemory(new Member(host.member(), closes)).peerTimeout(Duration.ofMinutes(1)));
        int number = 0;
        for (; cluster.node(0).lentBytes() == 0; number++) {
            Cluster.delivered(cluster.send(0, 1, number, LARGE));
            assertEquals("1 from 0: " + number, cluster.next());
        }
        reset(1);
        Cluster.delivered(cluster.send(0, 1, number, LARGE));
        assertEquals("1 from 0: " + number, cluster.next());
        // what each end lends, and has borrowed
        Cluster.await("closed", () -> closes.get() >= 4);
        close(0);
        close(1);
        cluster.close();
    }

    /// The connection of a node is over, without a word.
    private void reset(int rank) throws Exception {
        OobNode node = cluster.node(rank);
        CompletableFuture.runAsync(
                        () -> node.loop()
                                .peers()
                                .all()
                                .forEach(peer ->
                                        peer.carrier().connection().channel().close()),
                        node.loop().eventLoop())
                .get(20, TimeUnit.SECONDS);
    }
}
