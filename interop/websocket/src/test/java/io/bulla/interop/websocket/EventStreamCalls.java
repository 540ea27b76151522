// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultCatalogue.Member;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.timeout.IdleStateEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The public operations of event streams.
final class EventStreamCalls {

    /// What each version of HTTP has before the events.
    private static final List<Supplier<ChannelHandler>> CODECS =
            List.of(HttpServerCodec::new, () -> new Http2StreamFrameToHttpObjectCodec(true));

    private final Supplier<ChannelHandler> codec;

    private EventStreamCalls(Supplier<ChannelHandler> codec) {
        this.codec = codec;
    }

    static void addTo(FaultCatalogue all) {
        for (Supplier<ChannelHandler> codec : CODECS) {
            EventStreamCalls calls = new EventStreamCalls(codec);
            all.around("EventStream.open(Channel, HttpRequest)", open -> calls.open(open, false));
            all.around("EventStream.open(Channel, HttpRequest, HttpHeaders)", open -> calls.open(open, true));
            all.around("EventStream.write(SealedBuffer)", calls::write);
            all.around("EventStream.subscribe(Function)", calls::subscribe);
            all.around("EventStream.close()", calls::close);
            for (String event :
                    List.of("channelInactive", "channelWritabilityChanged", "handlerAdded", "handlerRemoved")) {
                all.around("EventStream." + event + "(ChannelHandlerContext)", told -> calls.told(told, "context"));
            }
            all.around(
                    "EventStream.userEventTriggered(ChannelHandlerContext, Object)", told -> calls.told(told, "event"));
            all.around("EventStream.channelRead(ChannelHandlerContext, Object)", told -> calls.told(told, "bytes"));
            all.around(
                    "EventStream.write(ChannelHandlerContext, Object, ChannelPromise)",
                    told -> calls.told(told, "write"));
        }
        all.around(
                "EventStream.lastEventId(HttpRequest)",
                last -> scene -> () -> {
                    WebSocketCalls.expect(last.on(null, get()) == null, "an id, and no header");
                    return "none";
                });
        all.receiver(ServerSentEvents.class, scene -> new ServerSentEvents(scene.source()));
    }

    /// A stream that is open already: nothing of that fails.
    private static EventStream stream(FaultScene scene, EmbeddedChannel channel) {
        EventStream stream = EventStream.open(channel, get());
        out(channel);
        channel.pipeline().addFirst(new WebSocketCalls.Outbound(scene.points()));
        return stream;
    }

    private static HttpRequest get() {
        return new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
    }

    private static String out(EmbeddedChannel channel) {
        return new String(WebSocketCalls.outbound(channel), StandardCharsets.ISO_8859_1);
    }

    private static SealedBuffer event(FaultScene scene) {
        // the first one loads Netty's classes
        scene.mayTake(64 << 20);
        return scene.own(new ServerSentEvents(scene.source()).event("4711", "price", "12.5"));
    }

    private static void callBack(FaultScene scene, @Nullable EmbeddedChannel[] now, boolean[] called) {
        scene.callBack("channel.close", () -> {
            EmbeddedChannel channel = now[0];
            if (channel != null) {
                called[0] = true;
                channel.close();
            }
        });
        scene.callBack("stream.close", () -> {
            EmbeddedChannel channel = now[0];
            EventStream stream = channel == null ? null : channel.pipeline().get(EventStream.class);
            if (stream != null) {
                called[0] = true;
                stream.close();
            }
        });
    }

    /// Whatever fails: the head is out, or the channel is over, or nothing has begun.
    private Operation open(Member open, boolean more) {
        return scene -> () -> {
            EmbeddedChannel channel = new EmbeddedChannel(new WebSocketCalls.Outbound(scene.points()), codec.get());
            try {
                if (more) {
                    open.on(null, channel, get(), new DefaultHttpHeaders().set("a", "b"));
                } else {
                    open.on(null, channel, get());
                }
                WebSocketCalls.expect(out(channel).contains("200") || !channel.isOpen(), "a stream without a head");
                return "opened";
            } finally {
                channel.finishAndReleaseAll();
            }
        };
    }

    /// Whatever fails: the write completes, and what goes out is the whole event or nothing.
    private Operation write(Member write) {
        return scene -> {
            SealedBuffer event = event(scene);
            @Nullable EmbeddedChannel[] now = {null};
            boolean[] called = {false};
            callBack(scene, now, called);
            return () -> {
                EmbeddedChannel channel = new EmbeddedChannel(codec.get());
                try {
                    EventStream stream = stream(scene, channel);
                    now[0] = channel;
                    ChannelFuture written = (ChannelFuture) write.on(stream, event);
                    channel.runPendingTasks();
                    WebSocketCalls.expect(written.isDone(), "the write never completes");
                    String out = out(channel);
                    if (written.isSuccess() && !called[0]) {
                        WebSocketCalls.expect(out.contains("data: 12.5"), "success, and nothing is out: " + out);
                        return "success";
                    }
                    if (called[0]) {
                        return "closed";
                    }
                    WebSocketCalls.expect(out.isEmpty(), "a failure, and something is out: " + out);
                    throw WebSocketCalls.failure(written.cause());
                } finally {
                    now[0] = null;
                    channel.finishAndReleaseAll();
                }
            };
        };
    }

    /// Whatever fails: what was published goes out whole or not at all, and a channel that missed one is over.
    private Operation subscribe(Member subscribe) {
        return scene -> {
            SealedBuffer event = event(scene);
            @Nullable EmbeddedChannel[] now = {null};
            callBack(scene, now, new boolean[1]);
            return () -> {
                EmbeddedChannel channel = new EmbeddedChannel(codec.get());
                try (Fanout fanout = Fanout.builder().build()) {
                    EventStream stream = stream(scene, channel);
                    now[0] = channel;
                    Function<Subscriber, Subscription> feed = fanout::subscribe;
                    Subscription subscription = (Subscription) subscribe.on(stream, feed);
                    fanout.publish(event);
                    channel.runPendingTasks();
                    WebSocketCalls.expect(
                            out(channel).contains("data: 12.5") || !subscription.isOpen() || !channel.isOpen(),
                            "open, and nothing is out");
                    return "subscribed";
                } finally {
                    now[0] = null;
                    channel.finishAndReleaseAll();
                }
            };
        };
    }

    /// Whatever fails: the channel is over, behind the last chunk if it can be written.
    private Operation close(Member close) {
        return scene -> {
            SealedBuffer event = event(scene);
            return () -> {
                EmbeddedChannel channel = new EmbeddedChannel(codec.get());
                try (Fanout fanout = Fanout.builder().build()) {
                    EventStream stream = stream(scene, channel);
                    stream.subscribe(fanout::subscribe);
                    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
                    // the last handle of this one is in the queue
                    try (SealedBuffer waits = copy(scene, event)) {
                        fanout.publish(waits);
                    }
                    close.on(stream);
                    channel.runPendingTasks();
                    WebSocketCalls.expect(!channel.isOpen(), "the channel stays open");
                    return "closed";
                } finally {
                    channel.finishAndReleaseAll();
                }
            };
        };
    }

    private static SealedBuffer copy(FaultScene scene, SealedBuffer event) {
        try (BufferBuilder builder = BufferBuilder.create(scene.source())) {
            return builder.put(event.iovec()).seal();
        }
    }

    private Operation told(Member told, String what) {
        return scene -> {
            SealedBuffer event = event(scene);
            return () -> {
                EmbeddedChannel channel = new EmbeddedChannel(codec.get());
                try {
                    EventStream stream = stream(scene, channel);
                    stream.write(event);
                    ChannelHandlerContext context = channel.pipeline().context(stream);
                    switch (what) {
                        case "context" -> told.on(stream, context);
                        case "event" -> told.on(stream, context, IdleStateEvent.WRITER_IDLE_STATE_EVENT);
                        // each version takes what it does not know for words, or drops it
                        case "bytes" ->
                            told.on(
                                    stream,
                                    context,
                                    new DefaultHttp2DataFrame(
                                            channel.alloc().buffer(8).writeInt(1)));
                        default ->
                            told.on(stream, context, io.netty.buffer.Unpooled.EMPTY_BUFFER, channel.newPromise());
                    }
                    return "told";
                } finally {
                    channel.finishAndReleaseAll();
                }
            };
        };
    }
}
