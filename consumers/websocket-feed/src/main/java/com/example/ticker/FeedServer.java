// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Listens on the loopback address: a page, its figures, and the WebSocket. */
final class FeedServer implements AutoCloseable {

    // all clients come at once, and again when the way of sending changes
    private static final int BACKLOG = 8192;
    // some five messages: a server that is too slow for all is late by that for each
    private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(8 << 10, 16 << 10);

    // of its own: beside the sends, few would be accepted at a time
    private final EventLoopGroup accepting = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final Channel listening;

    /** @throws java.net.BindException if the port is in use */
    FeedServer(int port, Ticker ticker, Figures figures) throws IOException {
        Page page = Page.read();
        try {
            listening = new ServerBootstrap()
                    .group(accepting, loops)
                    .channel(NioServerSocketChannel.class)
                    .option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WAITING)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline()
                                    .addLast(
                                            new HttpServerCodec(),
                                            new HttpObjectAggregator(8192),
                                            new Routes(page, ticker, figures));
                        }
                    })
                    .bind(new InetSocketAddress("127.0.0.1", port))
                    .syncUninterruptibly()
                    .channel();
        } catch (Throwable failure) {
            accepting.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw failure;
        }
    }

    int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    /** Accepts no more. */
    void stopListening() {
        listening.close().syncUninterruptibly();
    }

    @Override
    public void close() {
        stopListening();
        accepting.shutdownGracefully(0, 10_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
        loops.shutdownGracefully(100, 10_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
}
