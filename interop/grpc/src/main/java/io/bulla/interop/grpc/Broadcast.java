// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.FanoutFigures;
import io.bulla.fanout.SlowPolicy;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/// Sends one sealed message to many gRPC streams: a [Fanout] whose subscribers are calls.
///
/// ```java
/// Broadcast feed = Broadcast.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(16).build();
/// // in the service, for each call
/// feed.subscribe((ServerCallStreamObserver<SealedBuffer>) responses);
/// // anywhere
/// try (SealedBuffer news = sealed.pack(codec, message)) {
///     feed.publish(news);
/// }
/// ```
///
/// - *Flow control*: a stream gets a message when gRPC says that it is ready (`isReady`). Until then the message
///   waits: a handle, not a copy. What may wait for a stream is bounded, in messages and in bytes, and
///   [SlowPolicy] says what becomes of a stream that is over it. So gRPC buffers no more for a stream than its own
///   threshold (32 KiB by default) and one message.
/// - *Order* and *first messages* are the fan-out's.
/// - *The end*: a call is closed with `OK` when it got all, with `UNAVAILABLE` when the broadcast is closed, with
///   `RESOURCE_EXHAUSTED` when it is too slow, and with the status of what a send threw.
/// - *Handles*: whatever becomes of a call (cancelled, past its deadline, reset, dropped, the server shut down), what
///   waits for it is closed.
///
/// The methods of the streams must have [SealedMarshaller] as the marshaller of their responses. Any number of
/// threads may publish and subscribe; publishers take turns. A publisher sends to the streams that are ready itself,
/// so that it does gRPC's copies; gRPC's threads send what waited.
public final class Broadcast implements AutoCloseable {

    private final Fanout fanout;

    private Broadcast(Fanout fanout) {
        this.fanout = fanout;
    }

    /// A broadcast with 64 messages or 4 MiB in a stream's queue, which drops a stream that is over it.
    ///
    /// @return for settings of one's own
    public static Builder builder() {
        return new Builder();
    }

    /// A broadcast over a fan-out that may have subscribers of other transports too.
    ///
    /// @param fanout closed with the broadcast
    /// @return without streams of its own
    public static Broadcast of(Fanout fanout) {
        return new Broadcast(fanout);
    }

    /// Subscribes a call to what a program chooses, such as some [Topics][io.bulla.fanout.Topics]. Call it where the
    /// method begins, before it returns; the observer's handlers are set here.
    ///
    /// @param observer of the call, used by the subscription alone from here on
    /// @param fanout given the call as a subscriber: `subscriber -> topics.subscribe(subscriber, List.of("EUR"))`
    /// @return the subscription, which leaves by itself when the call is over
    public static Subscription subscribe(
            ServerCallStreamObserver<SealedBuffer> observer, Function<? super Subscriber, Subscription> fanout) {
        Outlet outlet = Outlet.of(observer);
        observer.setOnCancelHandler(outlet::onCancel);
        observer.setOnCloseHandler(outlet::onComplete);
        observer.setOnReadyHandler(outlet::onReady);
        return outlet.subscribe(fanout);
    }

    /// Adds a stream. Call it where the method begins, before it returns; the observer's handlers are set here.
    ///
    /// @param observer of the call, used by this broadcast alone from here on
    /// @return its subscription, which leaves by itself when the call is over
    public Subscription subscribe(ServerCallStreamObserver<SealedBuffer> observer) {
        return subscribe(observer, fanout::subscribe);
    }

    /// Adds a stream for each call, whatever its requests say, for servers without stubs.
    ///
    /// @param <ReqT> of the requests, which are read and dropped
    /// @return a handler for a method of which the server sends many messages
    public <ReqT> ServerCallHandler<ReqT, SealedBuffer> asHandler() {
        return (call, headers) -> {
            Outlet outlet = Outlet.of(call);
            call.sendHeaders(new Metadata());
            call.request(1);
            outlet.subscribe(fanout::subscribe);
            return new Events<>(call, outlet);
        };
    }

    /// Sends a message to every stream, or lets it wait there, as [Fanout#publish(SealedBuffer)].
    ///
    /// @param message an open handle, which stays open; it may be closed as soon as this returns
    /// @return the number of streams at the time
    /// @throws io.bulla.buffer.ReleasedBufferException if `message` is closed; no stream got it
    /// @throws IllegalStateException if the broadcast is completed or closed
    /// @throws InterruptedException if the thread was interrupted while it waited for another publisher, or for a
    ///     stream to have room ([SlowPolicy#WAIT]); no stream got the message
    /// @throws Error of a send, such as for want of heap, after every other stream got the message
    public int publish(SealedBuffer message) throws InterruptedException {
        return fanout.publish(message);
    }

    /// Publishes no more. Each stream gets what waits for it, then its call is closed with `OK`.
    public void complete() {
        fanout.complete();
    }

    /// Closes every call with `UNAVAILABLE`, at once, and what waits for it. Again is harmless.
    @Override
    public void close() {
        fanout.close();
    }

    /// Figures so far.
    ///
    /// @return a snapshot, exact when nothing is under way
    public FanoutFigures figures() {
        return fanout.figures();
    }

    /// Messages that wait, for all streams together. They share their bytes.
    ///
    /// @return a sum over the streams, one after the other
    public long queued() {
        return fanout.queued();
    }

    @Override
    public String toString() {
        return "Broadcast[" + figures() + "]";
    }

    /// Events of a call without a stub.
    private static final class Events<ReqT> extends ServerCall.Listener<ReqT> {

        private final ServerCall<ReqT, SealedBuffer> call;
        private final Outlet outlet;

        Events(ServerCall<ReqT, SealedBuffer> call, Outlet outlet) {
            this.call = call;
            this.outlet = outlet;
        }

        @Override
        public void onMessage(ReqT request) {
            if (request instanceof SealedBuffer unread) {
                unread.close();
            }
            call.request(1);
        }

        @Override
        public void onReady() {
            outlet.onReady();
        }

        @Override
        public void onCancel() {
            outlet.onCancel();
        }

        @Override
        public void onComplete() {
            outlet.onComplete();
        }
    }

    /// Settings of a broadcast: those of a [Fanout].
    public static final class Builder {

        private final Fanout.Builder settings = Fanout.builder();

        private Builder() {}

        /// The most messages that wait for a stream.
        ///
        /// @param most at least 1; by default 64
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder queueMessages(int most) {
            settings.queueMessages(most);
            return this;
        }

        /// The most bytes that wait for a stream. A larger message waits alone.
        ///
        /// @param most at least 1; by default 4 MiB
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder queueBytes(long most) {
            settings.queueBytes(most);
            return this;
        }

        /// The treatment of a stream whose queue is full.
        ///
        /// @param policy by default [SlowPolicy#DISCONNECT]
        /// @return this builder
        public Builder slow(SlowPolicy policy) {
            settings.slow(policy);
            return this;
        }

        /// How long a publish waits at most with [SlowPolicy#WAIT].
        ///
        /// @param longest for all streams together, not negative; by default 10 seconds
        /// @return this builder
        /// @throws IllegalArgumentException if it is negative
        public Builder patience(Duration longest) {
            settings.patience(longest);
            return this;
        }

        /// What each stream gets before any message that is published. The broadcast has handles of its own on them,
        /// from `build` until it is completed or closed.
        ///
        /// @param inOrder open handles, which stay the caller's, to be closed after `build`; by default none
        /// @return this builder
        public Builder first(List<SealedBuffer> inOrder) {
            settings.first(inOrder);
            return this;
        }

        /// The broadcast.
        ///
        /// @return one without streams
        /// @throws io.bulla.buffer.ReleasedBufferException if one of the first messages is closed
        public Broadcast build() {
            return new Broadcast(settings.build());
        }
    }
}
