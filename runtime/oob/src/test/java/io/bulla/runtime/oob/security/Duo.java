// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// One who accepts and one who connects, over the loopback, each behind a security of its own; what either
/// reads and what goes wrong with it.
final class Duo implements AutoCloseable {

    /// One end: says something at once, before anything is proven, as a node does.
    static final class End extends ChannelInboundHandlerAdapter {

        private final String greeting;
        final BlockingQueue<String> read = new LinkedBlockingQueue<>();
        final BlockingQueue<String> wrong = new LinkedBlockingQueue<>();
        final BlockingQueue<Channel> channels = new LinkedBlockingQueue<>();

        End(String greeting) {
            this.greeting = greeting;
        }

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            channels.add(context.channel());
            context.writeAndFlush(Unpooled.copiedBuffer(greeting, StandardCharsets.US_ASCII));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            read.add(bytes.toString(StandardCharsets.ISO_8859_1));
            bytes.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            wrong.add(String.valueOf(cause.getMessage()));
            context.close();
        }

        String nextRead() throws InterruptedException {
            return read.poll(10, TimeUnit.SECONDS);
        }

        String nextWrong() throws InterruptedException {
            return wrong.poll(10, TimeUnit.SECONDS);
        }

        Channel channel() throws InterruptedException {
            return channels.poll(10, TimeUnit.SECONDS);
        }
    }

    final End accepts = new End("from who accepts");
    final End connects = new End("from who connects");
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel listener;

    Duo(Security accepting) {
        listener = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(pipeline(accepting, false, Security.UNKNOWN, accepts))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    EventLoopGroup loops() {
        return loops;
    }

    Duo connect(Security connecting, int rank) {
        connect(connecting, rank, address());
        return this;
    }

    void connect(Security connecting, int rank, InetSocketAddress where) {
        new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(pipeline(connecting, true, rank, connects))
                .connect(where)
                .syncUninterruptibly();
    }

    private static ChannelInitializer<Channel> pipeline(Security security, boolean connecting, int rank, End end) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) throws IOException {
                security.secure(channel, connecting, rank);
                channel.pipeline().addLast(end);
            }
        };
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
