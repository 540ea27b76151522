// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTrace;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.security.OriginSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.Routing;
import io.bulla.testkit.FaultPoints;
import io.netty.channel.Channel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What a node is given and calls, each call a fault point.
final class FaultDoubles {

    private FaultDoubles() {}

    /// A source that refuses as often as it is told to, by name.
    record Limited(MemorySource source, AtomicInteger refusals) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new MemoryLimitException("limit, as told: byteSize=" + byteSize);
            }
            return source.allocate(byteSize);
        }

        @Override
        public @Nullable Region grow(Region region, long byteSize) {
            return source.grow(region, byteSize);
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            return source.seal(region, used);
        }

        @Override
        public @Nullable LeaseTrace trace() {
            return source.trace();
        }
    }

    record Shape(FaultPoints points, Routing shape) implements Routing {

        @Override
        public int[] children(int rank, int origin, int size) {
            points.reach("Routing.children");
            return shape.children(rank, origin, size);
        }

        @Override
        public int parent(int rank, int origin, int size) {
            points.reach("Routing.parent");
            return shape.parent(rank, origin, size);
        }
    }

    /// A shape that does not say who is the parent.
    record Children(FaultPoints points, Routing shape) implements Routing {

        @Override
        public int[] children(int rank, int origin, int size) {
            points.reach("Routing.children");
            return shape.children(rank, origin, size);
        }
    }

    record Policy(FaultPoints points) implements SendPolicy {

        @Override
        public SealedBuffer outgoing(SealedBuffer message) {
            points.reach("SendPolicy.outgoing");
            return message.share();
        }
    }

    record Directory(FaultPoints points, PeerDirectory directory) implements PeerDirectory {

        @Override
        public @Nullable SocketAddress addressOf(int rank) {
            points.reach("PeerDirectory.addressOf");
            return directory.addressOf(rank);
        }
    }

    record Protection(
            FaultPoints points, Security security, @Nullable OriginSignatures signatures) implements Security {

        @Override
        public void checkAddress(SocketAddress address) throws IOException {
            points.reachIo("Security.checkAddress");
            security.checkAddress(address);
        }

        @Override
        public void checkRank(int rank) throws IOException {
            points.reachIo("Security.checkRank");
            security.checkRank(rank);
        }

        @Override
        public void secure(Channel channel, boolean connecting, int expectedPeer) throws IOException {
            points.reach("Security.secure");
            security.secure(channel, connecting, expectedPeer);
        }

        @Override
        public int peerOf(Channel channel) throws IOException {
            points.reach("Security.peerOf");
            return security.peerOf(channel);
        }

        @Override
        public Optional<OriginSignatures> originSignatures() {
            points.reach("Security.originSignatures");
            return Optional.ofNullable(signatures);
        }

        @Override
        public String name() {
            points.reach("Security.name");
            return security.name();
        }
    }

    /// The sum of the bytes: what makes a signature good is not this module's.
    record Signatures(FaultPoints points) implements OriginSignatures {

        @Override
        public byte[] sign(byte[] statement) throws IOException {
            points.reachIo("OriginSignatures.sign");
            return sum(statement);
        }

        @Override
        public void check(int origin, byte[] statement, byte[] signature) throws IOException {
            points.reach("OriginSignatures.check");
            if (!Arrays.equals(sum(statement), signature)) {
                throw new IOException("wrong sum");
            }
        }

        private static byte[] sum(byte[] statement) {
            return ByteBuffer.allocate(Integer.BYTES)
                    .putInt(Arrays.hashCode(statement))
                    .array();
        }
    }

    record Device(FaultPoints points, BulkTransport device) implements BulkTransport {

        @Override
        public BulkLine open(String peer, Consumer<? super IOException> failed) throws IOException {
            points.reachIo("BulkTransport.open");
            return new Line(points, device.open(peer, failed));
        }

        @Override
        public void close() {
            device.close();
        }
    }

    record Line(FaultPoints points, BulkLine line) implements BulkLine {

        @Override
        public byte[] address() {
            points.reach("BulkLine.address");
            return line.address();
        }

        @Override
        public void connect(byte[] peersAddress) throws IOException {
            points.reachIo("BulkLine.connect");
            line.connect(peersAddress);
        }

        @Override
        public boolean takes(SealedBuffer buffer) {
            points.reach("BulkLine.takes");
            return line.takes(buffer);
        }

        @Override
        public BulkLanding land(long byteSize) throws IOException {
            points.reachIo("BulkLine.land");
            return new Landing(points, line.land(byteSize));
        }

        @Override
        public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) throws IOException {
            points.reachIo("BulkLine.write");
            return line.write(buffer, key, target);
        }

        @Override
        public void close() {
            line.close();
            points.reach("BulkLine.close, done");
        }
    }

    record Landing(FaultPoints points, BulkLanding landing) implements BulkLanding {

        @Override
        public long key() {
            points.reach("BulkLanding.key");
            return landing.key();
        }

        @Override
        public long target() {
            points.reach("BulkLanding.target");
            return landing.target();
        }

        @Override
        public SealedBuffer seal() throws IOException {
            points.reachIo("BulkLanding.seal");
            return landing.seal();
        }

        @Override
        public void close() {
            landing.close();
            points.reach("BulkLanding.close, done");
        }
    }

    record Neighbours(FaultPoints points, LocalMemory memory) implements LocalMemory {

        @Override
        public int leastBytes() {
            points.reach("LocalMemory.leastBytes");
            return memory.leastBytes();
        }

        @Override
        public Lender invite(int peer) {
            points.reach("LocalMemory.invite");
            return new Lent(points, memory.invite(peer));
        }

        @Override
        public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
            points.reach("LocalMemory.borrow");
            return memory.borrow(peer, invitation).thenApply(borrower -> new Borrowed(points, borrower));
        }
    }

    record Lent(FaultPoints points, LocalMemory.Lender lender) implements LocalMemory.Lender {

        @Override
        public byte[] invitation() {
            points.reach("Lender.invitation");
            return lender.invitation();
        }

        @Override
        public boolean isProof(byte[] proof) {
            points.reach("Lender.isProof");
            return lender.isProof(proof);
        }

        @Override
        public boolean lend(SealedBuffer buffer, ByteBuffer place) {
            points.reach("Lender.lend");
            return lender.lend(buffer, place);
        }

        @Override
        public int leases() {
            points.reach("Lender.leases");
            return lender.leases();
        }

        @Override
        public long leasedBytes() {
            points.reach("Lender.leasedBytes");
            return lender.leasedBytes();
        }

        @Override
        public void close() {
            lender.close();
            points.reach("Lender.close, done");
        }
    }

    record Borrowed(FaultPoints points, LocalMemory.Borrower borrower) implements LocalMemory.Borrower {

        @Override
        public byte[] proof() {
            points.reach("Borrower.proof");
            return borrower.proof();
        }

        @Override
        public SealedBuffer open(ByteBuffer place) throws IOException {
            points.reachIo("Borrower.open");
            return borrower.open(place);
        }

        @Override
        public void tick() throws IOException {
            points.reachIo("Borrower.tick");
            borrower.tick();
        }

        @Override
        public void close() {
            borrower.close();
            points.reach("Borrower.close, done");
        }
    }

    /// Elements of a user's own list.
    static <T> List<T> list(FaultPoints points, List<T> elements) {
        return new java.util.AbstractList<>() {
            @Override
            public T get(int index) {
                points.reach("List.get");
                return elements.get(index);
            }

            @Override
            public int size() {
                points.reach("List.size");
                return elements.size();
            }
        };
    }
}
