// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.bulla.refcount.LeaseTally;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// One order for a channel, whether its event loop publishes or another thread.
@Timeout(120)
class OrderTest {

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
    private final Written written = new Written();
    private final LocalChannel channel = new LocalChannel() {
        @Override
        public boolean isActive() {
            return isOpen();
        }
    };

    /// Nearest to the socket: what has come there.
    private static final class Written extends ChannelOutboundHandlerAdapter {

        private final List<String> all = new ArrayList<>();

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            switch (message) {
                case ByteBuf bytes -> all.add(bytes.toString(StandardCharsets.UTF_8));
                case CloseWebSocketFrame close -> all.add("close " + close.statusCode());
                default -> all.add(message.toString());
            }
            ReferenceCountUtil.release(message);
            promise.setSuccess();
        }
    }

    @BeforeEach
    void open() throws Exception {
        channel.pipeline().addLast(written);
        loops.register(channel).sync();
    }

    @AfterEach
    void nothingIsOpen() throws Exception {
        channel.close().sync();
        loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        assertEquals(0, handles.open());
    }

    @FunctionalInterface
    private interface Subscribes {
        Subscription with(Function<Subscriber, Subscription> fanout);
    }

    @FunctionalInterface
    private interface Publishes {
        void to(Fanout feed, int number) throws InterruptedException;
    }

    /// The loop lets another thread publish twice, cannot write that yet, then publishes itself and completes.
    private void publishFromBoth(Subscribes subscribes, Publishes publishes) throws Exception {
        Fanout feed = Fanout.builder().build();
        CompletableFuture<Void> done = new CompletableFuture<>();
        channel.eventLoop().execute(() -> {
            try {
                subscribes.with(feed::subscribe);
                CompletableFuture.runAsync(() -> {
                            try {
                                publishes.to(feed, 1);
                                publishes.to(feed, 2);
                            } catch (InterruptedException interrupted) {
                                throw new IllegalStateException(interrupted);
                            }
                        })
                        .get();
                publishes.to(feed, 3);
                feed.complete();
                done.complete(null);
            } catch (Throwable failure) {
                done.completeExceptionally(failure);
            }
        });
        done.get(60, TimeUnit.SECONDS);
        channel.closeFuture().await(60, TimeUnit.SECONDS);
    }

    @Test
    void messagesGoOutAsTheyWerePublished() throws Exception {
        PreparedMessages messages = PreparedMessages.builder(memory).build();
        PreparedMessageHandler handler = new PreparedMessageHandler();
        channel.pipeline().addLast(handler);
        publishFromBoth(handler::subscribe, (feed, number) -> {
            try (PreparedMessage message = messages.text("" + number);
                    SealedBuffer forms = message.forms()) {
                feed.publish(forms);
            }
        });
        // a frame's header is before the text
        assertEquals(
                List.of("1", "2", "3", "close 1000"),
                written.all.stream()
                        .map(each -> each.startsWith("close") ? each : each.substring(each.length() - 1))
                        .toList());
    }

    @Test
    void eventsGoOutAsTheyWerePublished() throws Exception {
        ServerSentEvents events = new ServerSentEvents(memory);
        channel.pipeline().addLast(new HttpServerCodec());
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        publishFromBoth(fanout -> EventStream.open(channel, request).subscribe(fanout), (feed, number) -> {
            try (SealedBuffer event = events.event("" + number)) {
                feed.publish(event);
            }
        });
        written.all.removeFirst();
        assertEquals("0\r\n\r\n", written.all.removeLast());
        assertEquals(
                List.of("1", "2", "3"),
                Events.parsed(Events.payload(String.join("", written.all))).stream()
                        .map(Events.Event::data)
                        .toList());
    }
}
