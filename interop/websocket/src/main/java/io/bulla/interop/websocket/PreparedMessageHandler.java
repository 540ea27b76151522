// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.End;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.bulla.refcount.internal.Failures;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.AttributeKey;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Deque;
import java.util.LinkedList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Writes prepared messages on one channel, in the form that the channel has agreed to, among frames of Netty's. Its
/// place is behind `WebSocketServerProtocolHandler`:
///
/// ```
/// socket | ssl | http codec, then frames | SharedDeflate's | WebSocketServerProtocolHandler | this | yours
/// ```
///
/// - *What passes by*: the bytes of a message are frames already, so they leave behind the frame encoder. Handlers of
///   yours between it and this get frames of Netty's, and no message; one that holds frames back there loses their
///   order. Nothing follows a close frame of this handler, of Netty's protocol handler, or of one
///   behind them.
/// - *Order*: messages and frames of one thread keep it. A message of several frames goes out a frame at a time, as
///   the channel is writable: pings and pongs pass between, other messages wait behind it.
/// - *What a slow client costs*: a handle for each message that waits, here or in Netty's buffer, and no copy. How
///   many may wait is the caller's to bound: [Channel#isWritable()] before a write, [#close] for one that is too
///   slow.
/// - *Reserved bits*: a frame that comes here with one was sent under no extension that the channel has agreed to:
///   the channel is closed with `1002` (RFC 6455, 5.2).
/// - *Pongs*: while the channel is not writable, the last one waits and replaces those before it: a client that pings
///   and does not read costs one.
/// - *Idle*: behind an `IdleStateHandler` it pings a channel that has written nothing, and closes one that has read
///   nothing, pongs neither.
public final class PreparedMessageHandler extends ChannelDuplexHandler {

    // for a client that does not keep to the protocol
    private static final Duration LAST_WORD = Duration.ofSeconds(5);

    private static final AttributeKey<PreparedMessageHandler> OF =
            AttributeKey.valueOf(PreparedMessageHandler.class, "of");

    private final Outlet.Side side = new Outlet.Side() {
        @Override
        public boolean isWritable() {
            return context().channel().isWritable();
        }

        @Override
        public void write(SealedBuffer forms, Outlet from, boolean isFirst) {
            writeForms(forms, from, isFirst);
        }

        @Override
        public void end(End why) {
            switch (why) {
                case End.Completed ignored -> finish(WebSocketCloseStatus.NORMAL_CLOSURE, Outlet.PATIENCE);
                case End.Closed ignored -> close(WebSocketCloseStatus.ENDPOINT_UNAVAILABLE, Outlet.PATIENCE);
                case End.TooSlow ignored -> close(WebSocketCloseStatus.TRY_AGAIN_LATER, Outlet.PATIENCE);
                case End.Failed ignored -> close(WebSocketCloseStatus.INTERNAL_SERVER_ERROR, Outlet.PATIENCE);
                case End.Left ignored -> {
                    // a transport is not closed with this
                }
            }
        }
    };

    // set before the attribute is, which publishes it
    private @Nullable ChannelHandlerContext context;

    // all below are the event loop's
    // links: an add that finds no heap leaves the others
    private final Deque<Waiting> waiting = new LinkedList<>();
    private final Outlets outlets = new Outlets();
    // while this is in a pipeline
    private @Nullable LatestPong pongs;
    private boolean pumping;
    private final EncoderPlace encoder = new EncoderPlace();
    // a close that waits for what is before it
    private @Nullable Runnable finish;
    private @Nullable Throwable over;
    private boolean closeIsSaid;

    /// For one channel.
    public PreparedMessageHandler() {}

    /// The handler of a channel.
    ///
    /// @param channel that has one
    /// @return the last that was added
    /// @throws IllegalStateException if it has none
    public static PreparedMessageHandler of(Channel channel) {
        PreparedMessageHandler handler = channel.hasAttr(OF) ? channel.attr(OF).get() : null;
        if (handler == null) {
            throw new IllegalStateException("no PreparedMessageHandler in the pipeline: channel=" + channel);
        }
        return handler;
    }

    /// Queues and flushes a message. Any thread.
    ///
    /// @param message open; it stays the caller's, and may be closed as soon as this returns
    /// @return completes when the transport has accepted all bytes, or with the failure
    /// @throws io.bulla.buffer.ReleasedBufferException if the message is closed
    /// @throws IllegalStateException if this handler is in no pipeline
    public ChannelFuture write(PreparedMessage message) {
        ChannelHandlerContext to = context();
        ChannelPromise promise = to.newPromise();
        Wire form = message.form(SharedDeflate.isAgreed(to.channel()));
        boolean onLoop = to.executor().inEventLoop();
        if (onLoop && over == null && waiting.isEmpty() && form.isOneFrame()) {
            // what most are: no handle but that of the bytes
            return encoder.of(to).writeAndFlush(form.bytes(), promise);
        }
        Waiting.Prepared waits = Waiting.Prepared.of(form.share(), promise);
        if (onLoop) {
            begin(to, waits);
            return promise;
        }
        try {
            to.executor().execute(() -> begin(to, waits));
        } catch (RejectedExecutionException loopIsDown) {
            waits.fail(loopIsDown);
        } catch (Throwable failure) {
            waits.close();
            throw failure;
        }
        return promise;
    }

    /// Subscribes the channel to a fan-out, or to topics, whose messages are [PreparedMessage#forms]. The
    /// subscription leaves by itself when the channel is over. A channel whose subscription ends is closed: with
    /// `1000` when it got all, `1001` when the fan-out is closed, `1013` when it is too slow, `1011` when a send
    /// failed.
    ///
    /// ```java
    /// PreparedMessageHandler.of(channel).subscribe(feed::subscribe);
    /// PreparedMessageHandler.of(channel).subscribe(channel -> topics.subscribe(channel, List.of("EUR", "USD")));
    /// ```
    ///
    /// @param fanout given the channel as a subscriber
    /// @return the subscription
    /// @throws IllegalStateException if this handler is in no pipeline
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
        if (over == null) {
            outlets.add(outlet);
        } else {
            subscription.leave();
        }
    }

    private static void onLoop(ChannelHandlerContext to, Runnable step) {
        if (to.executor().inEventLoop()) {
            step.run();
        } else {
            to.executor().execute(step);
        }
    }

    /// Of an outlet, which is told on the loop when they are written. Any thread.
    private void writeForms(SealedBuffer forms, Outlet outlet, boolean isFirst) {
        ChannelHandlerContext to = context();
        ChannelPromise promise = to.newPromise();
        promise.addListener(done -> {
            if (!done.isSuccess()) {
                outlet.failed(done.cause());
            }
        });
        Waiting.Prepared message =
                Waiting.Prepared.of(Wire.chosen(forms, SharedDeflate.isAgreed(to.channel())), promise);
        try {
            if (isFirst && to.executor().inEventLoop()) {
                begin(to, message);
                outlet.written();
            } else {
                to.executor().execute(() -> {
                    try {
                        begin(to, message);
                    } finally {
                        // or the outlet would wait for it for ever
                        outlet.written();
                    }
                });
            }
        } catch (Throwable failure) {
            message.close();
            throw failure;
        }
    }

    /// Of an outlet: closes when all that it sent has gone out. Any thread.
    private void finish(WebSocketCloseStatus why, Duration patience) {
        ChannelHandlerContext to = context();
        try {
            // behind what other threads have handed to the loop
            to.executor().execute(() -> {
                to.executor().schedule(() -> to.close(), TimeUnit.NANOSECONDS.convert(patience), TimeUnit.NANOSECONDS);
                finish = () -> sayLast(to, why);
                finishIfAllIsOut();
            });
        } catch (RejectedExecutionException loopIsDown) {
            // and the channel with it
        }
    }

    private void finishIfAllIsOut() {
        Runnable close = finish;
        if (close != null && waiting.isEmpty()) {
            finish = null;
            close.run();
        }
    }

    /// Says why, and closes: with `1008` or `1013` a client that is too slow. What waits here is given up; a client
    /// that does not read does not hear why. Any thread.
    ///
    /// @param why its code and reason
    /// @param patience how long the close may take to go out
    /// @throws IllegalStateException if this handler is in no pipeline
    public void close(WebSocketCloseStatus why, Duration patience) {
        ChannelHandlerContext to = context();
        try {
            to.executor().execute(() -> closeNow(to, why, patience));
        } catch (RejectedExecutionException loopIsDown) {
            // and the channel with it
        }
    }

    private void closeNow(ChannelHandlerContext to, WebSocketCloseStatus why, Duration patience) {
        try {
            to.executor().schedule(() -> to.close(), TimeUnit.NANOSECONDS.convert(patience), TimeUnit.NANOSECONDS);
        } finally {
            sayLast(to, why);
        }
    }

    /// Whatever the memory of what waits throws as it is given up. A close frame that is on its way stays the only
    /// one.
    private void sayLast(ChannelHandlerContext to, WebSocketCloseStatus why) {
        try {
            end(new ClosedChannelException());
        } finally {
            if (!closeIsSaid) {
                to.writeAndFlush(new CloseWebSocketFrame(why)).addListener(ChannelFutureListener.CLOSE);
            }
        }
    }

    /// A close frame goes out, of this handler or of another one.
    private void closeGoesOut() {
        closeIsSaid = true;
        end(new ClosedChannelException());
    }

    private ChannelHandlerContext context() {
        ChannelHandlerContext to = context;
        if (to == null) {
            throw new IllegalStateException("handler is in no pipeline");
        }
        return to;
    }

    private void begin(ChannelHandlerContext to, Waiting.Prepared message) {
        if (over != null) {
            message.fail(over);
        } else if (waiting.isEmpty() && message.isOneFrame()) {
            message.writeNext(to, encoder.of(to));
            to.flush();
        } else {
            Waiting.add(waiting, message);
            pump(to);
        }
    }

    /// Writes what waits while the channel takes it.
    private void pump(ChannelHandlerContext to) {
        if (pumping || waiting.isEmpty()) {
            return;
        }
        pumping = true;
        try {
            while (!waiting.isEmpty() && to.channel().isWritable()) {
                Waiting head = waiting.getFirst();
                if (head.writeNext(to, encoder.of(to))) {
                    waiting.remove(head);
                }
                // or a full buffer never empties
                if (!to.channel().isWritable()) {
                    to.flush();
                }
            }
        } finally {
            pumping = false;
        }
        to.flush();
        finishIfAllIsOut();
    }

    @Override
    public void write(ChannelHandlerContext to, Object message, ChannelPromise promise) {
        boolean isFrame = message instanceof WebSocketFrame;
        if (isFrame && over != null) {
            // RFC 6455, 5.5.1: nothing follows a close
            Waiting.refuse(message, promise, over);
        } else if (waiting.isEmpty() || !isFrame || passes(message)) {
            to.write(message, promise);
        } else {
            Waiting.addBehind(waiting, message, promise);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext to, Object message) {
        if (!(message instanceof WebSocketFrame frame) || frame.rsv() == 0) {
            to.fireChannelRead(message);
            return;
        }
        frame.release();
        // once, however many come
        if (over == null) {
            closeNow(to, WebSocketCloseStatus.PROTOCOL_ERROR, LAST_WORD);
        }
    }

    /// Whether a frame may stand between those of a message (RFC 6455, 5.4). A close ends the message.
    private static boolean passes(Object frame) {
        return frame instanceof PingWebSocketFrame
                || frame instanceof PongWebSocketFrame
                || frame instanceof CloseWebSocketFrame;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext to) {
        try {
            pump(to);
            if (to.channel().isWritable()) {
                outlets.proceed();
            }
        } finally {
            to.fireChannelWritabilityChanged();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext to, Object event) {
        if (event instanceof IdleStateEvent idle) {
            if (idle.state() == IdleState.READER_IDLE) {
                to.close();
            } else if (idle.state() == IdleState.WRITER_IDLE
                    && over == null
                    && to.channel().isWritable()) {
                // or they would pile up for a client that reads nothing
                to.writeAndFlush(new PingWebSocketFrame());
            }
        }
        to.fireUserEventTriggered(event);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext to) {
        if (pongs == null) {
            pongs = LatestPong.install(to, this::closeGoesOut);
        }
        if (!to.channel().isOpen()) {
            // its end is not told any more
            over = new ClosedChannelException();
        }
        context = to;
        to.channel().attr(OF).set(this);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext to) {
        to.channel().attr(OF).compareAndSet(this, null);
        try {
            end(new ClosedChannelException());
        } finally {
            LatestPong mine = pongs;
            pongs = null;
            if (mine != null && to.pipeline().context(mine) != null) {
                to.pipeline().remove(mine);
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext to) {
        try {
            end(new ClosedChannelException());
        } finally {
            to.fireChannelInactive();
        }
    }

    /// Nothing more is taken, and what waits fails.
    private void end(Throwable why) {
        over = over == null ? why : over;
        @Nullable Throwable failure = null;
        for (Waiting each = waiting.poll(); each != null; each = waiting.poll()) {
            try {
                each.fail(why);
            } catch (Throwable release) {
                // the others are given back all the same
                failure = Failures.join(failure, release);
            }
        }
        try {
            outlets.leave();
        } catch (Throwable release) {
            failure = Failures.join(failure, release);
        }
        Failures.rethrow(failure);
    }
}
