// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.testkit.needs.Piece;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    /// A channel that cannot be made, for want of a descriptor: Netty tells of it on a thread of its own.
    public static final class Unmade extends NioSocketChannel {

        private static final AtomicInteger TRIED = new AtomicInteger();

        /// Fails.
        public Unmade() {
            super(refused());
        }

        private static java.nio.channels.SocketChannel refused() {
            TRIED.incrementAndGet();
            throw new ChannelException("cannot make a channel", new IOException("Too many open files"));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void channelThatCannotBeMadeEndsNoVerdictAndNoClose(boolean closes) throws Exception {
        Transport none = new Transport(NioIoHandler.newFactory(), NioServerSocketChannel.class, Unmade.class);
        CountDownLatch tells = new CountDownLatch(1);
        try (Cluster cluster = new Cluster()) {
            cluster.start(2, node -> node.transport(none));
            GlobalEventExecutor.INSTANCE.execute(() -> assertDoesNotThrow(() -> tells.await()));
            int before = Unmade.TRIED.get();
            Send send = cluster.send(0, 1, 1, 100);
            Cluster.await("it is not tried", () -> Unmade.TRIED.get() > before);
            if (closes) {
                cluster.node(0).close();
            } else {
                cluster.node(0).lost(1, "its host says so");
            }
            assertInstanceOf(PeerFailedException.class, Cluster.failure(send));
            Cluster.await("its handle is kept", () -> cluster.handles.open() == 0);
        } finally {
            tells.countDown();
        }
    }

    /// What a node does is done on its loop, and what the system said is said.
    @Test
    void channelThatCannotBeMadeIsTriedAgainOnTheLoop() throws Exception {
        Transport none = new Transport(NioIoHandler.newFactory(), NioServerSocketChannel.class, Unmade.class);
        Set<String> threads = ConcurrentHashMap.newKeySet();
        try (Cluster cluster = new Cluster()) {
            cluster.directory = peer -> {
                threads.add(Thread.currentThread().getName());
                return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
            };
            cluster.start(2, node -> node.transport(none).peerTimeout(Duration.ofSeconds(1)));
            Throwable why = Cluster.failure(cluster.send(0, 1, 1, 100));
            assertTrue(why.getMessage().contains("Too many open files"), why::getMessage);
            assertEquals(1, threads.size(), threads::toString);
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
