// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OobNodeTest {

    private static final int TAG = Cluster.TAG;

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    @Test
    void messageArrivesUnderItsTag() throws Exception {
        cluster.start(2);
        Delivery delivery = Cluster.delivered(cluster.send(0, 1, 7, 100));
        assertEquals(new Delivery(1, TAG, Delivery.Status.ACKNOWLEDGED, 100, 1, delivery.nanos()), delivery);
        assertTrue(delivery.duration().isPositive());
        assertEquals("1 from 0: 7", cluster.next());
    }

    @Test
    void messagesToOnePeerKeepTheirOrderAlsoWhileConnecting() throws Exception {
        cluster.start(2);
        for (int i = 0; i < 200; i++) {
            cluster.send(0, 1, i, 4 + i * 100);
        }
        for (int i = 0; i < 200; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
    }

    @Test
    void bothWaysAtOnceOnOneConnection() throws Exception {
        cluster.start(2);
        for (int i = 0; i < 500; i++) {
            cluster.send(0, 1, i, 4 + i);
            cluster.send(1, 0, i, 4 + i);
        }
        int[] nextOf = new int[2];
        for (int i = 0; i < 1000; i++) {
            String line = cluster.next();
            int receiver = line.charAt(0) - '0';
            assertEquals(receiver + " from " + (1 - receiver) + ": " + nextOf[receiver]++, line);
        }
    }

    @Test
    void loopbackHandsOverTheSameBytes() throws Exception {
        cluster.start(1);
        BlockingQueue<Long> addresses = new LinkedBlockingQueue<>();
        cluster.node(0)
                .receive(
                        9,
                        message ->
                                addresses.add(message.buffer().iovec().region(0).address()));
        try (SealedBuffer message = cluster.numbered(1, 64)) {
            Delivery delivery = Cluster.delivered(cluster.node(0).send(0, 9, message));
            assertEquals(0, delivery.attempts());
            assertEquals(message.iovec().region(0).address(), addresses.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void broadcastReachesEverybodyOnceAndRelaysCopyNothing() throws Exception {
        cluster.start(12);
        CopyTally before = CopyTally.snapshot();
        try (SealedBuffer message = cluster.numbered(3, 300_000)) {
            cluster.node(4).broadcast(TAG, message);
        }
        List<String> heard = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            heard.add(cluster.next());
        }
        assertEquals(11, heard.stream().distinct().count());
        assertTrue(heard.stream().allMatch(line -> line.endsWith(" from 4: 3")));
        assertEquals(0, CopyTally.snapshot().since(before).copies());
        assertEquals(
                11, cluster.nodes.stream().mapToLong(OobNode::broadcastSends).sum());
    }

    @Test
    void formatTravelsWithTheBytesAlsoDownTheTree() throws Exception {
        cluster.start(7);
        BlockingQueue<String> formats = new LinkedBlockingQueue<>();
        for (OobNode node : cluster.nodes) {
            node.receive(
                    8,
                    message -> formats.add(message.format().orElseThrow() + " "
                            + message.unpacker(Limits.DEFAULT).unpackString()));
        }
        try (BufferBuilder builder = BufferBuilder.create(cluster.source)) {
            Packer.into(builder, WireFormat.PMIX_4_DESCRIBED).packString("hello");
            try (SealedBuffer message = builder.seal()) {
                cluster.node(2).broadcast(8, WireFormat.PMIX_4_DESCRIBED, message);
                cluster.node(2).send(2, 8, WireFormat.PMIX_4_DESCRIBED, message);
                for (int i = 0; i < 7; i++) {
                    assertEquals("PMIX_4_DESCRIBED hello", formats.poll(10, TimeUnit.SECONDS));
                }
            }
        }
        BlockingQueue<String> refused = new LinkedBlockingQueue<>();
        cluster.node(1)
                .receive(
                        9,
                        message -> refused.add(
                                assertThrows(IllegalStateException.class, () -> message.unpacker(Limits.DEFAULT))
                                        .getMessage()));
        cluster.send(0, 1, 9, 1, 4, SendOptions.DEFAULT);
        assertEquals("message does not say its format: origin=0 tag=9", refused.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void handlerKeepsTheBytesByAShareAndMaySendThemOn() throws Exception {
        cluster.start(3);
        BlockingQueue<SealedBuffer> kept = new LinkedBlockingQueue<>();
        cluster.node(1).receive(TAG, message -> {
            kept.add(message.buffer().share());
            cluster.node(1).send(2, TAG, message.buffer());
        });
        cluster.send(0, 1, 11, 50);
        assertEquals("2 from 1: 11", cluster.next());
        try (SealedBuffer mine = kept.poll(10, TimeUnit.SECONDS)) {
            assertEquals(50, mine.byteSize());
        }
    }

    @Test
    void peerThatCannotBeReachedFailsTheSendAndIsReportedOnce() throws Exception {
        int closedPort;
        try (ServerSocket taken = new ServerSocket(0)) {
            closedPort = taken.getLocalPort();
        }
        cluster.directory = peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), closedPort);
        cluster.add(0, 3, setup -> setup.peerTimeout(Duration.ofMillis(300)));
        Send first = cluster.send(0, 1, 1, 10);
        Send second = cluster.send(0, 1, 2, 1 << 20);
        assertEquals(
                1,
                assertInstanceOf(PeerFailedException.class, Cluster.failure(first))
                        .peer());
        assertInstanceOf(PeerFailedException.class, Cluster.failure(second));
        String line = cluster.lost.poll(10, TimeUnit.SECONDS);
        assertTrue(line.startsWith("0: peer 1 failed: no connection: millis=300 last="), line);
        assertEquals(null, cluster.lost.poll(100, TimeUnit.MILLISECONDS));
    }

    @Test
    void peerThatClosesSaysGoodbyeAndIsReported() throws Exception {
        cluster.start(2);
        Cluster.delivered(cluster.send(0, 1, 1, 10));
        assertEquals("1 from 0: 1", cluster.next());
        cluster.node(1).close();
        assertEquals("0: peer 1 failed: it has closed", cluster.lost.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void closedNodeFailsItsSends() throws Exception {
        cluster.start(2);
        cluster.node(0).close();
        assertEquals(
                "peer 1 failed: this node is closed",
                Cluster.failure(cluster.send(0, 1, 1, 10)).getMessage());
    }

    @Test
    void messageOverTheLimitIsRefusedBeforeItIsQueued() throws Exception {
        cluster.start(2, setup -> setup.limit(1 << 20));
        assertEquals(
                "message over the limit: length=1048577 limit=1048576",
                assertThrows(IllegalArgumentException.class, () -> cluster.send(0, 1, 1, (1 << 20) + 1))
                        .getMessage());
    }

    @Test
    void portInUseIsAnErrorThatNamesIt() throws Exception {
        cluster.start(1);
        InetSocketAddress taken = cluster.address(0);
        String message = assertThrows(IOException.class, () -> cluster.add(0, 1, setup -> setup.bind(taken)))
                .getMessage();
        assertTrue(message.startsWith("cannot listen on 127.0.0.1:" + taken.getPort() + ": "), message);
    }
}
