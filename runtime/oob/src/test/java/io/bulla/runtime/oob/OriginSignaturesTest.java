// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.broadcast.BroadcastKey;
import io.bulla.runtime.oob.internal.broadcast.SignedBytes;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.NodeFiles;
import io.bulla.runtime.oob.security.OriginSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Broadcasts that their origin signs, over relays that change them.
class OriginSignaturesTest {

    private static final int SIGNED = Frame.SIGNED;
    private static final Duration LONG = Duration.ofMinutes(10);

    @TempDir
    Path folder;

    private final Cluster cluster = new Cluster();
    private NodeFiles files;

    /// Nodes with keys, over connections that a test can speak on.
    private record Keys(Security of, OriginSignatures signatures) implements Security {

        static Keys of(Security security) {
            return new Keys(security, security.originSignatures().orElseThrow());
        }

        @Override
        public void secure(Channel channel, boolean connecting, int expectedPeer) {}

        @Override
        public int peerOf(Channel channel) {
            return UNKNOWN;
        }

        @Override
        public String name() {
            return "keys";
        }

        @Override
        public Optional<OriginSignatures> originSignatures() {
            return Optional.of(signatures);
        }
    }

    /// Checks nothing before it may.
    private record Slow(OriginSignatures of, CountDownLatch begun, CountDownLatch may) implements OriginSignatures {

        @Override
        public byte[] sign(byte[] statement) throws IOException {
            return of.sign(statement);
        }

        @Override
        public void check(int origin, byte[] statement, byte[] signature) throws IOException {
            begun.countDown();
            try {
                may.await();
            } catch (InterruptedException ended) {
                throw new IOException(ended);
            }
            of.check(origin, statement, signature);
        }
    }

    @BeforeEach
    void keys() {
        files = NodeFiles.in(folder);
    }

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private OobNodeBuilder chained(OobNodeBuilder node, Security security, BroadcastSignatures signatures) {
        return node.security(security)
                .signatures(signatures)
                .routing(new Radix(1))
                .peerTimeout(LONG);
    }

    private void chain(BroadcastSignatures... signatures) throws IOException {
        for (int rank = 0; rank < signatures.length; rank++) {
            Security keys = Keys.of(files.certified(rank));
            BroadcastSignatures mode = signatures[rank];
            cluster.add(rank, signatures.length, node -> chained(node, keys, mode));
        }
    }

    private CompletableFuture<BroadcastResult> broadcast(int from, int number, int bytes) {
        try (SealedBuffer message = cluster.numbered(number, bytes)) {
            return cluster.node(from).broadcast(Cluster.TAG, message).toCompletableFuture();
        }
    }

    private static BroadcastResult result(CompletableFuture<BroadcastResult> broadcast) throws Exception {
        return broadcast.get(20, TimeUnit.SECONDS);
    }

    @Test
    void handlersGetTheBytesWithoutTheSignatureOverTls() throws Exception {
        for (int rank = 0; rank < 5; rank++) {
            Security security = files.certified(rank);
            cluster.add(
                    rank,
                    5,
                    node -> node.security(security)
                            .signatures(BroadcastSignatures.REQUIRE)
                            .routing(new Radix(2))
                            .peerTimeout(LONG));
        }
        for (int bytes : new int[] {4, 100_000, 3_000_000}) {
            BroadcastResult result = result(broadcast(1, bytes, bytes));
            assertEquals(4, result.reached(), () -> "failed: " + result.failed());
            Set<String> got = new TreeSet<>();
            for (int i = 0; i < 4; i++) {
                got.add(cluster.next());
            }
            assertEquals(
                    Set.of("0 from 1: " + bytes, "2 from 1: " + bytes, "3 from 1: " + bytes, "4 from 1: " + bytes),
                    got);
        }
    }

    @Test
    void formatAndNothingAreSignedToo() throws Exception {
        chain(BroadcastSignatures.REQUIRE, BroadcastSignatures.REQUIRE);
        CompletableFuture<Message> got = cluster.node(1).receiveOnce(9).toCompletableFuture();
        try (BufferBuilder builder = BufferBuilder.create(cluster.source);
                SealedBuffer nothing = builder.seal()) {
            assertEquals(
                    1,
                    result(cluster.node(0)
                                    .broadcast(9, WireFormat.PMIX_4_DESCRIBED, nothing)
                                    .toCompletableFuture())
                            .reached());
        }
        Message message = got.get(10, TimeUnit.SECONDS);
        try (SealedBuffer bytes = message.buffer()) {
            assertEquals(0, bytes.byteSize());
            assertEquals(Optional.of(WireFormat.PMIX_4_DESCRIBED), message.format());
        }
    }

    /// A signature is in the name of a life: a cut has the bytes without it, and the next life signs them.
    @Test
    void broadcastThatACutKeptIsSignedAgain() throws Exception {
        chain(BroadcastSignatures.REQUIRE, BroadcastSignatures.REQUIRE);
        LiveCut hold = cluster.node(0).liveCut(LONG);
        hold.ready().toCompletableFuture().get(20, TimeUnit.SECONDS);
        broadcast(0, 77, 5000);
        try (NodeCut cut = hold.take(() -> {}).toCompletableFuture().get(20, TimeUnit.SECONDS)) {
            assertEquals(5000, cut.broadcasts().getFirst().buffer().byteSize());
            cluster.node(0).abort();
            Security keys = Keys.of(files.certified(0));
            cluster.replace(
                    0,
                    2,
                    node -> chained(node, keys, BroadcastSignatures.REQUIRE).restore(cut));
            assertEquals("1 from 0: 77", cluster.next());
            assertEquals(0, cluster.node(1).refusedBroadcasts());
        }
    }

    /// What a relay may do to a broadcast of rank 0, and why it is refused.
    enum Change {
        BYTES("signature is of something else: origin=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.put(3, (byte) (body.get(3) ^ 1));
            }
        },
        NUMBER("signature is of something else: origin=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                header.putLong(48, header.getLong(48) + 1);
            }
        },
        SESSION("signature is of something else: origin=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                header.putLong(40, header.getLong(40) + 2);
            }
        },
        TAG("signature is of something else: origin=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                header.putInt(8, header.getInt(8) + 1);
            }
        },
        FORMAT("signature is of something else: origin=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                header.putShort(6, (short) (WireFormat.OPAL_DSS.mark() | SIGNED));
            }
        },
        ORIGIN("origin's certificate is another node's: names=bulla://trial/rank/0 called=3") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                header.putInt(12, 3);
            }
        },
        FLAG("broadcast is not signed") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                header.putShort(6, (short) 0);
            }
        },
        LENGTH_BEYOND("signature's length is outside: length=2147483647") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.putInt(body.limit() - 4, Integer.MAX_VALUE);
            }
        },
        LENGTH_BELOW("signature's length is outside: length=-1") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.putInt(body.limit() - 4, -1);
            }
        },
        LENGTH_OF_NOTHING("signature's certificates: count=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.putInt(body.limit() - 4, 0);
            }
        },
        COUNT("signature's certificates: count=200") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.put(4, (byte) 200);
            }
        },
        CERTIFICATE_LENGTH("signature's certificate ends early: length=65535") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.putShort(5, (short) -1);
            }
        },
        CERTIFICATE("signature's certificate is none") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                body.putInt(7, 0);
            }
        },
        SIGNATURE("signature is of something else: origin=0") {
            @Override
            void make(ByteBuffer header, ByteBuffer body) {
                int last = body.limit() - 5;
                body.put(last, (byte) (body.get(last) ^ 1));
            }
        };

        private final String reason;

        Change(String reason) {
            this.reason = reason;
        }

        abstract void make(ByteBuffer header, ByteBuffer body);
    }

    /// Rank 1 of four is no node, but a member that speaks to its neighbours in the chain by itself.
    private final class Relay implements AutoCloseable {

        private final SocketChannel up;
        private final SocketChannel down;
        private int sequence;
        private int confirmations;

        Relay() throws IOException {
            BroadcastSignatures required = BroadcastSignatures.REQUIRE;
            chain(required, required, required, required);
            cluster.node(1).close();
            up = member(0);
            down = member(2);
        }

        private SocketChannel member(int to) throws IOException {
            SocketChannel channel = SocketChannel.open(cluster.address(to));
            channel.write(Wire.hello(4, 4, 1, 4, 1, 77, 0));
            Wire.read(channel, Frame.BYTES + Hello.BYTES);
            return channel;
        }

        /// Header and body of a broadcast of rank 0.
        ByteBuffer[] heard() throws IOException {
            ByteBuffer header = Wire.read(up, Frame.BYTES);
            while (header.get(5) != Frame.Kind.BROADCAST.ordinal()) {
                header = Wire.read(up, Frame.BYTES);
            }
            return new ByteBuffer[] {header, Wire.read(up, header.getInt(56))};
        }

        void handOn(ByteBuffer header, ByteBuffer body) throws IOException {
            header.putLong(16, sequence++).rewind();
            down.write(header);
            down.write(body.rewind());
        }

        /// What rank 2 confirms: how many were reached, and then who failed.
        List<Integer> confirmed() throws IOException {
            ByteBuffer header = Wire.read(down, Frame.BYTES);
            while (header.get(5) != Frame.Kind.CONFIRM.ordinal()) {
                header = Wire.read(down, Frame.BYTES);
            }
            List<Integer> said = new ArrayList<>(List.of(header.getInt(8)));
            for (ByteBuffer ranks = Wire.read(down, header.getInt(56)).rewind(); ranks.hasRemaining(); ) {
                said.add(ranks.getInt());
            }
            // the next one of this broadcast is written when this one has come
            long[] credit = {Wire.WINDOW, Wire.WINDOW};
            down.write(Wire.header(Frame.acknowledgement(1, new long[] {0, 0, ++confirmations}, credit, 0)));
            return said;
        }

        @Override
        public void close() throws IOException {
            up.close();
            down.close();
        }
    }

    private static ByteBuffer copy(ByteBuffer of) {
        return ByteBuffer.wrap(Arrays.copyOf(of.array(), of.limit()));
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void relayThatChangesABroadcastIsFoundOutAndTheGenuineOneIsTakenStill(Change change) throws Exception {
        try (Relay relay = new Relay()) {
            broadcast(0, 7, 4);
            ByteBuffer[] genuine = relay.heard();
            ByteBuffer header = copy(genuine[0]);
            ByteBuffer body = copy(genuine[1]);
            change.make(header, body);
            relay.handOn(header, body);
            // in the tree of rank 3 no node is below rank 2
            assertEquals(change == Change.ORIGIN ? List.of(0, 2) : List.of(0, 2, 3), relay.confirmed());
            String line = Cluster.line(cluster.log, "broadcast is not its origin's: rank=2");
            assertTrue(line.contains(" refused=1 reason=" + change.reason), line);
            assertEquals(1, cluster.node(2).refusedBroadcasts());
            relay.handOn(genuine[0], genuine[1]);
            assertEquals(List.of(2), relay.confirmed());
            assertEquals(Set.of("2 from 0: 7", "3 from 0: 7"), new TreeSet<>(List.of(cluster.next(), cluster.next())));
            // a second time it is dropped
            relay.handOn(genuine[0], genuine[1]);
            assertEquals(List.of(2), relay.confirmed());
            assertTrue(cluster.got.isEmpty());
        }
    }

    @Test
    void anothersSignatureIsNotTheOrigins() throws Exception {
        try (Relay relay = new Relay()) {
            Path another = Files.createDirectory(folder.resolve("another"));
            OriginSignatures forger =
                    NodeFiles.in(another).certified(0).originSignatures().orElseThrow();
            forged(relay, forger, "origin's certificate is refused: names=bulla://trial/rank/0 reason=");
        }
    }

    @Test
    void memberCannotSignForTheOrigin() throws Exception {
        try (Relay relay = new Relay()) {
            NodeFiles own = NodeFiles.in(folder);
            forged(relay, own.certified(1).originSignatures().orElseThrow(), "origin's certificate is ");
        }
    }

    private void forged(Relay relay, OriginSignatures forger, String reason) throws Exception {
        byte[] signature;
        try (SealedBuffer bytes = cluster.numbered(666, 4)) {
            signature = forger.sign(SignedBytes.statement(new BroadcastKey(0, 99, 1), Cluster.TAG, 0, bytes));
        }
        ByteBuffer body = ByteBuffer.allocate(4 + signature.length + 4)
                .putInt(666)
                .put(signature)
                .putInt(signature.length);
        ByteBuf header = Unpooled.buffer(Frame.BYTES);
        Frame.write(
                header,
                Frame.Kind.BROADCAST,
                SIGNED,
                Cluster.TAG,
                0,
                0,
                0,
                body.limit(),
                99,
                1,
                body.limit(),
                Lane.SMALL);
        relay.handOn(ByteBuffer.wrap(header.array(), 0, Frame.BYTES), body);
        assertEquals(List.of(0, 2, 3), relay.confirmed());
        String line = Cluster.line(cluster.log, "broadcast is not its origin's: rank=2");
        assertTrue(line.contains(reason), line);
        assertTrue(cluster.got.isEmpty());
    }

    @Test
    void forgedSessionsDoNotPushOutTheGenuineOne() throws Exception {
        try (Relay relay = new Relay()) {
            broadcast(0, 7, 4);
            ByteBuffer[] genuine = relay.heard();
            relay.handOn(copy(genuine[0]), copy(genuine[1]));
            assertEquals(List.of(2), relay.confirmed());
            for (int session = 1; session <= 20; session++) {
                ByteBuffer header = copy(genuine[0]);
                header.putLong(40, session);
                relay.handOn(header, copy(genuine[1]));
                assertEquals(List.of(0, 2, 3), relay.confirmed());
            }
            assertEquals(20, cluster.node(2).refusedBroadcasts());
            relay.handOn(genuine[0], genuine[1]);
            assertEquals(List.of(2), relay.confirmed());
            assertEquals(Set.of("2 from 0: 7", "3 from 0: 7"), new TreeSet<>(List.of(cluster.next(), cluster.next())));
            assertTrue(cluster.got.isEmpty());
        }
    }

    @Test
    void originHearsWhoWasNotReachedPastARelayThatChangesTheBytes() throws Exception {
        for (int rank = 0; rank < 3; rank++) {
            Security keys = Keys.of(files.certified(rank));
            UnaryOperator<OobNodeBuilder> setup = rank == 1 ? node -> node.sends(this::changed) : node -> node;
            cluster.add(rank, 3, node -> setup.apply(chained(node, keys, BroadcastSignatures.REQUIRE)));
        }
        BroadcastResult result = result(broadcast(0, 7, 100));
        assertEquals(List.of(2), result.failed());
        assertEquals(1, result.reached());
        assertEquals("1 from 0: 7", cluster.next());
        assertEquals(1, cluster.node(2).refusedBroadcasts());
        assertEquals(0, cluster.node(1).refusedBroadcasts());
    }

    private SealedBuffer changed(SealedBuffer message) {
        byte[] bytes = message.toByteArray();
        bytes[50] ^= 1;
        try (BufferBuilder builder = BufferBuilder.create(cluster.source)) {
            return builder.put(bytes).seal();
        }
    }

    @Test
    void unsignedIsTakenWhereSignaturesAreNotRequiredAndRefusedWhereTheyAre() throws Exception {
        chain(BroadcastSignatures.NONE, BroadcastSignatures.SIGN, BroadcastSignatures.REQUIRE);
        BroadcastResult result = result(broadcast(0, 7, 100));
        assertEquals(List.of(2), result.failed());
        assertEquals("1 from 0: 7", cluster.next());
        String line = Cluster.line(cluster.log, "broadcast is not its origin's: rank=2");
        assertTrue(line.endsWith("reason=broadcast is not signed"), line);
    }

    @Test
    void signedReachesNodesThatCheckNothingAndThoseBehindThem() throws Exception {
        chain(BroadcastSignatures.SIGN, BroadcastSignatures.NONE, BroadcastSignatures.REQUIRE);
        assertEquals(2, result(broadcast(0, 7, 1_000_000)).reached());
        assertEquals(Set.of("1 from 0: 7", "2 from 0: 7"), new TreeSet<>(List.of(cluster.next(), cluster.next())));
    }

    @Test
    void nodeThatDoesNotKnowSignaturesIsPassedBy() throws Exception {
        chain(BroadcastSignatures.REQUIRE, BroadcastSignatures.REQUIRE, BroadcastSignatures.REQUIRE);
        cluster.node(1).close();
        try (SocketChannel old = SocketChannel.open(cluster.address(0))) {
            ByteBuf hello = Unpooled.buffer();
            Frame.control(Frame.Kind.HELLO, 0, 1, Hello.BYTES).writeTo(hello);
            new Hello(4, 4, 1, 3, 1, 77, 0, 0, 0, 0, Wire.LIFE, Wire.WINDOW, Wire.WINDOW, 0).writeTo(hello);
            old.write(hello.nioBuffer());
            Wire.read(old, Frame.BYTES + Hello.BYTES);
            BroadcastResult result = result(broadcast(0, 7, 4));
            assertEquals(List.of(1), result.failed());
            assertEquals(1, result.reached());
            assertEquals("2 from 0: 7", cluster.next());
            assertTrue(Cluster.line(cluster.log, "broadcast is refused: rank=0 child=1")
                    .endsWith("reason=receiver does not know signed broadcasts: features=0"));
        }
    }

    private void slowReceiver(CountDownLatch begun, CountDownLatch may) throws IOException {
        Keys zero = Keys.of(files.certified(0));
        Keys one = Keys.of(files.certified(1));
        Keys slow = new Keys(one.of, new Slow(one.signatures, begun, may));
        cluster.add(0, 2, node -> chained(node, zero, BroadcastSignatures.REQUIRE));
        cluster.add(1, 2, node -> chained(node, slow, BroadcastSignatures.REQUIRE));
    }

    @Test
    void handlerAndConfirmationWaitForTheCheckAndTheOrderOfTheTagHolds() throws Exception {
        CountDownLatch may = new CountDownLatch(1);
        try {
            slowReceiver(new CountDownLatch(0), may);
            CompletableFuture<BroadcastResult> broadcast = broadcast(0, 1, 100);
            // had the broadcast been confirmed when it arrived, that would be heard before this is acknowledged
            Cluster.delivered(cluster.send(0, 1, 2, 100));
            assertFalse(broadcast.isDone());
            assertTrue(cluster.got.isEmpty());
            may.countDown();
            assertEquals("1 from 0: 1", cluster.next());
            assertEquals("1 from 0: 2", cluster.next());
            assertEquals(1, result(broadcast).reached());
        } finally {
            may.countDown();
        }
    }

    @Test
    void closeEndsChecksThatWait() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch may = new CountDownLatch(1);
        try {
            slowReceiver(begun, may);
            broadcast(0, 1, 100);
            broadcast(0, 2, 100);
            Cluster.delivered(cluster.send(0, 1, 3, 100));
            begun.await();
            Thread closing = Thread.startVirtualThread(() -> cluster.node(1).close());
            // it is closed by the loop, and waits for the check that runs
            Cluster.await("closed", () -> cluster.node(1).stats().isEmpty());
            may.countDown();
            closing.join();
            assertEquals(0, cluster.node(1).refusedBroadcasts());
        } finally {
            may.countDown();
        }
    }

    @Test
    void securityWithoutKeysCannotSign() {
        assertEquals(
                "security has no key to sign with: security=none signatures=SIGN",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> cluster.add(0, 2, node -> node.signatures(BroadcastSignatures.SIGN)))
                        .getMessage());
    }

    @Test
    void refusedAtTheDoorGivesRoomAndHandleBack() throws Exception {
        Keys keys = Keys.of(files.certified(0));
        // its address is not asked for: nothing is sent
        cluster.directory = peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        cluster.add(0, 2, node -> chained(node, keys, BroadcastSignatures.SIGN).limit(300));
        try (SealedBuffer message = cluster.numbered(1, 300)) {
            String said = assertThrows(
                            IllegalArgumentException.class,
                            () -> cluster.node(0).broadcast(Cluster.TAG, message))
                    .getMessage();
            assertTrue(said.startsWith("message over the limit, with its signature: length="), said);
        }
        Cluster.await("room", () -> cluster.node(0).stats().stream().allMatch(peer -> peer.queuedMessages() == 0));
    }
}
