// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// How the operations of `interop/websocket` are called: with memory, handlers and listeners that may fail or call
/// back.
final class WebSocketCalls {

    private static final byte[] TEXT =
            "{\"price\": 12.5}".repeat(200).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    private static final int FRAGMENT = 1024;
    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = Map.of(
            MemorySource.class,
            FaultScene::source,
            SealedBuffer.class,
            WebSocketCalls::text,
            String.class,
            scene -> "Grüße",
            Duration.class,
            scene -> Duration.ofSeconds(3),
            int.class,
            scene -> 6,
            long.class,
            scene -> 4096L,
            Channel.class,
            scene -> channel(scene, false, true),
            WebSocketExtensionData.class,
            scene -> new WebSocketExtensionData("permessage-deflate", Map.of()));

    /// The end of a channel: what it throws stands behind a promise that was found broken, and does not hide it.
    interface Ended extends AutoCloseable {

        @Override
        void close();
    }

    private WebSocketCalls() {}

    static FaultCatalogue all() {
        FaultCatalogue all = new FaultCatalogue("websocket", PreparedMessage.class).values(VALUES::get);
        for (boolean compressed : new boolean[] {false, true}) {
            for (boolean open : new boolean[] {false, true}) {
                all.around("PreparedMessageHandler.write(PreparedMessage)", write -> write(write, compressed, open));
            }
        }
        all.around("PreparedMessageHandler.close(WebSocketCloseStatus, Duration)", WebSocketCalls::close);
        all.around("PreparedMessageHandler.subscribe(Function)", subscribe -> subscribe(subscribe, false));
        all.around("PreparedMessageHandler.subscribe(Function)", subscribe -> subscribe(subscribe, true));
        for (String event : List.of("channelInactive", "channelWritabilityChanged", "handlerAdded", "handlerRemoved")) {
            all.around("PreparedMessageHandler." + event + "(ChannelHandlerContext)", told -> told(told, 0));
        }
        all.around("PreparedMessageHandler.userEventTriggered(ChannelHandlerContext, Object)", told -> told(told, 1));
        all.around("PreparedMessageHandler.channelRead(ChannelHandlerContext, Object)", told -> told(told, 3));
        all.around(
                "PreparedMessageHandler.write(ChannelHandlerContext, Object, ChannelPromise)", told -> told(told, 2));
        EventStreamCalls.addTo(all);
        return all.receiver(PreparedMessages.class, WebSocketCalls::messages)
                .receiver(PreparedMessages.Builder.class, scene -> PreparedMessages.builder(scene.source()))
                .receiver(
                        PreparedMessage.class,
                        scene -> scene.own(messages(scene).binary(text(scene))))
                .receiver(SharedDeflate.class, scene -> SharedDeflate.upTo(1 << 20));
    }

    private static PreparedMessages messages(FaultScene scene) {
        // the first one loads Netty's classes
        scene.mayTake(64 << 20);
        return PreparedMessages.builder(scene.source()).fragment(FRAGMENT).build();
    }

    static SealedBuffer text(FaultScene scene) {
        try (BufferBuilder builder = BufferBuilder.create(scene.source())) {
            return scene.watch(builder.put(TEXT).seal(), TEXT);
        }
    }

    private static EmbeddedChannel channel(FaultScene scene, boolean compressed, boolean open) {
        EmbeddedChannel channel = new EmbeddedChannel(
                new WebSocket13FrameEncoder(false), new Outbound(scene.points()), new PreparedMessageHandler());
        if (compressed) {
            SharedDeflateTest.agree(channel);
        }
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, open);
        return channel;
    }

    /// Whatever fails: the write completes, once, and what goes out is whole frames of this message or nothing.
    private static Operation write(Member write, boolean compressed, boolean open) {
        return scene -> {
            PreparedMessages messages = messages(scene);
            SealedBuffer bytes = text(scene);
            @Nullable EmbeddedChannel[] now = {null};
            boolean[] called = {false};
            callBack(scene, now, called);
            return () -> {
                EmbeddedChannel channel = channel(scene, compressed, open);
                now[0] = channel;
                int[] told = {0};
                PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
                try (Ended _ = channel::finishAndReleaseAll;
                        PreparedMessage message = messages.binary(bytes)) {
                    ChannelFuture written = (ChannelFuture) write.on(handler, message);
                    written.addListener(done -> {
                        told[0]++;
                        scene.points().reach("ChannelFutureListener.operationComplete");
                    });
                    if (!open && channel.isOpen()) {
                        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
                    }
                    channel.runPendingTasks();
                    expect(written.isDone(), "the write never completes");
                    expect(told[0] == 1, "listeners are told once: " + told[0]);
                    byte[] out = outbound(channel);
                    if (written.isSuccess()) {
                        expect(out.length > 0, "success, and nothing is out");
                        return "success";
                    }
                    if (called[0]) {
                        return "closed";
                    }
                    expect(!channel.isOpen() || out.length == 0, "the channel is open behind a hole: " + out.length);
                    throw failure(written.cause());
                } finally {
                    now[0] = null;
                }
            };
        };
    }

    private static void callBack(FaultScene scene, @Nullable EmbeddedChannel[] now, boolean[] called) {
        scene.callBack("channel.close", () -> {
            EmbeddedChannel channel = now[0];
            if (channel != null) {
                called[0] = true;
                channel.close();
            }
        });
        scene.callBack("pipeline.remove", () -> {
            EmbeddedChannel channel = now[0];
            if (channel != null && channel.pipeline().get(PreparedMessageHandler.class) != null) {
                called[0] = true;
                channel.pipeline().remove(PreparedMessageHandler.class);
            }
        });
    }

    /// Whatever fails: what was published goes out whole or not at all, and the channel leaves with its end.
    private static Operation subscribe(Member subscribe, boolean compressed) {
        return scene -> {
            PreparedMessages messages = messages(scene);
            SealedBuffer bytes = text(scene);
            @Nullable EmbeddedChannel[] now = {null};
            boolean[] called = {false};
            callBack(scene, now, called);
            return () -> {
                EmbeddedChannel channel = channel(scene, compressed, true);
                now[0] = channel;
                PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
                try (Ended _ = channel::finishAndReleaseAll;
                        Fanout fanout = Fanout.builder().build();
                        PreparedMessage message = messages.binary(bytes);
                        SealedBuffer forms = message.forms()) {
                    Function<Subscriber, Subscription> feed = fanout::subscribe;
                    Subscription subscription = (Subscription) subscribe.on(handler, feed);
                    fanout.publish(forms);
                    channel.runPendingTasks();
                    byte[] out = outbound(channel);
                    expect(out.length > 0 || !subscription.isOpen() || !channel.isOpen(), "open, and nothing is out");
                    return "subscribed";
                } finally {
                    now[0] = null;
                }
            };
        };
    }

    private static Operation close(Member close) {
        return scene -> {
            PreparedMessages messages = messages(scene);
            SealedBuffer bytes = text(scene);
            return () -> {
                EmbeddedChannel channel = channel(scene, false, false);
                try (Ended _ = channel::finishAndReleaseAll;
                        PreparedMessage message = messages.binary(bytes)) {
                    PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
                    ChannelFuture waits = handler.write(message);
                    close.on(handler, WebSocketCloseStatus.TRY_AGAIN_LATER, Duration.ofSeconds(60));
                    channel.runPendingTasks();
                    expect(waits.isDone() && !waits.isSuccess(), "what waits is not given up");
                    channel.advanceTimeBy(61, java.util.concurrent.TimeUnit.SECONDS);
                    channel.runScheduledPendingTasks();
                    expect(!channel.isOpen(), "the channel stays open");
                    return "closed";
                }
            };
        };
    }

    /// @param more arguments behind the context
    private static Operation told(Member told, int more) {
        return scene -> {
            PreparedMessages messages = messages(scene);
            SealedBuffer bytes = text(scene);
            return () -> {
                EmbeddedChannel channel = channel(scene, false, false);
                try (Ended _ = channel::finishAndReleaseAll;
                        PreparedMessage message = messages.binary(bytes)) {
                    PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
                    handler.write(message);
                    ChannelHandlerContext context = channel.pipeline().context(handler);
                    switch (more) {
                        case 0 -> told.on(handler, context);
                        case 1 -> told.on(handler, context, "event");
                        case 3 -> {
                            // a pooled one would be the answer's at once
                            BinaryWebSocketFrame reserved =
                                    new BinaryWebSocketFrame(true, 2, io.netty.buffer.Unpooled.buffer(8));
                            told.on(handler, context, reserved);
                            expect(reserved.refCnt() == 0, "the frame is kept");
                        }
                        default ->
                            told.on(handler, context, io.netty.buffer.Unpooled.EMPTY_BUFFER, channel.newPromise());
                    }
                    return "told";
                }
            };
        };
    }

    static byte[] outbound(EmbeddedChannel channel) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Object message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
            if (message instanceof Http2HeadersFrame head) {
                all.writeBytes(head.headers().status().toString().getBytes(StandardCharsets.US_ASCII));
                continue;
            }
            ByteBuf piece = message instanceof ByteBufHolder holder ? holder.content() : (ByteBuf) message;
            byte[] bytes = new byte[piece.readableBytes()];
            piece.readBytes(bytes);
            all.writeBytes(bytes);
            try {
                piece.release();
            } catch (Throwable failure) {
                // what the last release throws is the memory's, and no loss
                if (!FaultPoints.isInjected(failure)) {
                    throw failure;
                }
            }
        }
        return Arrays.copyOf(all.toByteArray(), all.size());
    }

    static Exception failure(Throwable why) throws Exception {
        if (why instanceof Error error) {
            throw error;
        }
        throw (Exception) why;
    }

    static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /// A handler nearer to the socket.
    static final class Outbound extends ChannelOutboundHandlerAdapter {

        private final FaultPoints points;

        Outbound(FaultPoints points) {
            this.points = points;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            try {
                points.reach("ChannelOutboundHandler.write");
            } catch (Throwable failure) {
                // as Netty has it: a handler that fails has released what it got
                ReferenceCountUtil.release(message);
                throw failure;
            }
            context.write(message, promise);
        }
    }
}
