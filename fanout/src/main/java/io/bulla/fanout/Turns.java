// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The one order in which messages are published: publishers take turns.
///
/// What is published from within a call of a transport (`isReady`, `send`, `close`) waits: it is sent when the turn
/// that it came in is over, so that it is behind that turn's message for every subscriber, and so that no thread
/// waits for room that only itself could make. The thread that has the turn sends it, or the one that asked for it
/// once its own calls are over.
///
/// From within a call of another fan-out's transport no thread waits for a turn either: two that publish to each
/// other's fan-out would wait for ever. If another thread has the turn, that one sends the message.
final class Turns implements Order {

    private final Function<@Nullable Object, Roll> audience;
    private final Bound bound;
    private final Totals totals;
    private final ReentrantLock turn = new ReentrantLock();
    private final PutOff later;

    // what a new subscriber is closed with
    private volatile @Nullable End over;

    /// @param audience who gets a message of a key
    Turns(Function<@Nullable Object, Roll> audience, Bound bound, Totals totals) {
        this.audience = audience;
        this.bound = bound;
        this.totals = totals;
        this.later = new PutOff(bound);
    }

    /// Why nothing is published any more.
    @Nullable
    End over() {
        // volatile: read after a subscriber is on its roll, which is read after the write: either side sees the other
        return over;
    }

    void end(End why) {
        // volatile: before the roll is read
        over = why;
    }

    /// Of a thread within a call of a transport of this: nothing is published from now on, and all end behind what is
    /// being sent, and what was published from there.
    ///
    /// @return false if the thread is not
    boolean endInTurn(End why, Runnable all) {
        if (!Inside.mine().isIn(this)) {
            return false;
        }
        later.add(new PutOff.Later(all));
        end(why);
        return true;
    }

    /// Messages that wait for the turn.
    int queued() {
        return later.size();
    }

    private void checkOpen() {
        // volatile: a look before the work; subscribers that end beside it refuse the message themselves
        @Nullable End end = over;
        if (end != null) {
            throw new IllegalStateException("fan-out is over: " + end);
        }
    }

    int publish(@Nullable Object key, SealedBuffer message) throws InterruptedException {
        Inside inside = Inside.mine();
        if (inside.isIn(this)) {
            return putOff(key, message);
        }
        if (inside.isEmpty()) {
            turn.lockInterruptibly();
        } else if (!turn.tryLock()) {
            int count = putOff(key, message);
            // the other thread may have left meanwhile
            Failures.rethrow(onCallsOver(null));
            return count;
        }
        int count = 0;
        @Nullable Throwable failure = null;
        try {
            count = publishInTurn(inside, key, message);
        } catch (Throwable thrown) {
            failure = thrown;
        }
        turn.unlock();
        // what was put off meanwhile is sent whatever became of this message
        failure = onCallsOver(failure);
        if (failure instanceof InterruptedException interrupted) {
            throw interrupted;
        }
        Failures.rethrow(failure);
        return count;
    }

    private int publishInTurn(Inside inside, @Nullable Object key, SealedBuffer message) throws InterruptedException {
        checkOpen();
        inside.enter(this);
        @Nullable Throwable failure = null;
        try {
            // what was put off is older, perhaps this thread's own
            failure = sendLater(null);
            checkOpen();
            Roll.Look look = audience.apply(key).look();
            awaitRoom(look, message.byteSize(), until());
            failure = sendLater(send(look, key, message, failure));
            Failures.rethrow(failure);
            return look.count();
        } catch (Throwable thrown) {
            if (failure != null) {
                Failures.join(thrown, failure);
            }
            throw thrown;
        } finally {
            inside.exit();
        }
    }

    private long until() {
        return System.nanoTime() + bound.patience();
    }

    private int putOff(@Nullable Object key, SealedBuffer message) {
        checkOpen();
        int count = audience.apply(key).size();
        SealedBuffer own = message.share();
        boolean kept = false;
        try {
            later.offer(new PutOff.Later(key, own));
            kept = true;
        } finally {
            if (!kept) {
                own.close();
            }
        }
        return count;
    }

    private void awaitRoom(Roll.Look look, long size, long until) throws InterruptedException {
        if (bound.slow() != SlowPolicy.WAIT) {
            return;
        }
        boolean waited = false;
        for (int i = 0; i < look.end(); i++) {
            @Nullable Subscription one = look.at(i);
            waited |= one != null && one.awaitRoom(size, until);
        }
        if (waited) {
            totals.waits.increment();
        }
    }

    private @Nullable Throwable send(
            Roll.Look look, @Nullable Object key, SealedBuffer message, @Nullable Throwable failure) {
        @Nullable Throwable joined = failure;
        totals.published.increment();
        for (int i = 0; i < look.end(); i++) {
            @Nullable Subscription one = look.at(i);
            try {
                if (one != null) {
                    one.offer(key, message);
                }
            } catch (Throwable another) {
                joined = Failures.join(joined, another);
            }
        }
        return joined;
    }

    /// Of the thread that has the turn.
    private @Nullable Throwable sendLater(@Nullable Throwable failure) {
        @Nullable Throwable joined = failure;
        for (PutOff.@Nullable Later next = later.poll(); next != null; next = later.poll()) {
            try (@Nullable SealedBuffer own = next.own) {
                // volatile: as in checkOpen
                boolean closed = over instanceof End.Closed;
                if (own == null) {
                    Objects.requireNonNull(next.end).run();
                } else if (!closed) {
                    Roll.Look look = audience.apply(next.key).look();
                    awaitRoomThroughInterrupts(look, own.byteSize());
                    joined = send(look, next.key, own, joined);
                }
            } catch (Throwable another) {
                joined = Failures.join(joined, another);
            }
        }
        return joined;
    }

    /// Its publisher has returned already, so that it has to be sent: no longer than the patience.
    private void awaitRoomThroughInterrupts(Roll.Look look, long size) {
        boolean interrupted = false;
        long until = until();
        try {
            while (true) {
                try {
                    awaitRoom(look, size, until);
                    return;
                } catch (InterruptedException again) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// Sends what was put off, unless another thread has the turn: that one looks here once more behind it.
    @Override
    public @Nullable Throwable onCallsOver(@Nullable Throwable failure) {
        @Nullable Throwable joined = failure;
        Inside inside = Inside.mine();
        while (!later.isEmpty() && !inside.isIn(this) && turn.tryLock()) {
            try {
                inside.enter(this);
                try {
                    joined = sendLater(joined);
                } finally {
                    inside.exit();
                }
            } finally {
                turn.unlock();
            }
        }
        return joined;
    }
}
