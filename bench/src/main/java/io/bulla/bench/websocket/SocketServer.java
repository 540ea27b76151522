// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.bulla.buffer.ArenaSource;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The clients of one way behind real sockets, all on one event loop.
final class SocketServer {

    private static final long PATIENCE_SECONDS = 120;

    private final Way way;
    private final EventLoopGroup loop;
    private final Channel server;
    private final CountDownLatch handshakes;
    // the loop's
    private final List<Channel> clients = new ArrayList<>();

    /// @param loop of the transport
    /// @param tls of the server, or `null`
    SocketServer(Way way, Cell cell, int count, Transport transport, EventLoopGroup loop, SslContext tls)
            throws Exception {
        this.way = way;
        this.loop = loop;
        handshakes = new CountDownLatch(count);
        server = new ServerBootstrap()
                .group(loop)
                .channel(transport.server())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls != null) {
                            SslHandler handler = tls.newHandler(channel.alloc());
                            // else it copies the ends of messages together
                            handler.setWrapDataSize(0);
                            channel.pipeline().addLast(handler);
                        }
                        way.serve(channel.pipeline(), cell.isCompressed());
                        channel.pipeline().addLast(new Shaken());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
    }

    String port() {
        return Integer.toString(((InetSocketAddress) server.localAddress()).getPort());
    }

    void awaitClients() throws Exception {
        await(handshakes);
    }

    /// Returns when the kernel has taken the message for every client.
    void broadcast(ArenaSource memory, String text) throws Exception {
        CountDownLatch taken = new CountDownLatch(clients.size());
        ChannelFutureListener done = written -> {
            if (written.isSuccess()) {
                taken.countDown();
            }
        };
        onLoop(() -> {
            try (Way.Message message = way.message(memory, text)) {
                for (Channel each : clients) {
                    message.write(each).addListener(done);
                }
            }
            return null;
        });
        await(taken);
    }

    <T> T onLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /// Before the clients end.
    void close() throws Exception {
        server.close().sync();
        onLoop(() -> {
            clients.forEach(Channel::close);
            return null;
        });
    }

    private static void await(CountDownLatch all) throws Exception {
        if (!all.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new TimeoutException("clients are missing: count=" + all.getCount());
        }
    }

    private final class Shaken extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (Way.isReady(event)) {
                clients.add(context.channel());
                handshakes.countDown();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            // its write fails, and the broadcast with it
            context.close();
        }
    }
}
