// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import io.bulla.interop.websocket.PreparedMessageHandler;
import io.bulla.interop.websocket.SharedDeflate;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateHandler;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A server as a user has it, on the loopback address: HTTP/1.1, and behind TLS HTTP/2 for clients that want it.
final class FeedServer implements AutoCloseable {

    /// The longest message of a client, once it is decompressed.
    static final int LONGEST = 1 << 16;

    private static final int LONGEST_REQUEST = 8192;
    private static final int PING_SECONDS = 5;

    private final BiConsumer<Channel, String> joins;
    private final BiConsumer<Channel, HttpRequest> events;
    private final EventLoopGroup loops;
    private final Channel listening;

    /// @param transport that can be had here
    /// @param tls of the server, or `null`
    /// @param joins told of each channel that has shaken hands, and the path that it asked for
    /// @param events answers each request for a path below `/events`
    FeedServer(
            Transport transport,
            @Nullable SslContext tls,
            BiConsumer<Channel, String> joins,
            BiConsumer<Channel, HttpRequest> events)
            throws InterruptedException {
        loops = new MultiThreadIoEventLoopGroup(2, transport.handlers());
        this.joins = joins;
        this.events = events;
        listening = new ServerBootstrap()
                .group(loops)
                .channel(transport.server())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls == null) {
                            http1(channel.pipeline());
                        } else {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()), new Versions());
                        }
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    private void http1(ChannelPipeline pipeline) {
        pipeline.addLast(
                new IdleStateHandler(0, PING_SECONDS, 0),
                new HttpServerCodec(),
                new HttpObjectAggregator(LONGEST_REQUEST),
                new Events(events),
                new WebSocketServerExtensionHandler(SharedDeflate.upTo(LONGEST)),
                new WebSocketServerProtocolHandler("/", null, true, LONGEST, false, true),
                new PreparedMessageHandler(),
                new Joins(joins));
    }

    /// For events alone: no client asks for a WebSocket over it if the server does not say that it can.
    private void http2(ChannelPipeline pipeline) {
        pipeline.addLast(
                Http2FrameCodecBuilder.forServer().build(), new Http2MultiplexHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline()
                                .addLast(
                                        new IdleStateHandler(0, PING_SECONDS, 0),
                                        new Http2StreamFrameToHttpObjectCodec(true),
                                        new HttpObjectAggregator(LONGEST_REQUEST),
                                        new Events(events));
                    }
                }));
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

    /// What a client asks for in its TLS handshake.
    private final class Versions extends ApplicationProtocolNegotiationHandler {

        Versions() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext context, String version) {
            if (version.equals(ApplicationProtocolNames.HTTP_2)) {
                http2(context.pipeline());
            } else {
                http1(context.pipeline());
            }
        }

        @Override
        protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
            // an attacker's
            context.close();
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
