// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Sends one sealed message to many gRPC streams: packed once, shared by all.
///
/// ```java
/// Broadcast feed = Broadcast.builder().slow(SlowStream.DROP_OLDEST).queueMessages(16).build();
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
///   [SlowStream] says what becomes of a stream that is over it. So gRPC buffers no more for a stream than its own
///   threshold (32 KiB by default) and one message.
/// - *Order*: each stream gets the messages in the order in which they were published, each at most once. Unless some
///   were dropped by [SlowStream#DROP_OLDEST] it has no gap.
/// - *First messages*: what a reader must have before all else, a schema or the last known state, goes to each stream
///   as it subscribes ([Builder#first]), is never dropped for a queue's bound and does not count for it.
/// - *Handles*: whatever becomes of a call (cancelled, past its deadline, reset, dropped, the server shut down), what
///   waits for it is closed.
///
/// The methods of the streams must have [SealedMarshaller] as the marshaller of their responses. Any number of
/// threads may publish and subscribe; publishers take turns. A publisher sends to the streams that are ready itself,
/// so that it does gRPC's copies; gRPC's threads send what waited.
public final class Broadcast implements AutoCloseable {

    private static final Status OPEN = Status.UNKNOWN;

    private final BroadcastStream.Bound bound;
    private final long patience;
    private final List<BroadcastStream> streams = new CopyOnWriteArrayList<>();
    private final Totals totals = new Totals();
    private final FirstMessages first;
    private final ReentrantLock publishing = new ReentrantLock();

    // what a new stream is closed with
    private volatile Status closed = OPEN;

    private Broadcast(BroadcastStream.Bound bound, Duration patience, FirstMessages first) {
        this.bound = bound;
        this.patience = TimeUnit.NANOSECONDS.convert(patience);
        this.first = first;
    }

    /// A broadcast with 64 messages or 4 MiB in a stream's queue, which drops a stream that is over it.
    ///
    /// @return for settings of one's own
    public static Builder builder() {
        return new Builder();
    }

    /// Adds a stream. Call it where the method begins, before it returns; the observer's handlers are set here.
    ///
    /// @param observer of the call, used by this broadcast alone from here on
    /// @return the stream, which leaves by itself when the call is over
    public BroadcastStream subscribe(ServerCallStreamObserver<SealedBuffer> observer) {
        BroadcastStream stream = stream(Outlet.of(observer));
        observer.setOnCancelHandler(stream::cancelled);
        observer.setOnCloseHandler(stream::over);
        observer.setOnReadyHandler(stream::proceed);
        return add(stream);
    }

    /// Adds a stream for each call, whatever its requests say, for servers without stubs.
    ///
    /// @param <ReqT> of the requests, which are read and dropped
    /// @return a handler for a method of which the server sends many messages
    public <ReqT> ServerCallHandler<ReqT, SealedBuffer> asHandler() {
        return (call, headers) -> {
            BroadcastStream stream = stream(Outlet.of(call));
            call.sendHeaders(new Metadata());
            call.request(1);
            add(stream);
            return new Events<>(call, stream);
        };
    }

    private BroadcastStream stream(Outlet outlet) {
        return new BroadcastStream(outlet, bound, totals, streams::remove);
    }

    private BroadcastStream add(BroadcastStream stream) {
        stream.begin(first.share());
        streams.add(stream);
        if (!stream.isOpen()) {
            // its first message failed, so that it left before it came
            streams.remove(stream);
        }
        // volatile: after the add, so that either this sees the end or the end sees the stream
        end(stream, closed);
        return stream;
    }

    private static void end(BroadcastStream stream, Status status) {
        if (status.isOk()) {
            stream.complete();
        } else if (status != OPEN) {
            stream.end(status);
        }
    }

    /// Sends a message to every stream, or lets it wait there.
    ///
    /// A send that throws an exception ends its stream, and no other.
    ///
    /// @param message an open handle, which stays open; it may be closed as soon as this returns
    /// @return the number of streams at the time
    /// @throws io.bulla.buffer.ReleasedBufferException if `message` is closed; no stream got it
    /// @throws IllegalStateException if the broadcast is completed or closed
    /// @throws InterruptedException if the thread was interrupted while it waited for another publisher, or for a
    ///     stream to have room ([SlowStream#WAIT]); no stream got the message
    /// @throws Error of a send, such as for want of heap, after every other stream got the message
    public int publish(SealedBuffer message) throws InterruptedException {
        publishing.lockInterruptibly();
        try {
            // volatile: a look before the work; streams that end beside it refuse the message themselves
            if (closed != OPEN) {
                throw new IllegalStateException("broadcast is over: " + closed);
            }
            awaitRoom(message.byteSize());
            return send(message);
        } finally {
            publishing.unlock();
        }
    }

    private void awaitRoom(long size) throws InterruptedException {
        if (bound.slow() != SlowStream.WAIT) {
            return;
        }
        long until = System.nanoTime() + patience;
        boolean waited = false;
        for (BroadcastStream stream : streams) {
            waited |= stream.awaitRoom(size, until);
        }
        if (waited) {
            totals.waits.increment();
        }
    }

    private int send(SealedBuffer message) {
        @Nullable Throwable failure = null;
        int count = 0;
        totals.published.increment();
        for (BroadcastStream stream : streams) {
            count++;
            try {
                stream.offer(message);
            } catch (Throwable another) {
                failure = joined(failure, another);
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        return count;
    }

    private static Throwable joined(@Nullable Throwable first, Throwable another) {
        if (first == null || first == another) {
            return another;
        }
        first.addSuppressed(another);
        return first;
    }

    /// Publishes no more. Each stream gets what waits for it, then its call is closed with `OK`.
    public void complete() {
        finish(Status.OK);
    }

    /// Closes every call with `UNAVAILABLE`, at once, and what waits for it. Again is harmless.
    @Override
    public void close() {
        finish(Status.UNAVAILABLE.withDescription("broadcast closed"));
    }

    private void finish(Status status) {
        // volatile: before the look at the list, see `add`
        closed = status;
        try {
            first.close();
        } finally {
            Closing.all(streams, stream -> end(stream, status));
        }
    }

    /// What was done so far.
    ///
    /// @return a snapshot, exact when nothing is under way
    public BroadcastFigures figures() {
        return totals.figures(streams.size());
    }

    /// Messages that wait, for all streams together. They share their bytes.
    ///
    /// @return a sum over the streams, one after the other
    public long queued() {
        return streams.stream().mapToLong(BroadcastStream::queued).sum();
    }

    @Override
    public String toString() {
        return "Broadcast[" + figures() + "]";
    }

    /// What gRPC tells of a call without a stub.
    private static final class Events<ReqT> extends ServerCall.Listener<ReqT> {

        private final ServerCall<ReqT, SealedBuffer> call;
        private final BroadcastStream stream;

        Events(ServerCall<ReqT, SealedBuffer> call, BroadcastStream stream) {
            this.call = call;
            this.stream = stream;
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
            stream.proceed();
        }

        @Override
        public void onCancel() {
            stream.cancelled();
        }

        @Override
        public void onComplete() {
            stream.over();
        }
    }

    /// Settings of a broadcast.
    public static final class Builder {

        private int messages = 64;
        private long bytes = 4 << 20;
        private SlowStream slow = SlowStream.DROP_STREAM;
        private Duration patience = Duration.ofSeconds(10);
        private List<SealedBuffer> first = List.of();

        private Builder() {}

        /// The most messages that wait for a stream.
        ///
        /// @param most at least 1; by default 64
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder queueMessages(int most) {
            messages = Math.toIntExact(atLeastOne("messages", most));
            return this;
        }

        /// The most bytes that wait for a stream. A larger message waits alone.
        ///
        /// @param most at least 1; by default 4 MiB
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder queueBytes(long most) {
            bytes = atLeastOne("bytes", most);
            return this;
        }

        /// What becomes of a stream whose queue is full.
        ///
        /// @param policy by default [SlowStream#DROP_STREAM]
        /// @return this builder
        public Builder slow(SlowStream policy) {
            slow = policy;
            return this;
        }

        /// How long a publish waits at most with [SlowStream#WAIT].
        ///
        /// @param longest for all streams together, not negative; by default 10 seconds
        /// @return this builder
        /// @throws IllegalArgumentException if it is negative
        public Builder patience(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("patience is negative: patience=" + longest);
            }
            patience = longest;
            return this;
        }

        /// What each stream gets before any message that is published. The broadcast has handles of its own on them,
        /// from `build` until it is completed or closed.
        ///
        /// @param inOrder open handles, which stay the caller's, to be closed after `build`; by default none
        /// @return this builder
        public Builder first(List<SealedBuffer> inOrder) {
            first = List.copyOf(inOrder);
            return this;
        }

        /// The broadcast.
        ///
        /// @return one without streams
        /// @throws io.bulla.buffer.ReleasedBufferException if one of the first messages is closed
        public Broadcast build() {
            BroadcastStream.Bound bound = new BroadcastStream.Bound(messages, bytes, slow);
            return new Broadcast(bound, patience, new FirstMessages(first));
        }

        private static long atLeastOne(String what, long most) {
            if (most < 1) {
                throw new IllegalArgumentException("a queue holds at least one: " + what + "=" + most);
            }
            return most;
        }
    }
}
