// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.fanout.Subscription;
import io.bulla.interop.websocket.Events.Event;
import io.bulla.refcount.LeaseTally;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A request that is answered with events, by a channel of its own and to a client of the JDK's.
@Timeout(120)
class EventStreamTest {

    private static final String GET = "GET /feed HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\n\r\n";

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final ServerSentEvents events = new ServerSentEvents(memory);

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    /// A handler of a user's.
    private static final class Opens extends SimpleChannelInboundHandler<HttpRequest> {

        private final HttpHeaders headers = new DefaultHttpHeaders();
        private @Nullable EventStream stream;
        private @Nullable Throwable refused;

        EventStream stream() {
            return assertInstanceOf(EventStream.class, stream);
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpRequest request) {
            try {
                stream = EventStream.open(context.channel(), request, headers);
            } catch (IllegalArgumentException | IllegalStateException why) {
                refused = why;
            }
        }
    }

    private static EmbeddedChannel channel(Opens opens) {
        return new EmbeddedChannel(new HttpServerCodec(), new HttpContentCompressor(), opens);
    }

    private static void say(EmbeddedChannel channel, String words) {
        channel.writeInbound(Unpooled.copiedBuffer(words, StandardCharsets.ISO_8859_1));
    }

    private static EmbeddedChannel opened(Opens opens) {
        EmbeddedChannel channel = channel(opens);
        say(channel, GET);
        return channel;
    }

    private static String out(EmbeddedChannel channel) {
        StringBuilder out = new StringBuilder();
        for (ByteBuf each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
            out.append(each.toString(StandardCharsets.ISO_8859_1));
            each.release();
        }
        return out.toString();
    }

    private static List<String> data(String wire) {
        return Events.parsed(Events.payload(wire)).stream().map(Event::data).toList();
    }

    private void publish(Fanout fanout, String text) throws InterruptedException {
        try (SealedBuffer event = events.event(text)) {
            fanout.publish(event);
        }
    }

    private static void writable(EmbeddedChannel channel, boolean is) {
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, is);
        channel.runPendingTasks();
    }

    @Test
    void headSaysThatEventsFollowInChunks() {
        Opens opens = new Opens();
        opens.headers.set("Access-Control-Allow-Origin", "*");
        EmbeddedChannel channel = opened(opens);
        assertEquals(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\n"
                        + "Access-Control-Allow-Origin: *\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
                out(channel));
        assertTrue(channel.isOpen());
        channel.finishAndReleaseAll();
    }

    @Test
    void subscriberGetsAllThenTheLastChunk() throws Exception {
        Opens opens = new Opens();
        EmbeddedChannel channel = opened(opens);
        out(channel);
        try (Fanout feed = Fanout.builder().build()) {
            opens.stream().subscribe(feed::subscribe);
            publish(feed, "one");
            publish(feed, "two\nlines");
            feed.complete();
            channel.runPendingTasks();
        }
        assertEquals(List.of("one", "two\nlines"), data(out(channel)));
        assertFalse(channel.isOpen());
    }

    @Test
    void slowOneIsBoundedAndClosed() throws Exception {
        Opens opens = new Opens();
        EmbeddedChannel channel = opened(opens);
        out(channel);
        try (Fanout feed =
                Fanout.builder().slow(SlowPolicy.DISCONNECT).queueMessages(3).build()) {
            Subscription subscription = opens.stream().subscribe(feed::subscribe);
            writable(channel, false);
            for (int i = 0; i < 4; i++) {
                publish(feed, "e" + i);
            }
            channel.runPendingTasks();
            assertFalse(subscription.isOpen());
            assertFalse(channel.isOpen());
            // at once: no end that looks like a whole answer
            assertEquals("", out(channel));
        }
        channel.finishAndReleaseAll();
    }

    @Test
    void oneThatWaitedGoesOn() throws Exception {
        Opens opens = new Opens();
        EmbeddedChannel channel = opened(opens);
        out(channel);
        try (Fanout feed = Fanout.builder().build()) {
            opens.stream().subscribe(feed::subscribe);
            writable(channel, false);
            publish(feed, "a");
            publish(feed, "b");
            assertEquals("", out(channel));
            writable(channel, true);
            assertEquals(List.of("a", "b"), data(out(channel)));
            channel.close();
        }
        channel.finishAndReleaseAll();
    }

    @Test
    void writeIsForOneClient() {
        Opens opens = new Opens();
        EmbeddedChannel channel = opened(opens);
        out(channel);
        try (SealedBuffer event = events.event("mine")) {
            assertTrue(opens.stream().write(event).isSuccess());
            opens.stream().close();
            opens.stream().close();
            channel.runPendingTasks();
            ChannelFuture late = opens.stream().write(event);
            assertInstanceOf(IllegalStateException.class, late.cause());
        }
        assertEquals("c\r\ndata: mine\n\n\r\n0\r\n\r\n", out(channel));
        assertFalse(channel.isOpen());
    }

    @Test
    void clientThatSaysMoreIsClosed() {
        EmbeddedChannel channel = opened(new Opens());
        ByteBuf nothing = Unpooled.buffer();
        channel.writeInbound(nothing);
        assertTrue(channel.isOpen());
        ByteBuf more = Unpooled.copiedBuffer(GET, StandardCharsets.ISO_8859_1);
        channel.writeInbound(more);
        assertEquals(0, nothing.refCnt() + more.refCnt());
        assertFalse(channel.isOpen());
        channel.finishAndReleaseAll();
    }

    @Test
    void secondRequestInTheSamePieceOpensNoSecondStream() {
        Opens opens = new Opens();
        EmbeddedChannel channel = channel(opens);
        say(channel, GET + GET);
        assertNotNull(opens.stream);
        assertTrue(String.valueOf(opens.refused).contains("has an event stream already"), () -> "" + opens.refused);
        channel.finishAndReleaseAll();
    }

    @Test
    void whatAnotherHandlerWritesFails() {
        EmbeddedChannel channel = opened(new Opens());
        out(channel);
        ByteBuf stray = Unpooled.copiedBuffer("stray", StandardCharsets.US_ASCII);
        ChannelFuture written = channel.writeAndFlush(stray);
        channel.runPendingTasks();
        assertFalse(written.isSuccess());
        assertEquals(0, stray.refCnt());
        assertEquals("", out(channel));
        channel.finishAndReleaseAll();
    }

    /// A handler nearer to the socket.
    @Test
    void headThatIsNotWrittenEndsTheChannel() {
        Opens opens = new Opens();
        EmbeddedChannel channel = new EmbeddedChannel(
                new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
                        ReferenceCountUtil.release(message);
                        throw new IllegalStateException("write, as told");
                    }
                },
                new HttpServerCodec(),
                opens);
        say(channel, GET);
        assertNotNull(opens.stream);
        assertFalse(channel.isOpen());
        channel.finishAndReleaseAll();
    }

    @Test
    void idleChannelSaysThatItIsAlive() {
        EmbeddedChannel channel = opened(new Opens());
        out(channel);
        channel.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        channel.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        assertEquals(":\n\n:\n\n", Events.payload(out(channel)));
        // or a client that reads nothing would get a longer and longer queue
        writable(channel, false);
        channel.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        assertEquals("", out(channel));
        channel.finishAndReleaseAll();
    }

    @Test
    void otherRequestsAndHeadersAreRefused() {
        for (String request :
                List.of(GET.replace("1.1", "1.0"), GET.replace("GET", "POST"), GET.replace("GET", "HEAD"))) {
            Opens opens = new Opens();
            EmbeddedChannel channel = channel(opens);
            say(channel, request);
            assertInstanceOf(IllegalArgumentException.class, opens.refused);
            assertEquals("", out(channel));
            channel.finishAndReleaseAll();
        }
        Opens opens = new Opens();
        opens.headers.set("Content-Length", "7");
        EmbeddedChannel channel = opened(opens);
        assertInstanceOf(IllegalArgumentException.class, opens.refused);
        channel.finishAndReleaseAll();
    }

    @Test
    void clientSaysWhatItHasGotLast() {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        assertNull(EventStream.lastEventId(request));
        request.headers().set("Last-Event-ID", "Gr\u00c3\u00bcn 7");
        assertEquals("Gr\u00fcn 7", EventStream.lastEventId(request));
    }

    @Test
    void channelThatIsOverLeavesAtOnce() throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpServerCodec());
        channel.close();
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        channel.pipeline().addLast(new HttpServerCodec());
        try (Fanout feed = Fanout.builder().slow(SlowPolicy.DROP_OLDEST).build()) {
            Subscription subscription = EventStream.open(channel, request).subscribe(feed::subscribe);
            publish(feed, "x");
            assertFalse(subscription.isOpen());
        }
        channel.finishAndReleaseAll();
    }

    @Test
    void channelWithoutHttpIsRefused() {
        EmbeddedChannel channel = new EmbeddedChannel();
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        assertThrows(IllegalStateException.class, () -> EventStream.open(channel, request));
        channel.finishAndReleaseAll();
    }

    /// A client of others, over a socket.
    @Test
    void clientOfTheJdksGetsAllInOrder() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        Fanout feed = Fanout.builder().slow(SlowPolicy.WAIT).build();
        CompletableFuture<Void> joined = new CompletableFuture<>();
        Channel server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(new HttpServerCodec(), new SimpleChannelInboundHandler<HttpRequest>() {
                                    @Override
                                    protected void channelRead0(ChannelHandlerContext context, HttpRequest request) {
                                        EventStream.open(context.channel(), request)
                                                .subscribe(feed::subscribe);
                                        joined.complete(null);
                                    }
                                });
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        List<String> wanted = new ArrayList<>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            CompletableFuture<String> got = client.sendAsync(
                            java.net.http.HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/feed"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofLines())
                    .thenApply(answer -> {
                        assertEquals(
                                "text/event-stream",
                                answer.headers().firstValue("content-type").orElse(""));
                        return answer.body().collect(Collectors.joining("\n", "", "\n"));
                    });
            joined.get(60, TimeUnit.SECONDS);
            for (int i = 0; i < 2000; i++) {
                String text = "{\"number\": " + i + "}" + "\nä".repeat(i * 7919 % 100);
                wanted.add(text);
                publish(feed, text);
            }
            feed.complete();
            assertEquals(
                    wanted,
                    Events.parsed(got.get(60, TimeUnit.SECONDS)).stream()
                            .map(Event::data)
                            .toList());
        } finally {
            server.close().sync();
            loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }
}
