// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.refcount.LeaseTally;
import io.netty.bootstrap.Bootstrap;
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
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakerFactory;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketClientCompressionHandler;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A real server, and clients of others: the JDK's without compression, Netty's with it.
@Timeout(120)
class ClientsTest {

    private static final int COUNT = 2000;
    private static final int LONGEST = 1 << 20;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final PreparedMessages messages =
            PreparedMessages.builder(memory).fragment(4096).build();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final List<Channel> joined = new CopyOnWriteArrayList<>();

    private Channel server;

    @BeforeEach
    void open() throws Exception {
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        new HttpServerCodec(),
                                        new HttpObjectAggregator(8192),
                                        new WebSocketServerExtensionHandler(SharedDeflate.upTo(LONGEST)),
                                        new WebSocketServerProtocolHandler("/feed", null, true),
                                        new PreparedMessageHandler(),
                                        new Joins());
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    @AfterEach
    void close() throws Exception {
        server.close().sync();
        loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        assertEquals(0, handles.open());
    }

    private final class Joins extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof WebSocketServerProtocolHandler.HandshakeComplete) {
                joined.add(context.channel());
            }
        }
    }

    private URI uri() {
        return URI.create("ws://127.0.0.1:" + ((InetSocketAddress) server.localAddress()).getPort() + "/feed");
    }

    private void awaitJoined(int count) throws InterruptedException {
        for (int wait = 0; joined.size() < count; wait++) {
            assertTrue(wait < 12_000, () -> "joined: " + joined);
            Thread.sleep(5);
        }
    }

    private static String text(int number) {
        return "{\"number\": " + number + ", \"filler\": \"" + "abcdä".repeat(number * 7919 % 2500) + "\"}";
    }

    private void publish() throws Exception {
        for (int i = 0; i < COUNT; i++) {
            try (PreparedMessage message = messages.text(text(i))) {
                for (Channel each : joined) {
                    PreparedMessageHandler.of(each).write(message);
                }
            }
            if (i % 100 == 50) {
                // of Netty's, among them
                for (Channel each : joined) {
                    each.writeAndFlush(new TextWebSocketFrame("own " + i));
                }
            }
        }
    }

    private static void assertAll(BlockingQueue<String> got) throws InterruptedException {
        for (int i = 0; i < COUNT; i++) {
            assertEquals(text(i), got.poll(60, TimeUnit.SECONDS));
            if (i % 100 == 50) {
                assertEquals("own " + i, got.poll(60, TimeUnit.SECONDS));
            }
        }
        assertTrue(got.isEmpty());
    }

    @Test
    void clientOfTheJdksGetsAllInOrder() throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            WebSocket socket = client.newWebSocketBuilder()
                    .buildAsync(uri(), new WebSocket.Listener() {
                        private final StringBuilder parts = new StringBuilder();

                        @Override
                        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
                            parts.append(data);
                            if (last) {
                                got.add(parts.toString());
                                parts.setLength(0);
                            }
                            from.request(1);
                            return null;
                        }
                    })
                    .get(60, TimeUnit.SECONDS);
            awaitJoined(1);
            publish();
            assertAll(got);
            socket.abort();
        }
    }

    private Channel nettys(BlockingQueue<String> got, boolean compressed) throws Exception {
        WebSocketClientProtocolHandler handshake =
                new WebSocketClientProtocolHandler(WebSocketClientHandshakerFactory.newHandshaker(
                        uri(), WebSocketVersion.V13, null, true, EmptyHttpHeaders.INSTANCE, LONGEST));
        return new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(8192));
                        if (compressed) {
                            channel.pipeline().addLast(new WebSocketClientCompressionHandler(LONGEST));
                        }
                        channel.pipeline()
                                .addLast(
                                        handshake,
                                        new WebSocketFrameAggregator(LONGEST),
                                        new SimpleChannelInboundHandler<TextWebSocketFrame>() {
                                            @Override
                                            protected void channelRead0(
                                                    ChannelHandlerContext context, TextWebSocketFrame frame) {
                                                got.add(frame.text());
                                            }
                                        });
                    }
                })
                .connect(server.localAddress())
                .sync()
                .channel();
    }

    @Test
    void clientsWithAndWithoutCompressionGetAllInOrder() throws Exception {
        BlockingQueue<String> plain = new LinkedBlockingQueue<>();
        BlockingQueue<String> compressed = new LinkedBlockingQueue<>();
        BlockingQueue<String> another = new LinkedBlockingQueue<>();
        List<Channel> clients = List.of(nettys(plain, false), nettys(compressed, true), nettys(another, true));
        awaitJoined(3);
        assertEquals(2, joined.stream().filter(SharedDeflate::isAgreed).count());
        publish();
        assertAll(plain);
        assertAll(compressed);
        assertAll(another);
        for (Channel each : clients) {
            each.close().sync();
        }
    }

    /// Published by a thread that is no loop's: what a slow one has not read waits, and the publisher with it.
    @Test
    void subscribedClientsGetAllInOrderHoweverSlowTheyAre() throws Exception {
        Fanout feed = Fanout.builder()
                .slow(SlowPolicy.WAIT)
                .patience(Duration.ofSeconds(60))
                .queueMessages(8)
                .build();
        BlockingQueue<String> plain = new LinkedBlockingQueue<>();
        BlockingQueue<String> compressed = new LinkedBlockingQueue<>();
        List<Channel> clients = List.of(nettys(plain, false), nettys(compressed, true));
        awaitJoined(2);
        joined.forEach(each -> PreparedMessageHandler.of(each).subscribe(feed::subscribe));
        for (int i = 0; i < COUNT; i++) {
            try (PreparedMessage message = messages.text(text(i));
                    SealedBuffer forms = message.forms()) {
                assertEquals(2, feed.publish(forms));
            }
        }
        feed.complete();
        for (BlockingQueue<String> got : List.of(plain, compressed)) {
            for (int i = 0; i < COUNT; i++) {
                assertEquals(text(i), got.poll(60, TimeUnit.SECONDS));
            }
        }
        for (Channel each : clients) {
            each.closeFuture().sync();
        }
        assertEquals(2L * COUNT, feed.figures().sent());
        assertEquals(0, feed.figures().droppedMessages());
    }
}
