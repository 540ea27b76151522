// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What is sent over a connection that breaks arrives once, in order, over the next one.
class ReconnectTest {

    private static final int TAG = Cluster.TAG;
    private static final int SHORT = 100;

    private final Cluster cluster = new Cluster();
    private Proxy proxy;

    @BeforeEach
    void standBetween() throws Exception {
        proxy = new Proxy(() -> cluster.address(1));
        // node 1 does not know where node 0 is, so that all goes through the proxy
        cluster.directory = peer -> peer == 1 ? proxy.address() : null;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        proxy.close();
        cluster.close();
    }

    @Test
    void resetAtEveryByteOfAShortMessageLosesNothingAndDoublesNothing() throws Exception {
        cluster.start(2, setup -> setup.heartbeat(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 0, SHORT));
        assertEquals("1 from 0: 0", cluster.next());
        int number = 1;
        // one alone, and several, which travel behind a header of a batch
        for (int many : new int[] {1, 3}) {
            int end = (many == 1 ? 1 : 2) * Frame.BYTES + SHORT;
            for (int cut = 0; cut <= end; cut++) {
                proxy.cutAfter(cut);
                for (int i = 0; i < many; i++) {
                    cluster.send(0, 1, number + i, SHORT);
                }
                for (int i = 0; i < many; i++) {
                    assertEquals("1 from 0: " + number++, cluster.next());
                }
                int at = cut;
                Cluster.await("not cut at " + at, () -> proxy.isCut());
            }
        }
        assertTrue(proxy.accepted() > 3 * Frame.BYTES + 2 * SHORT, () -> "connections=" + proxy.accepted());
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
        assertNull(cluster.lost.poll());
    }

    @Test
    void longMessageIsSentAgainFromByteZero() throws Exception {
        cluster.start(2, setup -> setup.fragment(16 << 10));
        Cluster.delivered(cluster.send(0, 1, 0, SHORT));
        proxy.cutAfter(500_000);
        Delivery delivery = Cluster.delivered(cluster.send(0, 1, 1, 1 << 20));
        assertEquals(2, delivery.attempts());
        assertTrue(proxy.isCut());
        assertEquals("1 from 0: 0", cluster.next());
        assertEquals("1 from 0: 1", cluster.next());
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void orderOfATagHoldsWhateverTheSizesAndTheCuts() throws Exception {
        cluster.start(2, setup -> setup.fragment(4 << 10));
        List<Send> sends = new ArrayList<>();
        int[] sizes = {100, 30_000, 200, 2_000, 100_000, 64, 5_000};
        for (int i = 0; i < 140; i++) {
            sends.add(cluster.send(0, 1, i, sizes[i % sizes.length]));
            if (i % 20 == 10) {
                proxy.cutAfter(60_000);
            }
        }
        for (int i = 0; i < 140; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
        for (Send send : sends) {
            Cluster.delivered(send);
        }
    }

    @Test
    void peersThatConnectAtOnceAgreeOnOneConnectionAndLoseNothing() throws Exception {
        proxy.close();
        cluster.directory = peer -> cluster.address(peer);
        cluster.start(8);
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            for (int from = 0; from < 8; from++) {
                for (int to = 0; to < 8; to++) {
                    if (from != to) {
                        sends.add(cluster.send(from, to, i, SHORT + i));
                    }
                }
            }
        }
        for (Send send : sends) {
            assertEquals(Delivery.Status.ACKNOWLEDGED, Cluster.delivered(send).status());
        }
        List<String> heard = new ArrayList<>();
        for (int i = 0; i < sends.size(); i++) {
            heard.add(cluster.next());
        }
        assertEquals(sends.size(), heard.stream().distinct().count());
        assertNull(cluster.lost.poll());
    }

    /// The lower rank's own attempt has come to something that takes connections and says nothing, again and again.
    @Test
    void peerWhoseOwnAttemptIsNotAnsweredIsReached() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            InetSocketAddress nowhere = (InetSocketAddress) silent.getLocalSocketAddress();
            cluster.directory = peer -> peer == 1 ? nowhere : cluster.address(peer);
            cluster.start(2);
            Send first = cluster.send(0, 1, 1, SHORT);
            Send second = cluster.send(1, 0, 2, SHORT);
            assertEquals(
                    Delivery.Status.ACKNOWLEDGED,
                    second.get(1, TimeUnit.MINUTES).status());
            assertEquals(
                    Delivery.Status.ACKNOWLEDGED, first.get(1, TimeUnit.MINUTES).status());
            assertNull(cluster.lost.poll());
        }
    }

    /// Bytes of a user's whose memory is gone: the send has failed then, and no other.
    @Test
    void shortMessageThatCannotBeReadCostsNoConnection() throws Exception {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(true, true, true);
        cluster.start(2, setup -> setup.allocator(counted));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        Arena gone = Arena.ofShared();
        try (SealedBuffer bad = SealedBuffer.adopt(gone.allocate(SHORT), () -> {})) {
            gone.close();
            Send failed = cluster.node(0).send(1, TAG, bad);
            Send behind = cluster.send(0, 1, 2, SHORT);
            assertInstanceOf(IllegalStateException.class, Cluster.failure(failed));
            Cluster.delivered(behind);
        }
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 2", cluster.next());
        assertEquals(1, cluster.node(0).stats().getFirst().connections());
        proxy.close();
        cluster.nodes.forEach(OobNode::close);
        Cluster.await("memory is left", () -> counted.metric().usedDirectMemory() == 0);
    }

    @Test
    void connectionThatFallsSilentIsReplaced() throws Exception {
        cluster.start(2, setup -> setup.heartbeat(Duration.ofMillis(50)).peerTimeout(Duration.ofSeconds(8)));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        proxy.stall(true);
        Send late = cluster.send(0, 1, 2, SHORT);
        int before = proxy.accepted();
        Cluster.await("no new connection", () -> proxy.accepted() > before);
        proxy.stall(false);
        Cluster.delivered(late);
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 2", cluster.next());
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void newHelloReplacesAConnectionThatOnlyLooksOpen() throws Exception {
        // node 1 hears nothing of the end of the old connection, and does not miss anything for long
        cluster.add(0, 2, setup -> setup.heartbeat(Duration.ofMillis(50)).peerTimeout(Duration.ofSeconds(8)));
        cluster.add(1, 2, setup -> setup.heartbeat(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        proxy.freeze();
        Cluster.delivered(cluster.send(0, 1, 2, SHORT));
        Cluster.delivered(cluster.send(1, 0, 3, SHORT));
        assertNull(cluster.lost.poll());
    }

    @Test
    void peerWithoutAConnectionForTooLongHasFailedAndMayComeBack() throws Exception {
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofSeconds(1)).heartbeat(Duration.ofMillis(300)));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        proxy.refuse(true);
        proxy.reset();
        Send queued = cluster.send(0, 1, 2, SHORT);
        assertInstanceOf(PeerFailedException.class, Cluster.failure(queued));
        assertTrue(Cluster.line(cluster.lost, "0: peer 1 failed: no connection: millis=1000")
                        .length()
                > 0);
        proxy.refuse(false);
        Cluster.delivered(cluster.send(0, 1, 3, SHORT));
        assertEquals("1 from 0: 1", cluster.next());
        String line = cluster.next();
        // it may have arrived before the connection broke, but never twice
        assertEquals("1 from 0: 3", line.endsWith(": 2") ? cluster.next() : line);
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void peerThatIsRestartedBeginsANewSession() throws Exception {
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofSeconds(8)));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        Cluster.delivered(cluster.send(1, 0, 2, SHORT));
        cluster.node(1).abort();
        List<Send> unsent = new ArrayList<>();
        // as long as the loss is not seen, what is sent is begun, and fails with the old session
        Cluster.await(
                "connection is not lost",
                () -> cluster.node(0).stats().stream().allMatch(peer -> peer.state() == PeerStats.State.SEEKING));
        for (int i = 3; i < 10; i++) {
            unsent.add(cluster.send(0, 1, i, SHORT));
        }
        cluster.replace(1, 2, setup -> setup);
        for (Send send : unsent) {
            assertEquals(1, Cluster.delivered(send).attempts());
        }
        Cluster.delivered(cluster.send(1, 0, 10, SHORT));
        assertEquals("0: peer 1 failed: it was restarted", cluster.lost.poll(10, TimeUnit.SECONDS));
        assertNull(cluster.lost.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void peerThatHadGivenThisNodeUpIsNotSaidToBeRestarted() throws Exception {
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofMinutes(10)));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        cluster.node(1).lost(0, "the cable was pulled");
        assertEquals("0: peer 1 failed: it had given this node up", Cluster.line(cluster.lost, "0: peer 1"));
        Cluster.delivered(cluster.send(0, 1, 2, SHORT));
        // and so when it is the other one that calls
        cluster.node(0).lost(1, "the cable was pulled");
        Cluster.delivered(cluster.send(0, 1, 3, SHORT));
        assertEquals("1: peer 0 failed: it had given this node up", Cluster.line(cluster.lost, "1: peer 0 failed: it"));
    }

    @Test
    void whatMayHaveBeenHandledByADeadPeerIsNotSentToItsSuccessor() throws Exception {
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofSeconds(8)));
        Cluster.delivered(cluster.send(0, 1, 1, SHORT));
        proxy.stall(true);
        Send begun = cluster.send(0, 1, TAG, 2, SHORT, SendOptions.DEFAULT.written());
        assertEquals(Delivery.Status.WRITTEN, Cluster.delivered(begun).status());
        Send unacknowledged = cluster.send(0, 1, 3, SHORT);
        Thread.sleep(100);
        cluster.node(1).abort();
        proxy.reset();
        proxy.stall(false);
        cluster.replace(1, 2, setup -> setup);
        assertEquals(
                "peer 1 failed: it was restarted",
                Cluster.failure(unacknowledged).getMessage());
        Cluster.delivered(cluster.send(0, 1, 4, SHORT));
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 4", cluster.next());
    }
}
