// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketClientCompressionHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Many clients of the feed, in a process of their own, with a connection each, which offers permessage-deflate.
 *
 * <p>java Clients PORT CLIENTS: each looks at the number of every message, and connects again when its connection
 * ends. Each second a line says how many are connected, and how many messages were wrong, and came. It ends with its
 * input.
 */
public final class Clients {

    private static final int THREADS = 2;
    private static final int LONGEST = 1 << 20;
    private static final int MOST_WAIT_MILLIS = 800;
    private static final int PATIENCE_MILLIS = 60_000;
    // connects at once
    private static final int AT_ONCE = 200;
    private static final byte[] BEGIN = "{\"n\":".getBytes(StandardCharsets.US_ASCII);

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(THREADS, NioIoHandler.newFactory());
    private final AtomicInteger open = new AtomicInteger();
    private final LongAdder wrong = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final Bootstrap bootstrap;

    private Clients(int port) {
        URI feed = URI.create("ws://127.0.0.1:" + port + Sending.PATH);
        bootstrap = new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .remoteAddress(new InetSocketAddress("127.0.0.1", port))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        new HttpClientCodec(),
                                        new HttpObjectAggregator(8192),
                                        new WebSocketClientCompressionHandler(LONGEST),
                                        new WebSocketClientProtocolHandler(WebSocketClientProtocolConfig.newBuilder()
                                                .webSocketUri(feed)
                                                .allowExtensions(true)
                                                // they are cheap: they read digits
                                                .withUTF8Validator(false)
                                                .handshakeTimeoutMillis(PATIENCE_MILLIS)
                                                .maxFramePayloadLength(LONGEST)
                                                .build()),
                                        new Listener());
                    }
                });
    }

    public static void main(String[] args) throws Exception {
        Clients clients = new Clients(Integer.parseInt(args[0]));
        Thread.ofPlatform().daemon().start(Clients::endWithInput);
        // Ctrl-C comes here, too: it is the server that ends this
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(Clients::waitForEnd));
        int count = Integer.parseInt(args[1]);
        for (int i = 0; i < count; i++) {
            clients.connect();
            if (i % AT_ONCE == AT_ONCE - 1) {
                Thread.sleep(20);
            }
        }
        while (true) {
            System.out.println(clients.open.get() + " " + clients.wrong.sum() + " " + clients.received.sum());
            Thread.sleep(1000);
        }
    }

    private static void endWithInput() {
        try {
            while (System.in.read() >= 0) {
                // nothing is said here
            }
        } catch (IOException e) {
            // the same
        }
        Runtime.getRuntime().halt(0);
    }

    private static void waitForEnd() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            // ends it
        }
    }

    private void connect() {
        bootstrap.connect().addListener(done -> {
            if (!done.isSuccess()) {
                connectLater();
            }
        });
    }

    /** Not all at the same time. */
    private void connectLater() {
        int millis = ThreadLocalRandom.current().nextInt(50, MOST_WAIT_MILLIS);
        loops.schedule(this::connect, millis, TimeUnit.MILLISECONDS);
    }

    /** Of one connection. */
    private final class Listener extends SimpleChannelInboundHandler<TextWebSocketFrame> {

        private boolean shaken;
        private long last;

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
                shaken = true;
                open.incrementAndGet();
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, TextWebSocketFrame frame) {
            long number = number(frame);
            // one that is too slow gets gaps, and nothing twice
            if (number <= last || frame.content().getByte(frame.content().writerIndex() - 1) != '}') {
                wrong.increment();
            }
            last = number;
            received.increment();
        }

        /** @return 0 if it has none */
        private static long number(TextWebSocketFrame frame) {
            int at = frame.content().readerIndex();
            for (byte each : BEGIN) {
                if (at >= frame.content().writerIndex() || frame.content().getByte(at++) != each) {
                    return 0;
                }
            }
            long number = 0;
            for (; at < frame.content().writerIndex(); at++) {
                int digit = frame.content().getByte(at) - '0';
                if (digit < 0 || digit > 9) {
                    break;
                }
                number = 10 * number + digit;
            }
            return number;
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            if (shaken) {
                open.decrementAndGet();
            }
            connectLater();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (!(cause instanceof IOException)) {
                wrong.increment();
                System.err.println("client: " + cause);
            }
            context.close();
        }
    }
}
