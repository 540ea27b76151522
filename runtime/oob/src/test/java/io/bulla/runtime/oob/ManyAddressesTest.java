// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.topology.PeerDirectory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A peer with several interfaces: its addresses are tried in turn.
class ManyAddressesTest {

    private final Cluster cluster = new Cluster();
    private final List<ServerSocket> others = new ArrayList<>();
    private Proxy proxy;

    /// Node 1 knows no address, so that all goes through the proxy.
    private PeerDirectory directory(List<SocketAddress> addresses) {
        return new PeerDirectory() {
            @Override
            public SocketAddress addressOf(int rank) {
                throw new AssertionError("asked for one address");
            }

            @Override
            public List<SocketAddress> addressesOf(int rank) {
                return rank == 1 ? addresses : List.of();
            }
        };
    }

    private ServerSocket other() throws IOException {
        ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        others.add(socket);
        return socket;
    }

    @BeforeEach
    void standBetween() throws Exception {
        proxy = new Proxy(() -> cluster.address(1));
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (ServerSocket each : others) {
            each.close();
        }
        proxy.close();
        cluster.close();
    }

    @Test
    void theNextOneIsTriedAndTheOneThatWorkedStays() throws Exception {
        ServerSocket wrong = other();
        AtomicInteger visits = new AtomicInteger();
        Thread.ofVirtual().start(() -> {
            while (!wrong.isClosed()) {
                try {
                    wrong.accept().close();
                    visits.incrementAndGet();
                } catch (IOException over) {
                    return;
                }
            }
        });
        List<SocketAddress> addresses = List.of(wrong.getLocalSocketAddress(), proxy.address());
        cluster.start(2, setup -> setup.directory(directory(addresses)).peerTimeout(Duration.ofMinutes(10)));
        Cluster.delivered(cluster.send(0, 1, 7, 100));
        int before = visits.get();
        for (int i = 0; i < 5; i++) {
            proxy.cutAfter(0);
            Cluster.delivered(cluster.send(0, 1, 8 + i, 100));
        }
        assertEquals(1, before);
        assertEquals(1, visits.get());
        assertNull(cluster.lost.poll());
    }

    // a hint makes the verdict fall as soon as all addresses have failed, whatever the clock says

    @Test
    void theVerdictWaitsForTheLastAddress() throws Exception {
        List<SocketAddress> addresses = noneListens(5);
        addresses.add(proxy.address());
        cluster.start(
                2,
                setup -> setup.directory(directory(addresses))
                        .peerTimeout(Duration.ofMinutes(10))
                        .helloDeadline(Duration.ofMinutes(10)));
        Send send = cluster.send(0, 1, 7, 100);
        cluster.node(0).suspect(1, "said so");
        Cluster.delivered(send);
        assertNull(cluster.lost.poll());
        assertEquals(1, proxy.accepted());
    }

    @Test
    void theVerdictComesOnceAllHaveFailed() throws Exception {
        List<SocketAddress> addresses = noneListens(3);
        cluster.start(2, setup -> setup.directory(directory(addresses)).peerTimeout(Duration.ofMinutes(10)));
        Send send = cluster.send(0, 1, 7, 100);
        cluster.node(0).suspect(1, "said so");
        String why = Cluster.failure(send).getMessage();
        assertTrue(why.contains("said so"), why);
        long tried = cluster.log.stream()
                .filter(line -> line.contains("no connection: peer=1"))
                .count();
        assertTrue(tried >= addresses.size(), "tried=" + tried);
        Cluster.line(cluster.lost, "0: ");
    }

    @Test
    void theVerdictSaysThatAnAddressDoesNotAnswer() throws Exception {
        // the kernel answers no more connections than fit
        ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        others.add(full);
        List<SocketChannel> before = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                SocketChannel channel = SocketChannel.open();
                before.add(channel);
                channel.configureBlocking(false);
                channel.connect(full.getLocalSocketAddress());
            }
            List<SocketAddress> addresses = List.of(full.getLocalSocketAddress());
            cluster.start(2, setup -> setup.directory(directory(addresses)).peerTimeout(Duration.ofMillis(300)));
            String why = Cluster.failure(cluster.send(0, 1, 7, 100)).getMessage();
            assertTrue(why.endsWith(" last=connection timed out after 100 ms: " + addresses.getFirst()), why);
        } finally {
            for (SocketChannel each : before) {
                each.close();
            }
        }
    }

    private List<SocketAddress> noneListens(int count) throws IOException {
        List<SocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ServerSocket gone = other();
            addresses.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), gone.getLocalPort()));
            gone.close();
        }
        return addresses;
    }
}
