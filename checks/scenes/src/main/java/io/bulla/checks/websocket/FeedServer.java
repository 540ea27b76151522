// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import io.bulla.interop.websocket.PreparedMessageHandler;
import io.bulla.interop.websocket.SharedDeflate;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateHandler;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A server as a user has it, on the loopback address.
final class FeedServer implements AutoCloseable {

    /// The longest message of a client, once it is decompressed.
    static final int LONGEST = 1 << 16;

    private static final int PING_SECONDS = 5;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final Channel listening;

    /// @param tls of the server, or `null`
    /// @param joins told of each channel that has shaken hands, and the path that it asked for
    /// @param events answers each request for a path below `/events`
    FeedServer(@Nullable SslContext tls, BiConsumer<Channel, String> joins, BiConsumer<Channel, HttpRequest> events)
            throws InterruptedException {
        listening = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls != null) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        }
                        channel.pipeline()
                                .addLast(
                                        new IdleStateHandler(0, PING_SECONDS, 0),
                                        new HttpServerCodec(),
                                        new HttpObjectAggregator(8192),
                                        new Events(events),
                                        new WebSocketServerExtensionHandler(SharedDeflate.upTo(LONGEST)),
                                        new WebSocketServerProtocolHandler("/", null, true, LONGEST, false, true),
                                        new PreparedMessageHandler(),
                                        new Joins(joins));
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    @Override
    public void close() {
        try {
            listening.close().sync();
            loops.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Takes the requests for events out of those for a WebSocket.
    private static final class Events extends ChannelInboundHandlerAdapter {

        private final BiConsumer<Channel, HttpRequest> events;

        Events(BiConsumer<Channel, HttpRequest> events) {
            this.events = events;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (!(message instanceof FullHttpRequest request) || !request.uri().startsWith("/events")) {
                context.fireChannelRead(message);
                return;
            }
            try {
                events.accept(context.channel(), request);
            } finally {
                request.release();
            }
        }
    }

    /// The last handler: clients say nothing that is asked for.
    private static final class Joins extends SimpleChannelInboundHandler<WebSocketFrame> {

        private final BiConsumer<Channel, String> joins;

        Joins(BiConsumer<Channel, String> joins) {
            this.joins = joins;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof WebSocketServerProtocolHandler.HandshakeComplete shaken) {
                joins.accept(context.channel(), shaken.requestUri());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
            // dropped
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            // an attacker's words
            context.close();
        }
    }
}
