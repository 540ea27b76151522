// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.End;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.bulla.interop.netty.SealedByteBuf;
import io.bulla.refcount.internal.Failures;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A channel whose answer to a request is a stream of server-sent events, until its end. From a handler of yours that
/// has got the request:
///
/// ```java
/// EventStream.open(context.channel(), request).subscribe(feed::subscribe);
/// ```
///
/// It puts itself between the socket and Netty's HTTP codec, and has the channel for itself from then on:
///
/// ```
/// socket | ssl | IdleStateHandler | this | http codec | yours
/// ```
///
/// - *What goes out* is a head, events ([ServerSentEvents]), and the last chunk; nothing is compressed. What another
///   handler writes fails.
/// - *What comes in* ends the channel: a client of an event stream has nothing to say.
/// - *A client that comes back* names the last event that it has got ([#lastEventId]): write what it missed, then
///   subscribe it. One that is to stay away is answered with 204, and no stream.
/// - *A slow client* costs a handle for each event that waits, and no copy; a fan-out bounds that.
/// - *Idle*: behind an `IdleStateHandler` it writes an empty comment on a channel that has written nothing.
///
/// *Over HTTP/2* the channel is one stream, as Netty's `Http2MultiplexHandler` makes them, and the codec
/// `Http2StreamFrameToHttpObjectCodec`. Each event is one DATA frame, whose nine bytes of header are the stream's
/// own; its bytes are the same for all clients, of both versions. Its end ends the stream, not the connection.
///
/// ```
/// stream | IdleStateHandler | this | Http2StreamFrameToHttpObjectCodec | yours
/// ```
///
/// Sources: WHATWG HTML, "Server-sent events" (9.2); RFC 9112, 7.1 (chunks); RFC 9113, 6.1 (DATA).
public final class EventStream extends ChannelDuplexHandler {

    private static final AttributeKey<EventStream> OF = AttributeKey.valueOf(EventStream.class, "of");
    // those that say how the bytes lie
    private static final List<CharSequence> OWN = List.of(
            HttpHeaderNames.CONTENT_TYPE,
            HttpHeaderNames.CONTENT_LENGTH,
            HttpHeaderNames.CONTENT_ENCODING,
            HttpHeaderNames.TRANSFER_ENCODING,
            HttpHeaderNames.CONNECTION);

    private final Outlet.Side side = new Outlet.Side() {
        @Override
        public boolean isWritable() {
            return context().channel().isWritable();
        }

        @Override
        public void write(SealedBuffer event, Outlet from, boolean isFirst) {
            writeOf(event, from, isFirst);
        }

        @Override
        public void end(End why) {
            switch (why) {
                case End.Completed ignored -> close();
                case End.Closed ignored -> close();
                case End.TooSlow ignored -> context().close();
                case End.Failed ignored -> context().close();
                case End.Left ignored -> {
                    // a transport is not closed with this
                }
            }
        }
    };

    private final EventWire wire;

    // set before this is given away
    private @Nullable ChannelHandlerContext context;

    // the event loop's
    private final Outlets outlets = new Outlets();
    private boolean isOver;

    private EventStream(EventWire wire) {
        this.wire = wire;
    }

    /// Answers a request with a stream of events. On the channel's event loop.
    ///
    /// @param channel with Netty's HTTP codec in its pipeline
    /// @param request a GET of HTTP/1.1, or of HTTP/2, which its codec calls HTTP/1.1; nothing has been answered to
    ///     it, and it stays the caller's
    /// @return the stream
    /// @throws IllegalArgumentException if the request is another one
    /// @throws IllegalStateException if the channel has no HTTP codec, has a stream already, or this is another
    ///     thread
    public static EventStream open(Channel channel, HttpRequest request) {
        return open(channel, request, new DefaultHttpHeaders());
    }

    /// Answers a request with a stream of events, and headers of the caller's, as those of CORS or a cookie. On the
    /// channel's event loop.
    ///
    /// @param channel with Netty's HTTP codec in its pipeline
    /// @param request a GET of HTTP/1.1, or of HTTP/2, which its codec calls HTTP/1.1; nothing has been answered to
    ///     it, and it stays the caller's
    /// @param more headers beside those that say how the bytes lie
    /// @return the stream
    /// @throws IllegalArgumentException if the request is another one, or a header is one of those that are written
    ///     anyhow
    /// @throws IllegalStateException if the channel has no HTTP codec, has a stream already, or this is another
    ///     thread
    public static EventStream open(Channel channel, HttpRequest request, HttpHeaders more) {
        check(request);
        if (!channel.eventLoop().inEventLoop()) {
            throw new IllegalStateException("not on the channel's event loop: channel=" + channel);
        }
        if (channel.hasAttr(OF) && channel.attr(OF).get() != null) {
            throw new IllegalStateException("channel has an event stream already: channel=" + channel);
        }
        HttpHeaders all = all(more);
        for (Map.Entry<String, ChannelHandler> each : channel.pipeline()) {
            EventWire wire = EventWire.of(each.getValue());
            if (wire != null) {
                Object head = wire.head(all);
                EventStream stream = new EventStream(wire);
                channel.pipeline().addBefore(each.getKey(), null, stream);
                // events without a head would be another answer
                stream.context().writeAndFlush(head).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
                return stream;
            }
        }
        throw new IllegalStateException("no HTTP codec in the pipeline: channel=" + channel);
    }

    private static void check(HttpRequest request) {
        if (!HttpMethod.GET.equals(request.method()) || !HttpVersion.HTTP_1_1.equals(request.protocolVersion())) {
            throw new IllegalArgumentException(
                    "not a GET of HTTP/1.1: method=" + request.method() + " version=" + request.protocolVersion());
        }
    }

    private static HttpHeaders all(HttpHeaders given) {
        // those may be unchecked
        HttpHeaders more = new DefaultHttpHeaders().add(given);
        for (CharSequence own : OWN) {
            if (more.contains(own)) {
                throw new IllegalArgumentException("header is written anyhow: name=" + own);
            }
        }
        HttpHeaders all = new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream");
        if (!more.contains(HttpHeaderNames.CACHE_CONTROL)) {
            all.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
        }
        return all.add(more);
    }

    /// What a client that connects again says that it has got last.
    ///
    /// @param request of an `EventSource`
    /// @return the id of an event, as it was given to [ServerSentEvents#event]; or `null` if the client names none
    public static @Nullable String lastEventId(HttpRequest request) {
        String header = request.headers().get("Last-Event-ID");
        // it is UTF-8 (WHATWG HTML, 9.2.4), and Netty decodes headers as ISO 8859-1
        return header == null ? null : new String(header.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /// Queues and flushes an event for this client. Any thread.
    ///
    /// @param event of [ServerSentEvents], open; it stays the caller's
    /// @return completes when the transport has accepted all bytes, or with the failure; over HTTP/2 with an
    ///     `IllegalArgumentException` if it is no event
    /// @throws io.bulla.buffer.ReleasedBufferException if the event is closed
    public ChannelFuture write(SealedBuffer event) {
        ChannelHandlerContext to = context();
        ChannelPromise promise = to.newPromise();
        ByteBuf bytes = SealedByteBuf.share(event);
        try {
            hand(to, true, bytes, () -> writeOrFail(to, bytes, promise));
        } catch (RejectedExecutionException loopIsDown) {
            promise.setFailure(loopIsDown);
        }
        return promise;
    }

    /// Of an outlet, which is told on the loop when it is written. Any thread.
    private void writeOf(SealedBuffer event, Outlet outlet, boolean isFirst) {
        ChannelHandlerContext to = context();
        ChannelPromise promise = to.newPromise();
        promise.addListener(done -> {
            if (!done.isSuccess()) {
                outlet.failed(done.cause());
            }
        });
        ByteBuf bytes = SealedByteBuf.share(event);
        hand(to, isFirst, bytes, () -> {
            writeOrFail(to, bytes, promise);
            outlet.written();
        });
    }

    /// @param isFirst whether it may be written at once from the loop's own thread
    private static void hand(ChannelHandlerContext to, boolean isFirst, ByteBuf bytes, Runnable write) {
        if (isFirst && to.executor().inEventLoop()) {
            write.run();
            return;
        }
        try {
            to.executor().execute(write);
        } catch (Throwable failure) {
            Failures.rethrow(Failures.close(bytes::release, failure));
        }
    }

    private void writeOrFail(ChannelHandlerContext to, ByteBuf bytes, ChannelPromise promise) {
        Object event;
        try {
            if (isOver) {
                throw new IllegalStateException("event stream is over: channel=" + to.channel());
            }
            event = wire.event(bytes);
        } catch (Throwable failure) {
            Throwable why = failure;
            try {
                bytes.release();
            } catch (Throwable release) {
                why = Failures.join(why, release);
            }
            promise.setFailure(why);
            return;
        }
        to.writeAndFlush(event, promise);
    }

    /// Subscribes the channel to a fan-out, or to topics, whose messages are events. The subscription leaves by
    /// itself when the channel is over. A channel whose subscription ends is closed: behind the last chunk when it
    /// got all or the fan-out is closed, at once when it is too slow or a send failed. An `EventSource` connects
    /// again then.
    ///
    /// @param fanout given the channel as a subscriber
    /// @return the subscription
    public Subscription subscribe(Function<? super Subscriber, Subscription> fanout) {
        ChannelHandlerContext to = context();
        Outlet outlet = new Outlet(side);
        Subscription subscription = fanout.apply(outlet);
        try {
            onLoop(to, () -> add(outlet, subscription));
        } catch (RejectedExecutionException loopIsDown) {
            subscription.leave();
        } catch (Throwable failure) {
            subscription.leave();
            throw failure;
        }
        return subscription;
    }

    private void add(Outlet outlet, Subscription subscription) {
        outlet.subscribed(subscription);
        if (isOver) {
            subscription.leave();
        } else {
            outlets.add(outlet);
        }
    }

    private static void onLoop(ChannelHandlerContext to, Runnable step) {
        if (to.executor().inEventLoop()) {
            step.run();
        } else {
            to.executor().execute(step);
        }
    }

    /// Ends the stream: the last chunk goes out behind the events, and the channel is closed, after five seconds
    /// whatever the client has read. Any thread.
    public void close() {
        ChannelHandlerContext to = context();
        try {
            // behind what other threads have handed to the loop
            to.executor().execute(() -> finish(to));
        } catch (RejectedExecutionException loopIsDown) {
            // and the channel with it
        }
    }

    private void finish(ChannelHandlerContext to) {
        if (isOver) {
            return;
        }
        try {
            to.executor().schedule(() -> to.close(), Outlet.PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
            end();
        } finally {
            to.writeAndFlush(wire.last()).addListener(ChannelFutureListener.CLOSE);
        }
    }

    private ChannelHandlerContext context() {
        ChannelHandlerContext to = context;
        if (to == null) {
            throw new IllegalStateException("handler is in no pipeline");
        }
        return to;
    }

    @Override
    public void channelRead(ChannelHandlerContext to, Object message) {
        boolean says = wire.says(message);
        ReferenceCountUtil.release(message);
        if (says) {
            to.close();
        }
    }

    @Override
    public void write(ChannelHandlerContext to, Object message, ChannelPromise promise) {
        String what = message.getClass().getName();
        try {
            ReferenceCountUtil.release(message);
        } finally {
            promise.tryFailure(new IllegalStateException(
                    "channel is an event stream: message=" + what + " channel=" + to.channel()));
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext to) {
        try {
            if (to.channel().isWritable()) {
                outlets.proceed();
            }
        } finally {
            to.fireChannelWritabilityChanged();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext to, Object event) {
        boolean isIdle = event instanceof IdleStateEvent idle && idle.state() == IdleState.WRITER_IDLE;
        // or they would pile up for a client that reads nothing
        if (isIdle && !isOver && to.channel().isWritable()) {
            to.writeAndFlush(wire.alive());
        }
        to.fireUserEventTriggered(event);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext to) {
        context = to;
        isOver = !to.channel().isActive();
        // stays: behind events no other answer can follow
        to.channel().attr(OF).set(this);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext to) {
        end();
    }

    @Override
    public void channelInactive(ChannelHandlerContext to) {
        try {
            end();
        } finally {
            to.fireChannelInactive();
        }
    }

    /// Nothing more is taken.
    private void end() {
        isOver = true;
        outlets.leave();
    }
}
