// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.bulla.runtime.oob.internal.session.Session;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A node without sockets for a while: its sessions stay.
class SuspendTest {

    private static final int SENDS = 200;

    private final Cluster cluster = new Cluster();

    @BeforeEach
    void nodesThatHavePatience() throws Exception {
        cluster.start(2, setup -> setup.peerTimeout(Duration.ofMinutes(10)).fragment(4096));
    }

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    private static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class, () -> done(stage)).getCause();
    }

    private InetSocketAddress suspend(int rank) throws Exception {
        InetSocketAddress address = cluster.address(rank);
        done(cluster.node(rank).suspend());
        assertEquals(address, cluster.address(rank));
        return address;
    }

    /// Short ones and long ones, both ways.
    private List<Send> sends(int first) {
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < SENDS; i++) {
            sends.add(cluster.send(i % 2, 1 - i % 2, first + i, i % 5 == 0 ? 20_000 : 100));
        }
        return sends;
    }

    private void allHandledOnceInOrder(int count) throws InterruptedException {
        int[] last = {-1, -1};
        for (int i = 0; i < count; i++) {
            String line = cluster.next();
            int receiver = line.charAt(0) - '0';
            int number = Integer.parseInt(line.substring(line.indexOf(": ") + 2));
            assertTrue(number > last[receiver], line);
            last[receiver] = number;
        }
        assertNull(cluster.got.poll());
    }

    @Test
    void nothingIsLostOrDoubledAndThePortIsFreeMeanwhile() throws Exception {
        List<Send> sends = sends(0);
        InetSocketAddress address = suspend(1);
        assertThrows(ConnectException.class, () -> new Socket(address.getAddress(), address.getPort()).close());
        sends.addAll(sends(SENDS));
        Cluster.await(
                "the other node seeks", () -> cluster.node(0).stats().getFirst().state() == PeerStats.State.SEEKING);
        assertEquals(PeerStats.State.IDLE, cluster.node(1).stats().getFirst().state());
        assertEquals(address, done(cluster.node(1).resume(address)));
        for (Send send : sends) {
            Cluster.delivered(send);
        }
        allHandledOnceInOrder(2 * SENDS);
        assertNull(cluster.lost.poll());
    }

    @Test
    void bothAreSuspendedAndOneComesBackAtAnotherAddress() throws Exception {
        List<Send> sends = sends(0);
        suspend(0);
        InetSocketAddress before = suspend(1);
        sends.addAll(sends(SENDS));
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(before);
            assertInstanceOf(IOException.class, failure(cluster.node(1).resume(before)));
            // suspended still
            done(cluster.node(1).resume(new InetSocketAddress(before.getAddress(), 0)));
            assertTrue(cluster.address(1).getPort() != before.getPort());
            done(cluster.node(0).resume(cluster.address(0)));
            for (Send send : sends) {
                Cluster.delivered(send);
            }
        }
        allHandledOnceInOrder(2 * SENDS);
    }

    @Test
    void againIsHarmlessOutOfTurnIsSaid() throws Exception {
        CompletionStage<Void> first = cluster.node(1).suspend();
        CompletionStage<Void> second = cluster.node(1).suspend();
        done(first);
        done(second);
        CompletionStage<InetSocketAddress> resumed = cluster.node(1).resume(cluster.address(1));
        assertInstanceOf(IllegalStateException.class, failure(cluster.node(1).resume(cluster.address(1))));
        done(resumed);
        assertEquals(
                "node is not suspended: rank=0",
                failure(cluster.node(0).resume(cluster.address(0))).getMessage());
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        assertInstanceOf(IOException.class, failure(cluster.node(0).resume(new InetSocketAddress("192.0.2.1", 0))));
    }

    @Test
    void nodeThatIsClosedWhileItIsSuspendedFailsWhatItHas() throws Exception {
        InetSocketAddress address = suspend(0);
        Send queued = cluster.send(0, 1, 1, 100);
        cluster.node(0).close();
        assertInstanceOf(PeerFailedException.class, Cluster.failure(queued));
        assertInstanceOf(IllegalStateException.class, failure(cluster.node(0).resume(address)));
        assertInstanceOf(IllegalStateException.class, failure(cluster.node(0).suspend()));
    }

    @Test
    void suspensionThatMeetsACloseOrAResumeHasAnEnd() throws Exception {
        InetSocketAddress address = suspend(0);
        CompletionStage<InetSocketAddress> resumed = cluster.node(0).resume(address);
        // begins when the resume is over
        CompletionStage<Void> again = cluster.node(0).suspend();
        assertEquals(address, done(resumed));
        done(again);
        assertThrows(ConnectException.class, () -> new Socket(address.getAddress(), address.getPort()).close());
        CompletionStage<InetSocketAddress> late = cluster.node(0).resume(address);
        CompletionStage<Void> last = cluster.node(0).suspend();
        cluster.node(0).close();
        // whichever came first
        late.handle((bound, failure) -> failure).toCompletableFuture().get(10, TimeUnit.SECONDS);
        last.handle((over, failure) -> failure).toCompletableFuture().get(10, TimeUnit.SECONDS);
        try (ServerSocket free = new ServerSocket()) {
            free.bind(address);
        }
    }

    @Test
    void helloThatIsReadWhileTheNodeIsSuspendedHasNoAnswer() throws Exception {
        suspend(0);
        EmbeddedChannel channel = new EmbeddedChannel();
        CompletableFuture.runAsync(
                        () -> {
                            NodeLoop loop = cluster.node(0).loop();
                            Connection connection =
                                    new Connection(loop.context(), loop.acceptor(), channel, null, 1_000_000_000);
                            channel.pipeline().addLast(connection);
                            // of a session that has never been
                            Hello hello = new Session(loop.context().settings()).hello(1);
                            try {
                                loop.acceptor().onHello(connection, null, of(hello, 1), null);
                            } catch (IOException refused) {
                                throw new UncheckedIOException(refused);
                            }
                        },
                        cluster.node(0).loop().eventLoop())
                .get(10, TimeUnit.SECONDS);
        assertNull(channel.readOutbound());
        assertTrue(!channel.isOpen());
    }

    private static Hello of(Hello hello, int rank) {
        return new Hello(
                hello.oldest(),
                hello.newest(),
                rank,
                hello.nodes(),
                hello.number(),
                hello.session(),
                0,
                0,
                0,
                0,
                1,
                hello.window(),
                hello.limit(),
                hello.features());
    }

    @Test
    void broadcastGoesOnWhereItWas() throws Exception {
        suspend(1);
        CompletionStage<BroadcastResult> result;
        try (var message = cluster.numbered(3, 50_000)) {
            result = cluster.node(0).broadcast(Cluster.TAG, message);
        }
        done(cluster.node(1).resume(cluster.address(1)));
        assertEquals(1, done(result).reached());
        assertEquals("1 from 0: 3", cluster.next());
    }
}
