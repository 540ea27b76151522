// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A port that is bound before its node is known.
class BoundNodeTest {

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private OobNodeBuilder builder() {
        return OobNode.builder()
                .memory(cluster.source)
                .security(Security.plaintext())
                .peerTimeout(Duration.ofMinutes(10))
                .receive(
                        Cluster.TAG,
                        message ->
                                cluster.got.add("from " + message.origin() + ": " + Cluster.number(message.buffer())));
    }

    @Test
    void nodesExchangeAddressesAndThenTheyStart() throws Exception {
        BoundNode[] bound = {builder().bind(), builder().bind()};
        for (int rank = 0; rank < bound.length; rank++) {
            cluster.nodes.add(bound[rank].start(rank, 2, peer -> bound[peer].address()));
            assertEquals(bound[rank].address(), cluster.address(rank));
            assertEquals(rank, cluster.node(rank).rank());
        }
        Cluster.delivered(cluster.send(0, 1, 4, 100_000));
        assertEquals("from 0: 4", cluster.next());
        Cluster.delivered(cluster.send(1, 0, 5, 100));
        assertEquals("from 1: 5", cluster.next());
    }

    @Test
    void whoCallsBeforeTheStartIsServedAfterIt() throws Exception {
        try (BoundNode bound = builder().bind()) {
            cluster.add(
                    0,
                    2,
                    setup -> setup.directory(peer -> bound.address())
                            .helloDeadline(Duration.ofMillis(300))
                            .peerTimeout(Duration.ofMinutes(10)));
            Send early = cluster.send(0, 1, 7, 100);
            Cluster.line(cluster.log, "no connection: peer=1");
            assertEquals(0, cluster.got.size());
            cluster.nodes.add(bound.start(1, 2, peer -> cluster.address(0)));
            Cluster.delivered(early);
            assertEquals("from 0: 7", cluster.next());
        }
    }

    @Test
    void socketThatListensAlreadyMayBeBound() throws Exception {
        ServerSocketChannel given = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
        try (BoundNode bound = builder().listener(given).bind()) {
            assertEquals(given.getLocalAddress(), bound.address());
        }
        assertTrue(!given.isOpen());
    }

    @Test
    void closeFreesThePort() throws Exception {
        BoundNode bound = builder().bind();
        bound.close();
        bound.close();
        // the loop's selector lets go of it when it looks next; and another process may be given the port first
        for (int again = 1; !canBeBound(bound.address()); again++) {
            assertTrue(again < 20_000);
            Thread.sleep(1);
            if (again % 1000 == 0) {
                bound = builder().bind();
                bound.close();
            }
        }
        startsNoMore(bound);
    }

    private static boolean canBeBound(InetSocketAddress address) {
        try (ServerSocket same = new ServerSocket()) {
            same.bind(address);
            return true;
        } catch (IOException taken) {
            return false;
        }
    }

    private static void startsNoMore(BoundNode bound) {
        IllegalStateException over = assertThrows(IllegalStateException.class, () -> bound.start(0, 2, peer -> null));
        assertEquals("started or closed already: address=" + bound.address(), over.getMessage());
    }

    @Test
    void startIsOnceAndWhatIsWrongLeavesThePortBound() throws Exception {
        BoundNode bound = builder().bind();
        assertThrows(IllegalArgumentException.class, () -> bound.start(2, 2, peer -> null));
        assertThrows(NullPointerException.class, () -> bound.start(1, 2, null));
        cluster.nodes.add(bound.start(1, 2, peer -> null));
        assertThrows(IllegalStateException.class, () -> bound.start(1, 2, peer -> null));
        // the node has it
        bound.close();
        try (ServerSocket other = new ServerSocket()) {
            assertThrows(IOException.class, () -> other.bind(bound.address()));
        }
    }

    @Test
    void portThatIsTakenAndRankThatIsMissingAreSaid() throws Exception {
        try (BoundNode first = builder().bind()) {
            IOException taken = assertThrows(
                    IOException.class, () -> builder().bind(first.address()).bind());
            assertTrue(taken.getMessage().startsWith("cannot listen on 127.0.0.1:"), taken::getMessage);
        }
        assertEquals(
                "rank is not known: bind() first, and start what is bound",
                assertThrows(
                                IllegalStateException.class,
                                () -> builder().directory(peer -> null).start())
                        .getMessage());
        assertThrows(
                NullPointerException.class,
                () -> OobNode.builder().memory(cluster.source).bind());
    }
}
