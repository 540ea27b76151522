// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.testkit.needs.Piece;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Nodes on Netty's native transports.
class TransportTest {

    private static final int BYTES = 700_000;

    @Test
    void nioLandsWithoutACopy() throws Exception {
        assertEquals(0, copiesOf(Transport.NIO));
    }

    @Test
    void epollCarriesMessagesAndBroadcasts() throws Exception {
        Piece.EPOLL.orSkip(Epoll.unavailabilityCause());
        assertTrue(copiesOf(epoll()) > 0);
    }

    @Test
    void uringCarriesMessagesAndBroadcasts() throws Exception {
        Piece.IO_URING.orSkip(IoUring.unavailabilityCause());
        assertTrue(copiesOf(new Transport(
                        IoUringIoHandler.newFactory(), IoUringServerSocketChannel.class, IoUringSocketChannel.class))
                > 0);
    }

    @Test
    void portInUseIsNamedOnAnyTransport() throws Exception {
        Piece.EPOLL.orSkip(Epoll.unavailabilityCause());
        try (ServerSocket taken = new ServerSocket(0);
                Cluster cluster = new Cluster()) {
            IOException refused = assertThrows(
                    IOException.class,
                    () -> cluster.start(
                            1,
                            node -> node.transport(epoll())
                                    .security(Security.plaintextBeyondLoopback())
                                    .bind(new InetSocketAddress(taken.getLocalPort()))));
            assertTrue(refused.getMessage().contains(Integer.toString(taken.getLocalPort())), refused.getMessage());
            assertTrue(refused.getMessage().contains("Address already in use"), refused.getMessage());
        }
    }

    private static Transport epoll() {
        return new Transport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class, EpollSocketChannel.class);
    }

    /// Three nodes: a message each way, long and short, and a broadcast down a chain.
    private static long copiesOf(Transport transport) throws Exception {
        CopyTally before = CopyTally.snapshot();
        try (Cluster cluster = new Cluster()
                .start(3, node -> node.transport(transport).coalesceBelow(0).routing(new Radix(1)))) {
            assertEquals(BYTES, Cluster.delivered(cluster.send(0, 1, 1, BYTES)).bytes());
            assertEquals("1 from 0: 1", cluster.next());
            Cluster.delivered(cluster.send(1, 0, 2, 64));
            assertEquals("0 from 1: 2", cluster.next());
            try (SealedBuffer message = cluster.numbered(3, BYTES)) {
                BroadcastResult result = cluster.node(0)
                        .broadcast(Cluster.TAG, message)
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
                assertEquals(2, result.reached());
            }
            Set<String> both = new TreeSet<>(Set.of(cluster.next(), cluster.next()));
            assertEquals(Set.of("1 from 0: 3", "2 from 0: 3"), both);
        }
        return CopyTally.snapshot().since(before).copies();
    }
}
