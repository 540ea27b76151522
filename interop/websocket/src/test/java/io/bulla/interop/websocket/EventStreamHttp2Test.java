// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.fanout.Subscription;
import io.bulla.refcount.LeaseTally;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2PriorityFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.timeout.IdleStateEvent;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The same events over HTTP/2: each stream has frames of its own around the bytes of all.
@Timeout(120)
class EventStreamHttp2Test {

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final ServerSentEvents events = new ServerSentEvents(memory);
    private @Nullable EventStream stream;

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    /// A stream, as the multiplexer makes them, that has got a request.
    private EmbeddedChannel opened() {
        EmbeddedChannel channel = new EmbeddedChannel(
                new Http2StreamFrameToHttpObjectCodec(true), new SimpleChannelInboundHandler<HttpRequest>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, HttpRequest request) {
                        DefaultHttpHeaders more = new DefaultHttpHeaders();
                        more.set("Access-Control-Allow-Origin", "*").set("Keep-Alive", "timeout=5");
                        stream = EventStream.open(context.channel(), request, more);
                    }
                });
        Http2Headers get = new DefaultHttp2Headers()
                .method("GET")
                .path("/feed")
                .scheme("https")
                .authority("localhost");
        channel.writeInbound(new DefaultHttp2HeadersFrame(get, true));
        assertNotNull(stream);
        return channel;
    }

    private static String data(EmbeddedChannel channel) {
        Http2DataFrame frame = channel.readOutbound();
        try {
            return frame.content().toString(StandardCharsets.UTF_8) + (frame.isEndStream() ? "end" : "");
        } finally {
            frame.release();
        }
    }

    private void publish(Fanout fanout, String text) throws InterruptedException {
        try (SealedBuffer event = events.event(text)) {
            fanout.publish(event);
        }
    }

    @Test
    void headHasNothingOfAConnection() {
        EmbeddedChannel channel = opened();
        Http2HeadersFrame head = channel.readOutbound();
        assertFalse(head.isEndStream());
        List<String> lines = new ArrayList<>();
        head.headers().forEach(each -> lines.add(each.getKey() + ": " + each.getValue()));
        assertEquals(
                List.of(
                        ":status: 200",
                        "content-type: text/event-stream",
                        "cache-control: no-store",
                        "access-control-allow-origin: *"),
                lines);
        channel.finishAndReleaseAll();
    }

    @Test
    void eventsAreDataWithoutTheirChunksAndTheLastEndsTheStream() throws Exception {
        EmbeddedChannel channel = opened();
        channel.readOutbound();
        try (Fanout feed = Fanout.builder().build()) {
            stream.subscribe(feed::subscribe);
            publish(feed, "one");
            publish(feed, "ä".repeat(5000) + "\nlines");
            feed.complete();
            channel.runPendingTasks();
        }
        assertEquals("data: one\n\n", data(channel));
        assertEquals("data: " + "ä".repeat(5000) + "\ndata: lines\n\n", data(channel));
        assertEquals("end", data(channel));
        assertFalse(channel.isOpen());
    }

    @Test
    void idleStreamSaysThatItIsAlive() {
        EmbeddedChannel channel = opened();
        channel.readOutbound();
        channel.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        channel.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        assertEquals(":\n\n:\n\n", data(channel) + data(channel));
        channel.finishAndReleaseAll();
    }

    @Test
    void bytesThatAreNoEventFailAndTheStreamGoesOn() {
        EmbeddedChannel channel = opened();
        channel.readOutbound();
        for (String wrong : List.of(
                "hello",
                "",
                "5",
                "5\r\nhell\r\n",
                "5\r\nhello!\r\n",
                "\r\nhello\r\n",
                "ffffffff\r\nh\r\n",
                "5\n\nhello\r\n",
                "5\r\nhello\r\r")) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, 64);
                    SealedBuffer sealed =
                            builder.put(wrong.getBytes(StandardCharsets.UTF_8)).seal()) {
                ChannelFuture written = stream.write(sealed);
                assertInstanceOf(IllegalArgumentException.class, written.cause(), wrong);
            }
        }
        try (SealedBuffer event = events.event("right")) {
            assertTrue(stream.write(event).isSuccess());
        }
        assertEquals("data: right\n\n", data(channel));
        channel.finishAndReleaseAll();
    }

    @Test
    void clientThatSaysMoreIsClosed() {
        EmbeddedChannel channel = opened();
        // as browsers do
        channel.writeInbound(new DefaultHttp2PriorityFrame(0, (short) 7, false));
        channel.writeInbound(new DefaultHttp2DataFrame(Unpooled.EMPTY_BUFFER, true));
        assertTrue(channel.isOpen());
        ByteBuf more = Unpooled.copiedBuffer("more", StandardCharsets.US_ASCII);
        channel.writeInbound(new DefaultHttp2DataFrame(more));
        assertEquals(0, more.refCnt());
        assertFalse(channel.isOpen());
        channel.finishAndReleaseAll();
    }

    @Test
    void whatAnotherHandlerWritesFails() {
        EmbeddedChannel channel = opened();
        channel.readOutbound();
        ByteBuf stray = Unpooled.copiedBuffer("stray", StandardCharsets.US_ASCII);
        ChannelFuture written = channel.writeAndFlush(new DefaultHttp2DataFrame(stray));
        channel.runPendingTasks();
        assertFalse(written.isSuccess());
        assertEquals(0, stray.refCnt());
        channel.finishAndReleaseAll();
    }

    /// A client of others, over TLS: two streams on one connection.
    @Test
    void clientOfTheJdksGetsAllInOrderOnEachStream() throws Exception {
        Semaphore joined = new Semaphore(0);
        List<String> wanted = new ArrayList<>();
        try (Http2Server server = Http2Server.tls();
                Fanout feed = Fanout.builder().slow(SlowPolicy.WAIT).build();
                HttpClient client = Http2Server.client()) {
            server.onRequest((channel, request) -> {
                EventStream.open(channel, request).subscribe(feed::subscribe);
                joined.release();
            });
            List<CompletableFuture<String>> got = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                got.add(client.sendAsync(server.request("/feed"), HttpResponse.BodyHandlers.ofLines())
                        .thenApply(answer -> {
                            assertEquals(HttpClient.Version.HTTP_2, answer.version());
                            assertEquals(
                                    "text/event-stream",
                                    answer.headers().firstValue("content-type").orElse(""));
                            return answer.body().collect(Collectors.joining("\n", "", "\n"));
                        }));
                // or the second would find no connection yet
                assertTrue(joined.tryAcquire(60, TimeUnit.SECONDS));
            }
            for (int i = 0; i < 2000; i++) {
                String text = "{\"number\": " + i + "}" + "\nä".repeat(i * 7919 % 100);
                wanted.add(text);
                publish(feed, text);
            }
            feed.complete();
            for (CompletableFuture<String> each : got) {
                assertEquals(
                        wanted,
                        Events.parsed(each.get(60, TimeUnit.SECONDS)).stream()
                                .map(Events.Event::data)
                                .toList());
            }
            assertEquals(1, server.connections());
        }
    }

    /// One stream's window is full, and its connection's others go on.
    @Test
    void streamThatIsNotReadIsEndedAloneAndNothingIsCopied() throws Exception {
        CompletableFuture<Subscription> slow = new CompletableFuture<>();
        CompletableFuture<Subscription> quick = new CompletableFuture<>();
        try (Http2Server server = Http2Server.plain();
                Fanout feed = Fanout.builder()
                        .slow(SlowPolicy.DISCONNECT)
                        .queueMessages(4)
                        .build();
                Http2Server.Client client = server.connect()) {
            server.onRequest((channel, request) -> {
                Subscription subscription = EventStream.open(channel, request).subscribe(feed::subscribe);
                (request.uri().equals("/slow") ? slow : quick).complete(subscription);
            });
            Http2Server.Reader lazy = client.get("/slow", false);
            slow.get(60, TimeUnit.SECONDS);
            Http2Server.Reader eager = client.get("/quick", true);
            quick.get(60, TimeUnit.SECONDS);
            String text = "x".repeat(8000);
            int sent = 0;
            long copied = 0;
            // its window, Netty's mark of unwritable, the queue
            while (slow.get().isOpen()) {
                assertTrue(sent < 1000, "not ended");
                try (SealedBuffer event = events.event(text)) {
                    server.watch(event);
                    feed.publish(event);
                    sent++;
                    eager.awaitBytes(sent * ("data: \n\n".length() + 8000L));
                    copied += server.copied();
                }
            }
            assertTrue(lazy.isReset());
            assertTrue(quick.get().isOpen());
            assertEquals(0, copied);
            assertTrue(sent > 8, "sent=" + sent);
            feed.complete();
            assertEquals(
                    sent,
                    Events.parsed(eager.all().get(60, TimeUnit.SECONDS)).stream()
                            .filter(event -> event.data().equals(text))
                            .count());
        }
    }

    /// Netty ends a connection that resets more than its share; until then each stream leaves by itself.
    @Test
    void clientThatAsksAndResetsAllTheTimeCostsTheOthersNothing() throws Exception {
        CountDownLatch joined = new CountDownLatch(1);
        try (Http2Server server = Http2Server.plain();
                Fanout feed = Fanout.builder().slow(SlowPolicy.WAIT).build();
                Http2Server.Client honest = server.connect()) {
            server.onRequest((channel, request) -> {
                EventStream.open(channel, request).subscribe(feed::subscribe);
                if (request.uri().equals("/honest")) {
                    joined.countDown();
                }
            });
            Http2Server.Reader reader = honest.get("/honest", true);
            assertTrue(joined.await(60, TimeUnit.SECONDS));
            List<String> wanted = new ArrayList<>();
            for (int connection = 0; connection < 5; connection++) {
                try (Http2Server.Client hostile = server.connect()) {
                    for (int i = 0; i < 500 && hostile.askAndReset("/hostile"); i++) {
                        wanted.add(connection + "/" + i);
                        publish(feed, wanted.getLast());
                    }
                }
            }
            // those that never reset, and never read
            try (Http2Server.Client hostile = server.connect()) {
                for (int i = 0; i < 100; i++) {
                    hostile.get("/hostile", false);
                }
                wanted.add("to many");
                publish(feed, wanted.getLast());
            }
            wanted.add("last");
            publish(feed, wanted.getLast());
            while (feed.figures().subscribers() > 1) {
                Thread.sleep(5);
            }
            feed.complete();
            assertEquals(
                    wanted,
                    Events.parsed(reader.all().get(60, TimeUnit.SECONDS)).stream()
                            .map(Events.Event::data)
                            .toList());
        }
    }

    /// All streams of a connection end with it.
    @Test
    void connectionThatIsGoneLeavesWithAllItsStreams() throws Exception {
        List<Subscription> all = new ArrayList<>();
        CountDownLatch joined = new CountDownLatch(3);
        try (Http2Server server = Http2Server.plain();
                Fanout feed = Fanout.builder().slow(SlowPolicy.DROP_OLDEST).build()) {
            server.onRequest((channel, request) -> {
                synchronized (all) {
                    all.add(EventStream.open(channel, request).subscribe(feed::subscribe));
                }
                joined.countDown();
            });
            try (Http2Server.Client client = server.connect()) {
                for (int i = 0; i < 3; i++) {
                    client.get("/feed", i > 0);
                }
                assertTrue(joined.await(60, TimeUnit.SECONDS));
                publish(feed, "x".repeat(100_000));
            }
            for (Subscription each : all) {
                while (each.isOpen()) {
                    Thread.sleep(5);
                }
            }
            while (handles.open() > 0) {
                Thread.sleep(5);
            }
        }
    }
}
