// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// A fan-out by topic: it sends each message to the subscribers that follow the message's topic.
///
/// ```java
/// Topics<String> prices = Fanout.builder().slow(SlowPolicy.CONFLATE).topics();
/// Subscription reader = prices.subscribe(subscriber, List.of("EUR", "USD"));
/// prices.follow(reader, "CHF");
/// prices.publish("CHF", message);
/// ```
///
/// A subscriber has one queue for all its topics, with the bounds and the policy of a [Fanout]. It gets the messages
/// of all its topics in the order of publishing. With [SlowPolicy#CONFLATE] the topic is the key. A topic without
/// followers takes no memory; a publish to it costs one look into a table.
///
/// Any number of threads may use a `Topics` at once; publishers take turns.
///
/// @param <K> of the topics, with `equals` and `hashCode` that call nothing of this object's
public final class Topics<K> implements AutoCloseable {

    private static final Roll NO_ONE = new Roll();

    private final Map<Object, Roll> rolls = new ConcurrentHashMap<>();
    private final Audience audience;

    Topics(Bound bound, List<SealedBuffer> first) {
        audience = new Audience(bound, first, this::roll);
    }

    private Roll roll(@Nullable Object topic) {
        @Nullable Roll roll = topic == null ? null : rolls.get(topic);
        return roll == null ? NO_ONE : roll;
    }

    /// Adds a subscriber, which gets the first messages before this returns, if it is ready.
    ///
    /// If these topics are over, the subscriber is closed.
    ///
    /// @param subscriber used by this subscription alone from here on
    /// @param topics that it follows from here on, perhaps none
    /// @return its subscription: its transport says there when it may be ready again, and when it is over
    /// @throws Error of the transport, such as for want of heap; the subscription has ended
    public Subscription subscribe(Subscriber subscriber, Collection<? extends K> topics) {
        Interests interests = new Interests();
        Subscription subscription = audience.subscription(subscriber, interests);
        try {
            audience.everyone.add(interests.seat, subscription);
            for (K topic : topics) {
                interests.add(topic, subscription);
            }
        } catch (Throwable failure) {
            throw Audience.left(subscription, failure);
        }
        audience.begin(subscription);
        return subscription;
    }

    /// Has a subscriber follow one more topic, from the next message on.
    ///
    /// @param subscription of these topics
    /// @param topic that it may follow already
    /// @return whether it is new to it; false also if the subscription has ended
    /// @throws IllegalArgumentException if the subscription is another one's
    public boolean follow(Subscription subscription, K topic) {
        return interests(subscription).add(topic, subscription);
    }

    /// Has a subscriber follow a topic no longer. What waits for it stays; a message that another thread is
    /// publishing may still come.
    ///
    /// @param subscription of these topics
    /// @param topic that it follows, perhaps
    /// @return whether it did
    /// @throws IllegalArgumentException if the subscription is another one's
    public boolean unfollow(Subscription subscription, K topic) {
        return interests(subscription).remove(topic);
    }

    private Interests interests(Subscription subscription) {
        if (subscription.owner() instanceof Topics<?>.Interests own && own.topics() == this) {
            @SuppressWarnings("unchecked") // made by this object
            Interests mine = (Interests) own;
            return mine;
        }
        throw new IllegalArgumentException("subscription of another fan-out: " + subscription);
    }

    /// Sends a message to every subscriber that follows the topic, or lets it wait there, as [Fanout#publish].
    ///
    /// @param topic of the message
    /// @param message an open handle, which stays open; it may be closed as soon as this returns
    /// @return the number of followers at the time
    /// @throws io.bulla.buffer.ReleasedBufferException if `message` is closed; no subscriber got it
    /// @throws IllegalStateException if these topics are completed or closed
    /// @throws InterruptedException if the thread was interrupted while it waited for another publisher, or for a
    ///     subscriber to have room ([SlowPolicy#WAIT]); no subscriber got the message
    /// @throws Error of a send, such as for want of heap, after every other subscriber got the message
    public int publish(K topic, SealedBuffer message) throws InterruptedException {
        return audience.turns.publish(topic, message);
    }

    /// Topics that someone follows.
    ///
    /// @return a number, exact when nothing is under way
    public int topics() {
        return rolls.size();
    }

    /// Publishes no more. Each subscriber gets what waits for it, then its transport is closed as completed.
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
        return "Topics[" + topics() + " " + figures() + "]";
    }

    /// A place in the roll of a topic, and how it is left, which takes no heap.
    private static final class TopicSeat extends Roll.Seat implements BiFunction<Object, Roll, @Nullable Roll> {

        TopicSeat(Roll roll) {
            super(roll);
        }

        @Override
        public @Nullable Roll apply(Object topic, Roll roll) {
            onLeft();
            return roll.size() == 0 ? null : roll;
        }
    }

    /// The topics of one subscriber.
    private final class Interests implements Owner, BiConsumer<K, TopicSeat> {

        final Roll.Seat seat = new Roll.Seat(audience.everyone);
        // both are guarded by this
        private final Map<K, TopicSeat> seats = new HashMap<>(4);
        private boolean left;

        Topics<K> topics() {
            return Topics.this;
        }

        synchronized boolean add(K topic, Subscription who) {
            if (left || seats.containsKey(topic)) {
                return false;
            }
            @Nullable TopicSeat[] taken = {null};
            try {
                rolls.compute(topic, (same, before) -> {
                    Roll roll = before == null ? new Roll() : before;
                    TopicSeat mine = new TopicSeat(roll);
                    taken[0] = mine;
                    roll.add(mine, who);
                    return roll;
                });
                seats.put(topic, taken[0]);
                return true;
            } catch (Throwable failure) {
                // a map that has no heap to grow has taken the entry already
                seats.remove(topic);
                vacate(topic, taken[0]);
                throw failure;
            }
        }

        synchronized boolean remove(K topic) {
            @Nullable TopicSeat mine = seats.remove(topic);
            vacate(topic, mine);
            return mine != null;
        }

        private void vacate(K topic, @Nullable TopicSeat mine) {
            if (mine != null) {
                rolls.computeIfPresent(topic, mine);
            }
        }

        @Override
        public void accept(K topic, TopicSeat mine) {
            vacate(topic, mine);
        }

        @Override
        public void onLeft() {
            seat.onLeft();
            synchronized (this) {
                left = true;
                seats.forEach(this);
                seats.clear();
            }
        }
    }
}
