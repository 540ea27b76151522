// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.Subscription;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Messages pass by the handlers between the frame encoder and theirs, and keep their order among frames all the
/// same.
class PastHandlersTest {

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final PreparedMessages messages = PreparedMessages.builder(memory).build();
    private final PreparedMessages inPieces =
            PreparedMessages.builder(memory).fragment(1024).build();

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    /// A user's, which sees what goes by, and may close.
    private static final class Between extends ChannelOutboundHandlerAdapter {

        private final List<Object> seen = new ArrayList<>();
        private ChannelHandlerContext context;

        @Override
        public void handlerAdded(ChannelHandlerContext to) {
            context = to;
        }

        @Override
        public void write(ChannelHandlerContext to, Object message, ChannelPromise promise) {
            seen.add(message);
            to.write(message, promise);
        }
    }

    private void write(PreparedMessageHandler handler, PreparedMessages by, String text) {
        try (PreparedMessage message = by.text(text)) {
            handler.write(message);
        }
    }

    private static List<String> texts(EmbeddedChannel server) {
        List<String> all = new ArrayList<>();
        for (WebSocketFrame each : FramesTest.frames(server)) {
            all.add(
                    each instanceof CloseWebSocketFrame
                            ? "close"
                            : each.content().toString(StandardCharsets.UTF_8));
            each.release();
        }
        return all;
    }

    @Test
    void handlersBehindTheEncoderSeeFramesAndNoMessages() {
        Between between = new Between();
        PreparedMessageHandler handler = new PreparedMessageHandler();
        EmbeddedChannel server = new EmbeddedChannel(new WebSocket13FrameEncoder(false), between, handler);
        write(handler, messages, "one");
        server.write(new TextWebSocketFrame("two"));
        write(handler, messages, "three");
        write(handler, inPieces, "4".repeat(1024) + "five");
        server.writeAndFlush(new TextWebSocketFrame("six"));
        assertEquals(2, between.seen.size(), between.seen::toString);
        assertEquals(List.of("one", "two", "three", "4".repeat(1024), "five", "six"), texts(server));
        server.finishAndReleaseAll();
    }

    @Test
    void encoderThatComesLaterOrIsReplacedIsFound() {
        Between first = new Between();
        PreparedMessageHandler handler = new PreparedMessageHandler();
        EmbeddedChannel server = new EmbeddedChannel(first, handler);
        write(handler, messages, "one");
        server.pipeline().addFirst("codec", new WebSocket13FrameEncoder(false));
        write(handler, messages, "two");
        Between second = new Between();
        server.pipeline().replace("codec", "between", second);
        server.pipeline().addFirst(new WebSocket13FrameEncoder(false));
        write(handler, messages, "three");
        assertEquals(1, first.seen.size());
        assertEquals(0, second.seen.size());
        server.pipeline().removeFirst();
        write(handler, messages, "four");
        assertEquals(2, first.seen.size());
        assertEquals(1, second.seen.size());
        assertEquals(List.of("one", "two", "three", "four"), texts(server));
        server.finishAndReleaseAll();
    }

    /// Who sends it: this handler, one behind it, or one that stands where messages pass by.
    @ParameterizedTest
    @ValueSource(strings = {"handler", "behind", "between"})
    void nothingFollowsACloseFrame(String who) throws Exception {
        Between between = new Between();
        PreparedMessageHandler handler = new PreparedMessageHandler();
        // as Netty's protocol handler does, which answers a client's
        EmbeddedChannel server = new EmbeddedChannel(new WebSocket13FrameEncoder(false), handler);
        server.pipeline().addBefore(server.pipeline().context(handler).name(), null, between);
        try (Fanout feed = Fanout.builder().build()) {
            Subscription subscription = handler.subscribe(feed::subscribe);
            server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            write(handler, inPieces, "waits".repeat(1000));
            CloseWebSocketFrame close = new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE);
            switch (who) {
                case "handler" -> {
                    close.release();
                    handler.close(WebSocketCloseStatus.NORMAL_CLOSURE, Duration.ofSeconds(5));
                    server.runPendingTasks();
                }
                case "behind" -> server.writeAndFlush(close);
                default -> between.context.writeAndFlush(close);
            }
            assertFalse(subscription.isOpen());
            if (server.isOpen()) {
                server.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
                server.runPendingTasks();
            }
            try (PreparedMessage late = messages.text("late")) {
                ChannelFuture sent = handler.write(late);
                assertInstanceOf(ClosedChannelException.class, sent.cause());
            }
        }
        assertEquals(List.of("close"), texts(server));
        server.finishAndReleaseAll();
    }

    /// Where no protocol handler of Netty's sees to it: frames from behind, pings of an idle channel, a second close.
    @Test
    void noFrameFollowsACloseFrameEither() {
        PreparedMessageHandler handler = new PreparedMessageHandler();
        EmbeddedChannel server = new EmbeddedChannel(new WebSocket13FrameEncoder(false), handler);
        server.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
        server.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        for (WebSocketFrame late : List.of(new TextWebSocketFrame("late"), new CloseWebSocketFrame())) {
            assertInstanceOf(
                    ClosedChannelException.class, server.writeAndFlush(late).cause());
            assertEquals(0, late.refCnt());
        }
        handler.close(WebSocketCloseStatus.TRY_AGAIN_LATER, Duration.ofSeconds(5));
        server.runPendingTasks();
        assertTrue(server.isOpen(), "the close that is said goes out first");
        assertEquals(List.of("close"), texts(server));
        server.advanceTimeBy(6, TimeUnit.SECONDS);
        server.runScheduledPendingTasks();
        assertFalse(server.isOpen());
        server.finishAndReleaseAll();
    }

    /// A listener of handles, or memory, that throws as what waits is given up.
    @Test
    void releaseThatThrowsClosesTheChannelAllTheSame() {
        boolean[] armed = {false};
        LeaseTrace hostile = new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, @Nullable Object holder) {
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {
                if (armed[0]) {
                    throw new ArithmeticException("hostile");
                }
            }
        };
        PreparedMessageHandler handler = new PreparedMessageHandler();
        EmbeddedChannel server = new EmbeddedChannel(new WebSocket13FrameEncoder(false), handler);
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        try (ArenaSource traced = ArenaSource.builder().trace(hostile).build()) {
            PreparedMessages several =
                    PreparedMessages.builder(traced).fragment(1024).build();
            try (PreparedMessage message = several.text("waits".repeat(1000))) {
                handler.write(message);
            }
            armed[0] = true;
            handler.close(WebSocketCloseStatus.TRY_AGAIN_LATER, Duration.ofSeconds(60));
            assertThrows(ArithmeticException.class, () -> {
                server.runPendingTasks();
                server.checkException();
            });
        }
        assertEquals(List.of("close"), texts(server));
        assertFalse(server.isOpen());
        server.finishAndReleaseAll();
    }

    /// What waits is the handler's thread's alone.
    @Test
    @SuppressWarnings("deprecation") // users do it all the same
    void closeFrameIsHeardOnTheHandlersThread() throws Exception {
        DefaultEventExecutor other = new DefaultEventExecutor();
        try {
            PreparedMessageHandler handler = new PreparedMessageHandler();
            EmbeddedChannel server = new EmbeddedChannel(new WebSocket13FrameEncoder(false));
            server.pipeline().addLast(other, handler);
            other.submit(() -> {}).get(60, TimeUnit.SECONDS);
            assertSame(other, server.pipeline().context(LatestPong.class).executor());
            server.finishAndReleaseAll();
        } finally {
            other.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        }
    }

    /// Then each hop is a task of that thread, and the bytes go the same way as frames.
    @Test
    @SuppressWarnings("deprecation") // users do it all the same
    void handlerOfAnotherThreadKeepsTheOrder() throws Exception {
        DefaultEventExecutor other = new DefaultEventExecutor();
        try {
            Between between = new Between();
            PreparedMessageHandler handler = new PreparedMessageHandler();
            EmbeddedChannel server = new EmbeddedChannel(new WebSocket13FrameEncoder(false));
            server.pipeline().addLast(other, between, handler);
            other.submit(() -> {
                        for (int i = 0; i < 100; i += 2) {
                            write(handler, messages, "" + i);
                            server.writeAndFlush(new TextWebSocketFrame("" + (i + 1)));
                        }
                    })
                    .get(60, TimeUnit.SECONDS);
            server.runPendingTasks();
            List<String> all = texts(server);
            assertEquals(100, all.size());
            for (int i = 0; i < all.size(); i++) {
                assertEquals("" + i, all.get(i));
            }
            assertTrue(between.seen.size() == 100, () -> "seen=" + between.seen.size());
            server.finishAndReleaseAll();
        } finally {
            other.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        }
    }
}
