// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// All who are subscribed, to a fan-out or to any of its topics, and what is the same for them.
final class Audience {

    final Turns turns;
    final Roll everyone = new Roll();
    private final Bound bound;
    private final Totals totals = new Totals();
    private final FirstMessages first;

    /// Everyone gets every message.
    Audience(Bound bound, List<SealedBuffer> first) {
        this.bound = bound;
        this.turns = new Turns(key -> everyone, bound, totals);
        // last: it takes handles
        this.first = new FirstMessages(first);
    }

    /// @param byKey who gets the messages of a key
    Audience(Bound bound, List<SealedBuffer> first, Function<@Nullable Object, Roll> byKey) {
        this.bound = bound;
        this.turns = new Turns(byKey, bound, totals);
        // last, as above
        this.first = new FirstMessages(first);
    }

    /// @return one that is on no roll yet, to be begun
    Subscription subscription(Subscriber subscriber, Owner owner) {
        Deque<SealedBuffer> own = first.share();
        try {
            return new Subscription(subscriber, bound, totals, turns, owner, own);
        } catch (Throwable failure) {
            Failures.closeAll(own, failure);
            throw failure;
        }
    }

    /// A subscription that could not be put on its rolls: its transport is the caller's still.
    ///
    /// @return never
    static RuntimeException left(Subscription subscription, Throwable failure) {
        @Nullable Throwable joined = failure;
        try {
            subscription.leave();
        } catch (Throwable another) {
            joined = Failures.join(joined, another);
        }
        Failures.rethrow(joined);
        throw new AssertionError(joined);
    }

    /// Once it is on its rolls.
    void begin(Subscription subscription) {
        end(subscription, turns.over());
        subscription.proceed();
    }

    private static void end(Subscription subscription, @Nullable End why) {
        if (why instanceof End.Completed) {
            subscription.complete();
        } else if (why != null) {
            subscription.end(why);
        }
    }

    void finish(End why) {
        // what a transport publishes from within a call comes before the end that it asks for there
        if (why instanceof End.Closed || !turns.endInTurn(why, () -> endAll(why))) {
            turns.end(why);
            endAll(why);
        }
    }

    private void endAll(End why) {
        @Nullable Throwable failure = first.close(null);
        Roll.Look look = everyone.look();
        for (int i = 0; i < look.end(); i++) {
            @Nullable Subscription one = look.at(i);
            try {
                if (one != null) {
                    end(one, why);
                }
            } catch (Throwable another) {
                failure = Failures.join(failure, another);
            }
        }
        Failures.rethrow(failure);
    }

    FanoutFigures figures() {
        return totals.figures(everyone.size());
    }

    long queued() {
        Roll.Look look = everyone.look();
        long sum = turns.queued();
        for (int i = 0; i < look.end(); i++) {
            @Nullable Subscription one = look.at(i);
            sum += one == null ? 0 : one.queued();
        }
        return sum;
    }
}
