// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.traffic.ChannelTrafficShapingHandler;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Links of a given speed: each is a port of the loopback that hands on what arrives, no faster than that, in
/// either direction. The pacing is Netty's, by reading no further; what waits is in the sockets' buffers, whose
/// size is fixed, so that a link holds little.
final class PacedLinks implements AutoCloseable {

    private static final int SOCKET_BUFFER = 1 << 20;
    // a link that was idle may make up for this much time and no more
    private static final long CHECK_MILLIS = 10;

    private final long bytesPerSecond;
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    PacedLinks(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /// Opens a link.
    ///
    /// @param target asked for each connection
    /// @return where its near end listens
    InetSocketAddress to(Supplier<? extends SocketAddress> target) {
        return (InetSocketAddress) new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_RCVBUF, SOCKET_BUFFER)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel near) {
                        connect(near, target.get());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel()
                .localAddress();
    }

    private void connect(Channel near, SocketAddress target) {
        new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.SO_RCVBUF, SOCKET_BUFFER)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel far) {
                        far.pipeline().addLast(pace(), new HandOn(near));
                    }
                })
                .connect(target)
                .addListener((ChannelFutureListener) connected -> {
                    if (connected.isSuccess()) {
                        near.pipeline().addLast(pace(), new HandOn(connected.channel()));
                        near.config().setAutoRead(true);
                        connected.channel().config().setAutoRead(true);
                    } else {
                        near.close();
                    }
                });
    }

    private ChannelTrafficShapingHandler pace() {
        return new ChannelTrafficShapingHandler(0, bytesPerSecond, CHECK_MILLIS);
    }

    /// Whatever arrives goes to the other end; what ends at one, ends at both.
    private static final class HandOn extends ChannelInboundHandlerAdapter {

        private final Channel other;

        HandOn(Channel other) {
            this.other = other;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object bytes) {
            if (other.isActive()) {
                other.write(bytes);
            } else {
                ReferenceCountUtil.release(bytes);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            other.flush();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            other.close();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
