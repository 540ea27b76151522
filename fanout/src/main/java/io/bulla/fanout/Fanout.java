// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import java.time.Duration;
import java.util.List;

/// A fan-out sends one sealed message to many subscribers, over any transport: packed once, shared by all.
///
/// ```java
/// Fanout feed = Fanout.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(16).build();
/// // for each channel, call or socket
/// Subscription reader = feed.subscribe(subscriber);
/// // when its transport may be ready again, and when it is over
/// reader.proceed();
/// reader.leave();
/// // anywhere
/// try (SealedBuffer news = sealed) {
///     feed.publish(news);
/// }
/// ```
///
/// - *Flow control*: a subscriber gets a message when its transport is ready ([Subscriber#isReady]). Until then the
///   message waits in the subscriber's queue, as a handle and not as a copy. The queue is bounded, in messages and in
///   bytes; [SlowPolicy] decides about a subscriber over its bound. A blocked subscriber costs the others nothing.
/// - *Order*: all subscribers get the messages in the order of publishing, each at most once. A message that is
///   published from within a call of a transport follows the message of that call. Policies that drop messages leave
///   gaps; the others do not.
/// - *First messages*: a schema, or the last known state, goes to each subscriber when it subscribes
///   ([Builder#first]). It does not count for the queue's bound, and is never dropped for it.
/// - *Handles*: one for each message that waits, none for a message that is sent at once. When a transport ends or
///   fails, the handles that wait for it are closed.
///
/// Any number of threads may publish and subscribe; publishers take turns. The cost to subscribe or to leave does not
/// depend on the number of subscribers. A publisher itself sends to the subscribers that are ready; a thread that
/// calls [Subscription#proceed] sends the messages that waited.
public final class Fanout implements AutoCloseable {

    private final Audience audience;

    private Fanout(Audience audience) {
        this.audience = audience;
    }

    /// A fan-out with 64 messages or 4 MiB in a subscriber's queue, which disconnects one that is over it.
    ///
    /// @return for settings of one's own
    public static Builder builder() {
        return new Builder();
    }

    /// Adds a subscriber, which gets the first messages before this returns, if it is ready.
    ///
    /// If the fan-out is over, the subscriber is closed.
    ///
    /// @param subscriber used by this subscription alone from here on
    /// @return its subscription: its transport says there when it may be ready again, and when it is over
    /// @throws Error of the transport, such as for want of heap; the subscription has ended
    public Subscription subscribe(Subscriber subscriber) {
        Roll.Seat seat = new Roll.Seat(audience.everyone);
        Subscription subscription = audience.subscription(subscriber, seat);
        try {
            audience.everyone.add(seat, subscription);
        } catch (Throwable failure) {
            throw Audience.left(subscription, failure);
        }
        audience.begin(subscription);
        return subscription;
    }

    /// Sends a message to every subscriber, or lets it wait there.
    ///
    /// A send that throws an exception ends its subscription, and no other. From within a call of a subscriber's
    /// transport this returns at once: the message is sent when the publish, or the sends of this thread, that the
    /// call belongs to are over. From within a call of another fan-out's it waits for no other publisher: that one
    /// sends the message.
    ///
    /// @param message an open handle, which stays open; it may be closed as soon as this returns
    /// @return the number of subscribers at the time
    /// @throws io.bulla.buffer.ReleasedBufferException if `message` is closed; no subscriber got it
    /// @throws IllegalStateException if the fan-out is completed or closed; or from within such a call, if as much
    ///     waits for its turn as in 16 queues of subscribers, and at least 1,024 messages or 64 MiB
    /// @throws InterruptedException if the thread was interrupted while it waited for another publisher, or for a
    ///     subscriber to have room ([SlowPolicy#WAIT]); no subscriber got the message
    /// @throws Error of a send, such as for want of heap, after every other subscriber got the message
    public int publish(SealedBuffer message) throws InterruptedException {
        return audience.turns.publish(null, message);
    }

    /// Sends a message to every subscriber, or lets it wait there: with [SlowPolicy#CONFLATE] in the place of one of
    /// the same key, if one waits. Other policies do not look at keys.
    ///
    /// @param key with `equals` and `hashCode` that call nothing of the fan-out's
    /// @param message as [#publish(SealedBuffer)]
    /// @return the number of subscribers at the time
    /// @throws io.bulla.buffer.ReleasedBufferException as [#publish(SealedBuffer)]
    /// @throws IllegalStateException as [#publish(SealedBuffer)]
    /// @throws InterruptedException as [#publish(SealedBuffer)]
    /// @throws Error as [#publish(SealedBuffer)]
    public int publish(Object key, SealedBuffer message) throws InterruptedException {
        return audience.turns.publish(key, message);
    }

    /// Publishes no more. Each subscriber gets what waits for it, then its transport is closed as completed. From
    /// within a call of a transport, what was published there comes before that.
    public void complete() {
        audience.finish(End.COMPLETED);
    }

    /// Closes every transport, at once, and what waits for it. Again is harmless.
    @Override
    public void close() {
        audience.finish(End.CLOSED);
    }

    /// Figures so far.
    ///
    /// @return a snapshot, exact when nothing is under way
    public FanoutFigures figures() {
        return audience.figures();
    }

    /// Messages that wait, for all subscribers together, and for the turn. They share their bytes.
    ///
    /// @return a sum over the subscribers, one after the other
    public long queued() {
        return audience.queued();
    }

    @Override
    public String toString() {
        return "Fanout[" + figures() + "]";
    }

    /// Settings of a fan-out, or of topics.
    public static final class Builder {

        private int messages = 64;
        private long bytes = 4 << 20;
        private SlowPolicy slow = SlowPolicy.DISCONNECT;
        private Duration patience = Duration.ofSeconds(10);
        private List<SealedBuffer> first = List.of();

        private Builder() {}

        /// The most messages that wait for a subscriber.
        ///
        /// @param most at least 1; by default 64
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder queueMessages(int most) {
            messages = Math.toIntExact(atLeastOne("messages", most));
            return this;
        }

        /// The most bytes that wait for a subscriber. A larger message waits alone.
        ///
        /// @param most at least 1; by default 4 MiB
        /// @return this builder
        /// @throws IllegalArgumentException if it is less
        public Builder queueBytes(long most) {
            bytes = atLeastOne("bytes", most);
            return this;
        }

        /// The treatment of a subscriber whose queue is full.
        ///
        /// @param policy by default [SlowPolicy#DISCONNECT]
        /// @return this builder
        public Builder slow(SlowPolicy policy) {
            slow = policy;
            return this;
        }

        /// How long a publish waits at most with [SlowPolicy#WAIT].
        ///
        /// @param longest for all subscribers together, not negative; by default 10 seconds
        /// @return this builder
        /// @throws IllegalArgumentException if it is negative
        public Builder patience(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("patience is negative: patience=" + longest);
            }
            patience = longest;
            return this;
        }

        /// What each subscriber gets before any message that is published. The fan-out has handles of its own on
        /// them, from `build` until it is completed or closed.
        ///
        /// @param inOrder open handles, which stay the caller's, to be closed after `build`; by default none
        /// @return this builder
        public Builder first(List<SealedBuffer> inOrder) {
            first = List.copyOf(inOrder);
            return this;
        }

        /// A fan-out.
        ///
        /// @return one without subscribers
        /// @throws io.bulla.buffer.ReleasedBufferException if one of the first messages is closed
        public Fanout build() {
            return new Fanout(new Audience(bound(), first));
        }

        /// Fan-outs by topic, with the same settings for each subscriber.
        ///
        /// @param <K> of the topics, with `equals` and `hashCode` that call nothing of the fan-out's
        /// @return without subscribers
        /// @throws io.bulla.buffer.ReleasedBufferException if one of the first messages is closed
        public <K> Topics<K> topics() {
            return new Topics<>(bound(), first);
        }

        private Bound bound() {
            return Bound.of(messages, bytes, slow, patience);
        }

        private static long atLeastOne(String what, long most) {
            if (most < 1) {
                throw new IllegalArgumentException("a queue holds at least one: " + what + "=" + most);
            }
            return most;
        }
    }
}
