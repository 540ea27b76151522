// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// TCP connections over the loopback, both ends of all of them on one event loop, so that nothing waits for a
/// thread to wake up.
final class NettyPeers implements AutoCloseable {

    private static final int RECEIVE_BYTES = 1 << 18;

    interface Arrived {
        void took(int peer, ByteBuf bytes);

        void failed(Throwable cause);
    }

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel server;
    private final Channel[] channels;

    /// @param tls TLS 1.3 of the JDK's on either side, which trusts everybody
    NettyPeers(int peers, boolean tls, Arrived arrived) throws Exception {
        channels = new Channel[peers];
        SslContext serverSide = tls ? serverSide() : null;
        SslContext clientSide = tls ? clientSide() : null;
        CountDownLatch accepted = new CountDownLatch(peers);
        server = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(RECEIVE_BYTES))
                .childHandler(new ChannelInitializer<>() {
                    private int next;

                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls) {
                            channel.pipeline().addLast(serverSide.newHandler(channel.alloc()));
                        }
                        channel.pipeline().addLast(new Receiver(next++, arrived));
                        accepted.countDown();
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        // one after another, so that they are accepted in this order
        for (int i = 0; i < peers; i++) {
            channels[i] = connect(clientSide, arrived);
        }
        accepted.await();
    }

    private Channel connect(SslContext tls, Arrived arrived) throws InterruptedException {
        Channel channel = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls != null) {
                            SslHandler handler = tls.newHandler(channel.alloc());
                            // else it copies the ends of messages together
                            handler.setWrapDataSize(0);
                            channel.pipeline().addLast(handler);
                        }
                        // nothing comes back, but for failures
                        channel.pipeline().addLast(new Receiver(-1, arrived));
                    }
                })
                .connect(server.localAddress())
                .sync()
                .channel();
        if (tls != null) {
            channel.pipeline().get(SslHandler.class).handshakeFuture().sync();
        }
        return channel;
    }

    @SuppressWarnings("deprecation") // good enough for bytes that no other code sees
    private static SslContext serverSide() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate();
        return SslContextBuilder.forServer(certificate.key(), certificate.cert())
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.3")
                .build();
    }

    private static SslContext clientSide() throws Exception {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)
                .protocols("TLSv1.3")
                .build();
    }

    Channel channel(int peer) {
        return channels[peer];
    }

    /// Runs something on the loop, after what is under way.
    void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public void close() throws InterruptedException {
        for (Channel channel : channels) {
            channel.close().sync();
        }
        server.close().sync();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private static final class Receiver extends ChannelInboundHandlerAdapter {

        private final int peer;
        private final Arrived arrived;

        Receiver(int peer, Arrived arrived) {
            this.peer = peer;
            this.arrived = arrived;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            arrived.took(peer, bytes);
            bytes.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            arrived.failed(cause);
        }
    }
}
