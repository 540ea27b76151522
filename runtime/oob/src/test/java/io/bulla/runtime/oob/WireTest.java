// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static io.bulla.runtime.oob.Wire.frame;
import static io.bulla.runtime.oob.Wire.header;
import static io.bulla.runtime.oob.Wire.hello;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.security.Security;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Words of unknown peers at the port, and of peers that do not keep to the protocol: one line in the log, and the
/// node goes on.
class WireTest {

    private final Cluster cluster = new Cluster();
    private SocketChannel stranger;
    private int session = 1000;

    @BeforeEach
    void start() throws Exception {
        // node 1 does not look for the node that the stranger stands for
        cluster.directory = peer -> peer == 1 ? cluster.address(1) : null;
        cluster.start(2, setup -> setup.limit(1 << 20).helloDeadline(Duration.ofMillis(300)));
        stranger = SocketChannel.open(cluster.address(1));
    }

    @AfterEach
    void otherPeersAreUndisturbed() throws Exception {
        stranger.close();
        Cluster.delivered(cluster.send(0, 1, 8, 10));
        assertEquals("1 from 0: 8", cluster.next());
        cluster.close();
    }

    @Test
    void whoSpeaksAnotherProtocolIsDisconnected() throws Exception {
        say(ByteBuffer.wrap(("GET / HTTP/1.1\r\nHost: here\r\n" + "X: y\r\n".repeat(9) + "\r\n").getBytes()));
        refused("not a frame of version 4: magic=47455420 version=47 kind=32");
    }

    @Test
    void whoSaysNothingIsDisconnectedAtTheDeadline() throws Exception {
        long start = System.nanoTime();
        refused("no hello in time: millis=300");
        assertTrue(System.nanoTime() - start > 200_000_000);
    }

    @Test
    void whoDripsIsDisconnectedAtTheDeadline() throws Exception {
        ByteBuffer hello = hello(4, 4, 0, 2, 1, 77, 0);
        for (int i = 0; i < 20; i++) {
            try {
                stranger.write(hello.slice(i, 1));
            } catch (IOException disconnected) {
                break;
            }
            Thread.sleep(20);
        }
        refused("no hello in time: millis=300");
    }

    @Test
    void nothingButAHelloIsReadFirst() throws Exception {
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, 1000, 1000, 0));
        refused("frame at the wrong time: kind=DIRECT stage=GREETING");
    }

    @Test
    void longHelloIsRefusedBeforeMemoryIsTaken() throws Exception {
        say(header(Frame.control(Frame.Kind.HELLO, 0, 0, 257)));
        refused("hello over the limit: length=257 limit=256");
    }

    @Test
    void shortHelloIsRefused() throws Exception {
        say(header(Frame.control(Frame.Kind.HELLO, 0, 0, 3)), ByteBuffer.allocate(3));
        refused("hello is too short: bytes=3 least=80");
    }

    @Test
    void helloWithoutAVersionInCommonNamesBothRanges() throws Exception {
        say(hello(5, 8, 0, 2, 1, 77, 0));
        refused("no version in common: rank=1 versions=4-4 peer=0 versions=5-8");
        assertTrue(heard().contains("versions=4-4 peer=0 versions=5-8"));
    }

    @Test
    void helloWithOneVersionInCommonIsAnswered() throws Exception {
        say(hello(2, 9, 0, 2, 1, 77, 0));
        ByteBuffer answer = read(Frame.BYTES + Hello.BYTES);
        assertEquals(Frame.Kind.HELLO.ordinal(), answer.get(5));
        assertEquals(1, answer.getInt(Frame.BYTES + 4));
        assertEquals(77, answer.getLong(Frame.BYTES + 24));
    }

    @Test
    void helloOfAnotherJobOrOfNoNodeIsRefused() throws Exception {
        say(hello(4, 4, 0, 5, 1, 77, 0));
        refused("not of this job: nodes=5 expected=2");
        again();
        say(hello(4, 4, 1, 2, 1, 77, 0));
        refused("not a peer: rank=1 nodes=2 self=1");
        again();
        say(hello(4, 4, -4, 2, 1, 77, 0));
        refused("not a peer: rank=-4 nodes=2 self=1");
    }

    @Test
    void helloOfTheProvenPeerThatWasOvertakenIsNoFault() throws Exception {
        Security proving = new Security() {
            @Override
            public void secure(Channel channel, boolean connecting, int expectedPeer) {}

            @Override
            public int peerOf(Channel channel) {
                return 0;
            }

            @Override
            public String name() {
                return "proves all";
            }
        };
        try (Cluster proven = new Cluster().start(2, node -> node.security(proving));
                SocketChannel newer = SocketChannel.open(proven.address(1));
                SocketChannel older = SocketChannel.open(proven.address(1))) {
            newer.write(hello(4, 4, 0, 2, 5, 77, 0));
            assertTrue(newer.read(ByteBuffer.allocate(1)) > 0);
            older.write(hello(4, 4, 0, 2, 4, 77, 0));
            assertEquals(-1, readOrReset(older));
            Cluster.line(proven.log, "rank=1 hello is not a new one: peer=0 number=4");
            assertTrue(proven.log.stream().noneMatch(line -> line.startsWith("refused ")));
        }
    }

    @Test
    void replayedHelloIsNotBelieved() throws Exception {
        say(hello(4, 4, 0, 2, 5, 77, 0));
        read(Frame.BYTES + Hello.BYTES);
        try (SocketChannel replay = SocketChannel.open(cluster.address(1))) {
            replay.write(hello(4, 4, 0, 2, 5, 77, 0));
            assertEquals(-1, readOrReset(replay));
        }
        refused("hello is not a new one: peer=0 number=5");
        // the first one is as good as before
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, 4, 4, 0), ByteBuffer.allocate(4).putInt(0, 12));
        assertEquals("1 from 0: 12", cluster.next());
    }

    @Test
    void ofTwoConnectionsAtOnceTheOneFromTheLowerRankStays() throws Exception {
        for (int rank = 0; rank < 2; rank++) {
            int self = rank;
            try (ServerSocketChannel silent = ServerSocketChannel.open()
                            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                    Cluster pair = new Cluster()) {
                pair.directory = peer -> (InetSocketAddress) silent.socket().getLocalSocketAddress();
                OobNode node = pair.add(self, 2, setup -> setup);
                Send send;
                try (SealedBuffer message = pair.numbered(1, 10)) {
                    send = node.send(1 - self, Cluster.TAG, message);
                }
                try (SocketChannel dialed = silent.accept()) {
                    assertEquals(
                            Frame.Kind.HELLO.ordinal(),
                            Wire.read(dialed, Frame.BYTES).get(5));
                    stranger.close();
                    stranger = SocketChannel.open(node.address());
                    say(hello(4, 4, 1 - self, 2, 1, 77, 0));
                    Frame.Kind expected = self == 0 ? Frame.Kind.REFUSE : Frame.Kind.HELLO;
                    assertEquals(
                            expected.ordinal(), Wire.read(stranger, Frame.BYTES).get(5));
                    send.cancel();
                }
            }
        }
    }

    @Test
    void helloThatKnowsASessionThatIsOverIsTold() throws Exception {
        say(hello(4, 4, 0, 2, 1, 77, 99));
        assertEquals(Refusal.SESSION_OVER.ordinal(), read(Frame.BYTES).getInt(8));
    }

    @Test
    void whatIsOverTheLimitIsRefusedBeforeMemoryIsTaken() throws Exception {
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, (1 << 20) + 1, 1 << 20, 1));
        broken("message over the limit: length=1048577 limit=1048576");
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, -1, 10, 1));
        broken("message over the limit: length=-1 limit=1048576");
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, 1 << 20, -1, 1));
        broken("frame over the limit: length=-1 limit=16777216");
    }

    @Test
    void fragmentThatCannotBeIsRefused() throws Exception {
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, 5000, 1000, 1));
        broken("not a fragment: sequence=0 offset=0 length=1000 total=5000 lane=1");
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 4000, 5000, 1024, 1));
        broken("not a fragment: sequence=0 offset=4000 length=1024 total=5000 lane=1");
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 2048, 5000, 1024, 1), ByteBuffer.allocate(1024));
        broken("fragment out of place: offset=2048 landed=0 total=5000 before=0");
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, 4, 4, 2));
        broken("not a fragment: sequence=0 offset=0 length=4 total=4 lane=2");
    }

    @Test
    void holeInTheSequenceIsRefused() throws Exception {
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 3, 0, 4, 4, 0), ByteBuffer.allocate(4));
        broken("hole in the sequence: lane=0 sequence=3 expected=0");
    }

    @Test
    void messageThatArrivesAgainIsDroppedAndAcknowledged() throws Exception {
        greet();
        for (int i = 0; i < 2; i++) {
            say(
                    frame(Frame.Kind.DIRECT, 0, 0, 0, 4, 4, 0),
                    ByteBuffer.allocate(4).putInt(0, 12));
            assertEquals(1, read(Frame.BYTES).getLong(16));
        }
        say(frame(Frame.Kind.DIRECT, 0, 1, 0, 4, 4, 0), ByteBuffer.allocate(4).putInt(0, 13));
        assertEquals("1 from 0: 12", cluster.next());
        assertEquals("1 from 0: 13", cluster.next());
    }

    @Test
    void manyShortMessagesAreReadAndAcknowledgedInOneGo() throws Exception {
        greet();
        ByteBuffer many = ByteBuffer.allocate(20 * (Frame.BYTES + 4));
        for (int i = 0; i < 20; i++) {
            many.put(frame(Frame.Kind.DIRECT, 0, i, 0, 4, 4, 0)).putInt(i);
        }
        say(many);
        assertEquals(20, read(Frame.BYTES).getLong(16));
        for (int i = 0; i < 20; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
    }

    @Test
    void batchIsManyMessages() throws Exception {
        greet();
        say(batch(0), batched(0, 1), batched(1, 2));
        assertEquals(2, read(Frame.BYTES).getLong(16));
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 2", cluster.next());
    }

    @Test
    void batchThatCannotBeIsRefusedWhole() throws Exception {
        greet();
        say(batch(5), batched(0, 1), batched(1, 2), ByteBuffer.allocate(5));
        broken("batch ends inside a header: at=136 length=141");
        greet();
        say(batch(-2), batched(0, 1), batched(1, 2));
        broken("not a message of a batch: kind=DIRECT length=4 left=2");
        greet();
        say(header(Frame.control(Frame.Kind.BATCH, 0, 0, Frame.BYTES)), header(Frame.control(Frame.Kind.BYE, 0, 0, 0)));
        broken("not a message of a batch: kind=BYE length=0 left=0");
        greet();
        say(header(Frame.control(Frame.Kind.BATCH, 0, 0, Frame.MAX_BATCH + 1)));
        broken("batch over the limit: length=65537 limit=65536");
        greet();
        say(batch(0), batched(0, 3), batched(1, 4));
        assertEquals("1 from 0: 3", cluster.next());
        assertEquals("1 from 0: 4", cluster.next());
    }

    @Test
    void noticeThatCannotBeIsRefused() throws Exception {
        greet();
        say(header(Frame.control(Frame.Kind.NOTICE, 8, 0, 1)));
        broken("not a notice: length=1 limit=256 topic=8 topics=8");
        greet();
        say(header(Frame.control(Frame.Kind.NOTICE, 0, 0, 257)));
        broken("not a notice: length=257 limit=256 topic=0 topics=8");
    }

    /// The header of a batch of two messages and some bytes more.
    private static ByteBuffer batch(int more) {
        return header(Frame.control(Frame.Kind.BATCH, 0, 0, 2 * (Frame.BYTES + 4) + more));
    }

    private static ByteBuffer batched(int sequence, int number) {
        return ByteBuffer.allocate(Frame.BYTES + 4)
                .put(frame(Frame.Kind.DIRECT, 0, sequence, 0, 4, 4, 0))
                .putInt(number);
    }

    @Test
    void broadcastThatArrivesAgainIsDroppedAndConfirmedAgain() throws Exception {
        greet();
        for (int sequence = 0; sequence < 2; sequence++) {
            ByteBuf out = Unpooled.buffer(Frame.BYTES);
            Frame.write(out, Frame.Kind.BROADCAST, 0, Cluster.TAG, 0, sequence, 0, 4, 99, 7, 4, 0);
            say(out.nioBuffer(), ByteBuffer.allocate(4).putInt(0, 12));
            ByteBuffer confirmed = read(Frame.BYTES);
            while (confirmed.get(5) != Frame.Kind.CONFIRM.ordinal()) {
                confirmed = read(Frame.BYTES);
            }
            assertEquals(1, confirmed.getInt(8));
            assertEquals(99, confirmed.getLong(40));
            assertEquals(7, confirmed.getLong(48));
            // the next one is written when this one has come
            say(header(Frame.acknowledgement(
                    0, new long[] {0, 0, sequence + 1}, new long[] {Wire.WINDOW, Wire.WINDOW}, 0)));
        }
        assertEquals("1 from 0: 12", cluster.next());
    }

    @Test
    void confirmationThatCannotBeIsRefused() throws Exception {
        for (int[] told : new int[][] {{0}, {2}, {-2}, {1, 2}, {1, -1}, {1, 1}}) {
            greet();
            ByteBuffer asked = broadcastFromTheNode();
            int bytes = (told.length - 1) * Integer.BYTES;
            ByteBuf out = Unpooled.buffer();
            Frame.write(
                    out,
                    Frame.Kind.CONFIRM,
                    0,
                    told[0],
                    1,
                    0,
                    0,
                    bytes,
                    asked.getLong(40),
                    asked.getLong(48),
                    bytes,
                    2);
            for (int i = 1; i < told.length; i++) {
                out.writeInt(told[i]);
            }
            say(out.nioBuffer());
            broken(
                    told.length == 1
                            ? "confirmed for nodes that there are not: reached=" + told[0] + " failed=0 below=1"
                            : "not a rank below the child: rank=" + told[1] + " child=0 origin=1 nodes=2");
        }
    }

    /// The header of a broadcast's only fragment, as its child hears it.
    private ByteBuffer broadcastFromTheNode() throws Exception {
        try (SealedBuffer message = cluster.numbered(1, 4)) {
            cluster.node(1).broadcast(Cluster.TAG, message);
        }
        ByteBuffer heard = read(Frame.BYTES);
        while (heard.get(5) != Frame.Kind.BROADCAST.ordinal()) {
            heard = read(Frame.BYTES);
        }
        read(4);
        return heard;
    }

    @Test
    void messageInTheNameOfAnotherRankIsRefused() throws Exception {
        greet();
        say(frame(Frame.Kind.DIRECT, 1, 0, 0, 4, 4, 0));
        broken("origin is not the peer: origin=1 peer=0");
        greet();
        say(frame(Frame.Kind.BROADCAST, 2, 0, 0, 4, 4, 0));
        broken("origin is not a node: origin=2 nodes=2");
    }

    @Test
    void formatThatIsUnknownIsRefused() throws Exception {
        greet();
        say(frame(Frame.Kind.DIRECT, 0, 0, 0, 4, 4, 0).put(6, (byte) 6));
        broken("unknown format of a message: code=6 flags=00");
    }

    @Test
    void acknowledgementOfWhatWasNotSentIsRefused() throws Exception {
        greet();
        say(header(Frame.acknowledgement(0, new long[] {7, 0, 0}, new long[] {Wire.WINDOW, Wire.WINDOW}, 0)));
        broken(
                "peer expects what was not sent, or was acknowledged: small=7 bulk=0 control=0 sentSmall=0 sentBulk=0 sentControl=0");
    }

    /// A peer of rank 0 that knows how to begin.
    private void greet() throws Exception {
        again();
        say(hello(4, 4, 0, 2, 1, ++session, 0));
        // what is granted is said at once
        read(Frame.BYTES + Hello.BYTES + Frame.BYTES);
        cluster.lost.clear();
    }

    private void again() throws IOException {
        stranger.close();
        stranger = SocketChannel.open(cluster.address(1));
    }

    private void say(ByteBuffer... words) throws IOException {
        for (ByteBuffer word : words) {
            stranger.write(word.rewind());
        }
    }

    private ByteBuffer read(int bytes) throws IOException {
        return Wire.read(stranger, bytes);
    }

    private static int readOrReset(SocketChannel channel) {
        try {
            ByteBuffer in = ByteBuffer.allocate(1000);
            int read = channel.read(in);
            while (read > 0) {
                read = channel.read(in.clear());
            }
            return read;
        } catch (IOException reset) {
            return -1;
        }
    }

    private String heard() throws IOException {
        return new String(read(1000).array());
    }

    private void refused(String reason) throws InterruptedException {
        // the second of a kind within a second waits for its line
        String line = Cluster.line(cluster.log, "refused ");
        assertTrue(line.matches("refused (a connection: rank=1 remote|connections: rank=1 count=1 last)=/127.*"), line);
        assertTrue(line.endsWith(" reason=" + reason), line);
    }

    private void broken(String reason) throws InterruptedException {
        assertEquals(-1, readOrReset(stranger));
        assertTrue(Cluster.line(cluster.log, reason).startsWith("connection lost: rank=1 peer=0 "));
    }
}
