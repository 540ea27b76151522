// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// One subscriber of a [Fanout] or of [Topics], and the messages that wait until its transport is ready for them.
///
/// ```
///   open --complete()--> last messages --all sent--> ended
///   open, last messages --left, failed, too slow, end(why)--> ended: what waits is closed
/// ```
///
/// One thread at a time sends, outside of the lock: the one that found `sending` unset. Others leave their work to
/// it, so that the messages of a subscriber keep their order and its transport sees one caller. No call of a
/// transport, a handle or an owner is made under the lock.
public final class Subscription {

    // stays empty: a subscription that has first messages has a queue of its own for them
    static final Deque<SealedBuffer> NONE = new ArrayDeque<>(0);

    private final Subscriber subscriber;
    private final Bound bound;
    private final Totals totals;
    private final Order order;
    private final Owner owner;

    // all below are guarded by this
    private Deque<SealedBuffer> first;
    private Backlog backlog;
    private long sent;
    private long dropped;
    private boolean sending;
    private boolean lookAgain;
    private boolean completing;
    private boolean ended;
    private @Nullable End why;
    // what the sender is to close the transport with
    private @Nullable End verdict;

    /// @param first handles that go before all other messages, closed here
    Subscription(
            Subscriber subscriber, Bound bound, Totals totals, Order order, Owner owner, Deque<SealedBuffer> first) {
        this.subscriber = subscriber;
        this.bound = bound;
        this.totals = totals;
        this.order = order;
        this.owner = owner;
        this.first = first;
        this.backlog = Backlog.of(bound.slow());
    }

    Owner owner() {
        return owner;
    }

    /// Whether messages are still sent to it.
    ///
    /// @return false once its transport is over, closed or too slow, or its last message was sent
    public synchronized boolean isOpen() {
        return !ended;
    }

    /// Why it ended.
    ///
    /// @return `null` while it is open
    public synchronized @Nullable End why() {
        return why;
    }

    /// Published messages that wait.
    ///
    /// @return at most the bound
    public synchronized int queued() {
        return backlog.size();
    }

    /// Bytes of the published messages that wait.
    ///
    /// @return at most the bound, or the size of one message
    public synchronized long queuedBytes() {
        return backlog.bytes();
    }

    /// Messages handed to the transport.
    ///
    /// @return a number that only grows
    public synchronized long sent() {
        return sent;
    }

    /// Messages that waited and were dropped.
    ///
    /// @return a number that only grows
    public synchronized long dropped() {
        return dropped;
    }

    /// Sends what waits while the transport is ready. The transport says so when it may be ready again; once too
    /// often is harmless.
    public void proceed() {
        Inside inside = Inside.mine();
        inside.enter(order);
        @Nullable Throwable failure = null;
        try {
            if (isMineToSend()) {
                drain();
            }
        } catch (Throwable thrown) {
            failure = thrown;
        } finally {
            inside.exit();
        }
        Failures.rethrow(order.onCallsOver(failure));
    }

    private synchronized boolean isMineToSend() {
        if (sending) {
            lookAgain = true;
            return false;
        }
        sending = !ended && (completing || !nothingWaits());
        return sending;
    }

    /// The transport is over: what waits is closed, and nothing is called any more. Again is harmless.
    public void leave() {
        end(End.LEFT);
    }

    /// Sends what waits, then closes the transport as completed.
    public void complete() {
        synchronized (this) {
            completing = true;
            // a publisher that waits for room has nothing to wait for
            notifyAll();
        }
        proceed();
    }

    /// Drops what waits and closes the transport, at once. Again is harmless.
    ///
    /// @param reason what the transport is closed with; with [End#LEFT] it is not closed, as by [#leave]
    public void end(End reason) {
        Deque<SealedBuffer> unsent;
        Backlog waiting;
        int lost;
        boolean mine;
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            why = reason;
            verdict = reason instanceof End.Left ? null : reason;
            unsent = first;
            first = NONE;
            waiting = backlog;
            backlog = Backlog.NOTHING;
            lost = waiting.size() + unsent.size();
            dropped += lost;
            mine = !sending;
            sending = true;
            notifyAll();
        }
        @Nullable Throwable failure = count(reason, lost);
        failure = waiting.close(Failures.closeAll(unsent, tellOwner(failure)));
        if (mine) {
            failure = reason instanceof End.Left ? closeTransport(failure) : closeInside(failure);
        }
        Failures.rethrow(failure);
    }

    /// What the transport publishes meanwhile waits for no other publisher.
    private @Nullable Throwable closeInside(@Nullable Throwable failure) {
        Inside inside;
        try {
            inside = Inside.mine();
            inside.enter(order);
        } catch (OutOfMemoryError noHeap) {
            return closeTransport(failure);
        }
        @Nullable Throwable joined = failure;
        try {
            joined = closeTransport(joined);
        } finally {
            inside.exit();
        }
        return order.onCallsOver(joined);
    }

    /// A counter that is contended takes heap.
    private @Nullable Throwable count(End reason, int lost) {
        try {
            totals.droppedMessages.add(lost);
            if (reason instanceof End.TooSlow) {
                totals.droppedSubscribers.increment();
            } else if (reason instanceof End.Failed) {
                totals.failedSubscribers.increment();
            }
            return null;
        } catch (OutOfMemoryError noHeap) {
            return noHeap;
        }
    }

    /// Of a publisher, one at a time: sends the message now, or keeps a handle on it until the transport is ready.
    ///
    /// @param key or `null`
    void offer(@Nullable Object key, SealedBuffer message) {
        boolean mine;
        synchronized (this) {
            if (ended || completing) {
                return;
            }
            mine = !sending && nothingWaits();
            sending |= mine;
        }
        try {
            if (mine && isReady()) {
                send(message);
            } else {
                enqueue(key, message);
            }
            if (mine) {
                sendWaiting();
            }
        } catch (Throwable failure) {
            // a subscriber with a hole is none
            throw failed(mine, failure);
        }
        if (!mine) {
            proceed();
        }
    }

    private boolean nothingWaits() {
        return first.isEmpty() && backlog.size() == 0;
    }

    private void enqueue(@Nullable Object key, SealedBuffer message) {
        SealedBuffer own = message.share();
        boolean taken = false;
        boolean full = false;
        try {
            long size = own.byteSize();
            while (!taken && !full) {
                @Nullable SealedBuffer gone = null;
                synchronized (this) {
                    if (ended) {
                        return;
                    }
                    if (backlog.hasRoom(bound, key, size)) {
                        gone = backlog.add(key, own, size);
                        taken = true;
                    } else if (bound.dropsOldest()) {
                        gone = backlog.remove();
                    } else {
                        full = true;
                    }
                    dropped += gone == null ? 0 : 1;
                }
                drop(gone);
            }
        } finally {
            if (!taken) {
                own.close();
            }
        }
        if (full) {
            end(tooSlow());
        }
    }

    private void drop(@Nullable SealedBuffer gone) {
        if (gone != null) {
            try (gone) {
                totals.droppedMessages.increment();
            }
        }
    }

    private synchronized End tooSlow() {
        return new End.TooSlow(backlog.size(), backlog.bytes());
    }

    /// Waits until a message has room, or the subscription ended.
    ///
    /// @param until in `System.nanoTime`
    /// @return whether it waited
    boolean awaitRoom(long size, long until) throws InterruptedException {
        boolean full = false;
        boolean waited = false;
        synchronized (this) {
            while (!full && !ended && !completing && !backlog.hasRoom(bound, null, size)) {
                long millis = (until - System.nanoTime()) / 1_000_000;
                if (millis > 0) {
                    waited = true;
                    wait(millis);
                } else {
                    full = true;
                }
            }
        }
        if (full) {
            end(tooSlow());
        }
        return waited;
    }

    /// Of the thread that set `sending`: another one would wait for it for ever.
    private void drain() {
        try {
            sendWaiting();
        } catch (Throwable failure) {
            throw failed(true, failure);
        }
    }

    /// Ends what failed.
    ///
    /// @param mine whether this thread set `sending`
    /// @return never
    private RuntimeException failed(boolean mine, Throwable failure) {
        @Nullable Throwable joined = failure;
        try {
            fail(failure);
        } catch (Throwable another) {
            joined = Failures.join(joined, another);
        }
        if (mine) {
            joined = closeTransport(joined);
        }
        Failures.rethrow(joined);
        throw new AssertionError(joined);
    }

    private void fail(Throwable failure) {
        End reason;
        try {
            reason = new End.Failed(failure);
        } catch (OutOfMemoryError noHeap) {
            reason = End.CLOSED;
        }
        end(reason);
    }

    private void sendWaiting() {
        Step step = step(false);
        while (step == Step.SEND) {
            boolean refused = !isReady();
            if (!refused) {
                sendNext();
            }
            step = step(refused);
        }
        if (step == Step.CLOSE) {
            Failures.rethrow(closeTransport(null));
        }
    }

    private enum Step {
        SEND,
        REST,
        CLOSE
    }

    /// @param refused whether the transport was not ready when it was asked
    private synchronized Step step(boolean refused) {
        boolean again = lookAgain;
        lookAgain = false;
        if (!ended && completing && nothingWaits()) {
            ended = true;
            why = End.COMPLETED;
            verdict = End.COMPLETED;
            notifyAll();
        }
        if (ended) {
            return Step.CLOSE;
        }
        if (nothingWaits() || refused && !again) {
            sending = false;
            return Step.REST;
        }
        return Step.SEND;
    }

    private boolean isReady() {
        try {
            return subscriber.isReady();
        } catch (RuntimeException failure) {
            fail(failure);
            return false;
        }
    }

    private void sendNext() {
        @Nullable SealedBuffer next = next();
        if (next != null) {
            try (next) {
                send(next);
            }
        }
    }

    private synchronized @Nullable SealedBuffer next() {
        if (ended || nothingWaits()) {
            return null;
        }
        if (!first.isEmpty()) {
            return first.remove();
        }
        SealedBuffer next = backlog.remove();
        notifyAll();
        return next;
    }

    private void send(SealedBuffer message) {
        try {
            subscriber.send(message);
        } catch (RuntimeException failure) {
            fail(failure);
            return;
        }
        totals.sent.increment();
        synchronized (this) {
            sent++;
        }
    }

    /// Of the thread that set `sending`, which stays set: nothing is sent any more.
    private @Nullable Throwable closeTransport(@Nullable Throwable failure) {
        @Nullable End last;
        synchronized (this) {
            last = verdict;
            verdict = null;
        }
        @Nullable Throwable joined = tellOwner(failure);
        if (last == null) {
            return joined;
        }
        try {
            subscriber.close(last);
        } catch (RuntimeException over) {
            // the peer was faster: the transport is closed already
        } catch (Throwable another) {
            joined = Failures.join(joined, another);
        }
        return joined;
    }

    private @Nullable Throwable tellOwner(@Nullable Throwable failure) {
        try {
            owner.onLeft();
            return failure;
        } catch (Throwable another) {
            return Failures.join(failure, another);
        }
    }

    @Override
    public synchronized String toString() {
        return "Subscription[" + (ended ? "ended" : "open") + " queued=" + backlog.size() + " queuedBytes="
                + backlog.bytes() + " sent=" + sent + " dropped=" + dropped + "]";
    }
}
