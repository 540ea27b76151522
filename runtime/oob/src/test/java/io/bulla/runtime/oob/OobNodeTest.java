package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.LeaseTally;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OobNodeTest {

    private static final int TAG = 5;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    private final List<OobNode> nodes = new ArrayList<>();
    private final BlockingQueue<String> lost = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        nodes.forEach(OobNode::close);
        for (int wait = 0; handles.open() > 0 && wait < 1000; wait++) {
            Thread.sleep(5);
        }
        assertEquals(0, handles.open());
        source.close();
    }

    @Test
    void messageArrivesUnderItsTag() throws Exception {
        start(2);
        try (SealedBuffer message = numbered(7, 100)) {
            assertEquals(
                    new Delivery(1, TAG, 100),
                    nodes.get(0).send(1, TAG, message).toCompletableFuture().get(10, TimeUnit.SECONDS));
        }
        assertEquals("1 from 0: 7", next());
    }

    @Test
    void messagesToOnePeerKeepTheirOrderAlsoWhileConnecting() throws Exception {
        start(2);
        for (int i = 0; i < 200; i++) {
            try (SealedBuffer message = numbered(i, 4 + i * 100)) {
                nodes.get(0).send(1, TAG, message);
            }
        }
        for (int i = 0; i < 200; i++) {
            assertEquals("1 from 0: " + i, next());
        }
    }

    @Test
    void loopbackHandsOverTheSameBytes() throws Exception {
        start(1);
        BlockingQueue<Long> addresses = new LinkedBlockingQueue<>();
        nodes.get(0)
                .receive(
                        9,
                        message ->
                                addresses.add(message.buffer().iovec().region(0).address()));
        try (SealedBuffer message = numbered(1, 64)) {
            nodes.get(0).send(0, 9, message);
            assertEquals(message.iovec().region(0).address(), addresses.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void broadcastReachesEverybodyOnceAndRelaysCopyNothing() throws Exception {
        start(12);
        CopyTally before = CopyTally.snapshot();
        try (SealedBuffer message = numbered(3, 300_000)) {
            nodes.get(4).xcast(TAG, message);
        }
        List<String> heard = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            heard.add(next());
        }
        assertEquals(11, heard.stream().distinct().count());
        assertTrue(heard.stream().allMatch(line -> line.endsWith(" from 4: 3")));
        assertEquals(0, CopyTally.snapshot().since(before).copies());
        assertEquals(11, nodes.stream().mapToLong(OobNode::xcastSends).sum());
    }

    @Test
    void formatTravelsWithTheBytesAlsoDownTheTree() throws Exception {
        start(7);
        BlockingQueue<String> formats = new LinkedBlockingQueue<>();
        for (OobNode node : nodes) {
            node.receive(
                    8,
                    message -> formats.add(message.format().orElseThrow() + " "
                            + message.unpacker(Limits.DEFAULT).unpackString()));
        }
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            Packer.into(builder, WireFormat.PMIX_4_DESCRIBED).packString("hello");
            try (SealedBuffer message = builder.seal()) {
                nodes.get(2).xcast(8, WireFormat.PMIX_4_DESCRIBED, message);
                nodes.get(2).send(2, 8, WireFormat.PMIX_4_DESCRIBED, message);
                for (int i = 0; i < 7; i++) {
                    assertEquals("PMIX_4_DESCRIBED hello", formats.poll(10, TimeUnit.SECONDS));
                }
            }
        }
        BlockingQueue<String> refused = new LinkedBlockingQueue<>();
        nodes.get(1)
                .receive(
                        9,
                        message -> refused.add(
                                assertThrows(IllegalStateException.class, () -> message.unpacker(Limits.DEFAULT))
                                        .getMessage()));
        try (SealedBuffer message = numbered(1, 4)) {
            nodes.get(0).send(1, 9, message);
        }
        assertEquals("message does not say its format: origin=0 tag=9", refused.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void handlerKeepsTheBytesByAShareAndMaySendThemOn() throws Exception {
        start(3);
        BlockingQueue<SealedBuffer> kept = new LinkedBlockingQueue<>();
        nodes.get(1).receive(TAG, message -> {
            kept.add(message.buffer().share());
            nodes.get(1).send(2, TAG, message.buffer());
        });
        try (SealedBuffer message = numbered(11, 50)) {
            nodes.get(0).send(1, TAG, message);
        }
        assertEquals("2 from 1: 11", next());
        try (SealedBuffer mine = kept.poll(10, TimeUnit.SECONDS)) {
            assertEquals(50, mine.byteSize());
        }
    }

    @Test
    void peerThatCannotBeReachedFailsTheSendAndIsReported() throws Exception {
        int closedPort;
        try (ServerSocket taken = new ServerSocket(0)) {
            closedPort = taken.getLocalPort();
        }
        nodes.add(OobNode.builder(0, 2)
                .memory(source)
                .security(Security.plaintext())
                .directory(peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), closedPort))
                .onPeerLost((peer, cause) -> lost.add(cause.getMessage()))
                .start());
        try (SealedBuffer message = numbered(1, 10)) {
            ExecutionException failure = assertThrows(
                    ExecutionException.class,
                    () -> nodes.get(0)
                            .send(1, TAG, message)
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS));
            assertEquals(
                    1,
                    assertInstanceOf(PeerFailedException.class, failure.getCause())
                            .peer());
        }
        assertTrue(lost.poll(10, TimeUnit.SECONDS).startsWith("peer 1 failed: "));
    }

    @Test
    void peerThatClosesIsReportedAndSendsToItFail() throws Exception {
        start(2);
        try (SealedBuffer message = numbered(1, 10)) {
            nodes.get(0).send(1, TAG, message).toCompletableFuture().get(10, TimeUnit.SECONDS);
            assertEquals("1 from 0: 1", next());
            nodes.get(1).close();
            assertEquals("peer 1 failed: connection closed", lost.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void closingFailsWhatIsStillOnItsWay() throws Exception {
        start(2);
        nodes.get(0).close();
        try (SealedBuffer message = numbered(1, 10)) {
            ExecutionException failure = assertThrows(
                    ExecutionException.class,
                    () -> nodes.get(0)
                            .send(1, TAG, message)
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS));
            assertInstanceOf(PeerFailedException.class, failure.getCause());
        }
    }

    @Test
    void strangerIsDisconnectedAndTheNodeGoesOn() throws Exception {
        start(2);
        try (SocketChannel stranger = SocketChannel.open(nodes.get(1).address())) {
            stranger.write(ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: here\r\n\r\n".getBytes()));
            assertEquals(-1, stranger.read(ByteBuffer.allocate(1)));
        } catch (IOException reset) {
            assertNotNull(reset.getMessage());
        }
        assertTrue(lost.poll(10, TimeUnit.SECONDS).contains("not a frame of version 2: magic=47455420"));
        messageArrives();
    }

    @Test
    void frameThatCannotBeIsRefusedAndTheNodeGoesOn() throws Exception {
        start(2);
        ByteBuffer header = ByteBuffer.allocate(Frame.BYTES)
                .putInt(0, 0x42756c61)
                .put(4, (byte) 2)
                .put(5, (byte) 2);
        refused(header.putInt(12, -7), "origin is not a node: origin=-7 nodes=2");
        refused(header.putInt(12, 2), "origin is not a node: origin=2 nodes=2");
        refused(header.putInt(12, 0).putLong(16, -1), "message over the limit: length=-1 limit=1048576");
        refused(header.putLong(16, 1 << 21), "message over the limit: length=2097152 limit=1048576");
        header.putLong(16, 0);
        refused(header.put(6, (byte) 6), "unknown format of a message: code=6 flags=00");
        refused(header.putShort(6, (short) 0x0481), "unknown format of a message: code=4 flags=81");
        refused(header.putShort(6, (short) 0x80), "unknown format of a message: code=0 flags=80");
        refused(header.put(4, (byte) 1), "not a frame of version 2: magic=42756c61 version=1 kind=2");
        messageArrives();
    }

    private void refused(ByteBuffer header, String reason) throws Exception {
        try (SocketChannel stranger = SocketChannel.open(nodes.get(1).address())) {
            stranger.write(header.duplicate().rewind());
            assertEquals("peer -1 failed: " + reason, lost.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void messageOverTheLimitIsRefusedBeforeItIsQueued() throws Exception {
        start(2);
        try (SealedBuffer message = numbered(1, (1 << 20) + 1)) {
            assertEquals(
                    "message over the limit: length=1048577 limit=1048576",
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> nodes.get(0).send(1, TAG, message))
                            .getMessage());
        }
    }

    @Test
    void portInUseIsAnErrorThatNamesIt() throws Exception {
        start(1);
        InetSocketAddress taken = nodes.get(0).address();
        String message = assertThrows(
                        IOException.class,
                        () -> OobNode.builder(0, 1)
                                .memory(source)
                                .security(Security.plaintext())
                                .directory(peer -> null)
                                .bind(taken)
                                .start())
                .getMessage();
        assertTrue(message.startsWith("cannot listen on 127.0.0.1:" + taken.getPort() + ": "), message);
    }

    private void messageArrives() throws Exception {
        try (SealedBuffer message = numbered(8, 10)) {
            nodes.get(0).send(1, TAG, message);
        }
        assertEquals("1 from 0: 8", next());
    }

    private void start(int size) throws IOException {
        for (int rank = 0; rank < size; rank++) {
            int self = rank;
            OobNode node = OobNode.builder(rank, size)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(peer -> nodes.get(peer).address())
                    .routing(new Radix(3))
                    .limit(1 << 20)
                    .onPeerLost((peer, cause) -> lost.add(cause.getMessage()))
                    .start();
            node.receive(
                    TAG,
                    message -> got.add(self + " from " + message.origin() + ": "
                            + message.buffer()
                                    .iovec()
                                    .get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0)));
            nodes.add(node);
        }
    }

    private String next() throws InterruptedException {
        return got.poll(10, TimeUnit.SECONDS);
    }

    private SealedBuffer numbered(int number, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes)) {
            return builder.putInt(number).put(new byte[bytes - 4]).seal();
        }
    }
}
