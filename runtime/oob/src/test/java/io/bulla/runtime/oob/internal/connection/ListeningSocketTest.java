// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.Transport;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A port that Netty pauses: it does so after a failure, and forgets to go on if there was no heap to ask for that.
class ListeningSocketTest {

    private static final long SECOND = 1_000_000_000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoop loop = loops.next();
    private final CompletableFuture<Channel> port = new CompletableFuture<>();
    private final CountDownLatch accepted = new CountDownLatch(1);

    @AfterEach
    void end() throws Exception {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private ListeningSocket socket() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        ListeningSocket socket = ListeningSocket.open(
                        Transport.NIO, UnpooledByteBufAllocator.DEFAULT, loop, null, address)
                .get(20, TimeUnit.SECONDS);
        socket.accept(
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void handlerAdded(ChannelHandlerContext context) {
                        port.complete(context.channel());
                    }
                },
                fresh -> accepted.countDown());
        return socket;
    }

    private void onLoop(Runnable task) throws Exception {
        loop.submit(task).get(20, TimeUnit.SECONDS);
    }

    private boolean isPaused() {
        return !port.join().config().isAutoRead();
    }

    @Test
    void pauseHasAnEnd() throws Exception {
        ListeningSocket socket = socket();
        Channel listens = port.get(20, TimeUnit.SECONDS);
        onLoop(() -> {
            listens.config().setAutoRead(false);
            socket.tick(0);
            socket.tick(SECOND);
            assertTrue(isPaused(), "a pause is Netty's to end");
            socket.tick(3 * SECOND);
            assertEquals(false, isPaused());
        });
        try (Socket client =
                new Socket(socket.address().getAddress(), socket.address().getPort())) {
            assertTrue(accepted.await(30, TimeUnit.SECONDS));
            assertTrue(client.isConnected());
        }
    }

    @Test
    void eachPauseHasItsTime() throws Exception {
        ListeningSocket socket = socket();
        Channel listens = port.get(20, TimeUnit.SECONDS);
        onLoop(() -> {
            listens.config().setAutoRead(false);
            socket.tick(0);
            listens.config().setAutoRead(true);
            socket.tick(SECOND);
            listens.config().setAutoRead(false);
            socket.tick(3 * SECOND);
            assertTrue(isPaused(), "another pause");
            socket.tick(4 * SECOND);
            assertTrue(isPaused());
            socket.tick(6 * SECOND);
            assertEquals(false, isPaused());
        });
    }
}
