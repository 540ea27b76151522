// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One stream of a [Broadcast]: a call, and the messages that wait until gRPC is ready for them.
///
/// ```
///   open --complete()--> last messages --all sent--> ended
///   open, last messages --cancelled, failed, dropped, end(status)--> ended: what waits is closed
/// ```
///
/// One thread at a time sends, outside of the lock: the one that found `sending` unset. Others leave their work to
/// it, so that the messages of a stream keep their order and gRPC sees one caller.
public final class BroadcastStream {

    // stays empty: a stream that has first messages has a queue of its own for them
    private static final Deque<SealedBuffer> NONE = new ArrayDeque<>(0);

    private final Outlet outlet;
    private final Bound bound;
    private final Totals totals;
    private final Consumer<BroadcastStream> left;
    private final SentStreams unread = new SentStreams();

    // all below are guarded by this
    private Deque<SealedBuffer> first = NONE;
    private Deque<SealedBuffer> queue = new ArrayDeque<>();
    private long queuedBytes;
    private long sent;
    private long dropped;
    private boolean sending;
    private boolean lookAgain;
    private boolean completing;
    private boolean ended;
    // what the sender is to close the call with
    private @Nullable Status verdict;

    BroadcastStream(Outlet outlet, Bound bound, Totals totals, Consumer<BroadcastStream> left) {
        this.outlet = outlet;
        this.bound = bound;
        this.totals = totals;
        this.left = left;
    }

    /// Whether messages are still sent to it.
    ///
    /// @return false once its call is cancelled, closed or dropped, or its last message was sent
    public synchronized boolean isOpen() {
        return !ended;
    }

    /// Published messages that wait.
    ///
    /// @return at most the bound
    public synchronized int queued() {
        return queue.size();
    }

    /// Bytes of the published messages that wait.
    ///
    /// @return at most the bound, or the size of one message
    public synchronized long queuedBytes() {
        return queuedBytes;
    }

    /// Messages handed to gRPC.
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

    /// Sends what waits, then closes the call with `OK`.
    public void complete() {
        synchronized (this) {
            completing = true;
        }
        proceed();
    }

    /// Drops what waits and closes the call.
    ///
    /// @param status why
    public void end(Status status) {
        leave(status);
    }

    /// Before any message is offered.
    ///
    /// @param own handles that go before all other messages, closed here
    void begin(Deque<SealedBuffer> own) {
        if (own.isEmpty()) {
            return;
        }
        boolean taken;
        synchronized (this) {
            taken = !ended;
            first = taken ? own : first;
        }
        if (taken) {
            proceed();
        } else {
            Closing.all(own, SealedBuffer::close);
        }
    }

    /// Of a publisher, one at a time: sends the message now, or keeps a handle on it until gRPC is ready.
    void offer(SealedBuffer message) {
        boolean mine;
        synchronized (this) {
            if (ended || completing) {
                return;
            }
            mine = !sending && nothingWaits();
            sending |= mine;
        }
        if (mine && isReady()) {
            send(message);
            drain();
            return;
        }
        try {
            @Nullable Status full = queue(message);
            if (full != null) {
                leave(full);
            }
        } catch (Throwable failure) {
            // a stream with a hole is none
            fail(failure);
            throw failure;
        } finally {
            if (mine) {
                drain();
            } else {
                proceed();
            }
        }
    }

    /// Of the thread that set `sending`, and has to end the call if gRPC does not say.
    private boolean isReady() {
        try {
            return outlet.isReady();
        } catch (Throwable failure) {
            fail(failure);
            closeCall();
            throw failure;
        }
    }

    private synchronized @Nullable Status queue(SealedBuffer message) {
        long size = message.byteSize();
        while (!ended && isFull(size)) {
            if (bound.slow() != SlowStream.DROP_OLDEST) {
                return tooSlow();
            }
            dropOldest();
        }
        if (!ended) {
            add(message.share(), size);
        }
        return null;
    }

    private void add(SealedBuffer own, long size) {
        boolean taken = false;
        try {
            // a listener of the handle may have ended the stream meanwhile
            taken = !ended && queue.add(own);
        } finally {
            if (!taken) {
                own.close();
            }
        }
        if (taken) {
            queuedBytes += size;
        }
    }

    private boolean isFull(long size) {
        return !queue.isEmpty() && (queue.size() >= bound.messages() || queuedBytes + size > bound.bytes());
    }

    private void dropOldest() {
        SealedBuffer oldest = queue.remove();
        queuedBytes -= oldest.byteSize();
        dropped++;
        totals.droppedMessages.increment();
        oldest.close();
    }

    private Status tooSlow() {
        totals.droppedStreams.increment();
        return Status.RESOURCE_EXHAUSTED.withDescription(
                "too slow for the broadcast: queuedMessages=" + queue.size() + " queuedBytes=" + queuedBytes);
    }

    /// Waits until a message has room, or the stream ended.
    ///
    /// @param until in `System.nanoTime`
    /// @return whether it waited
    boolean awaitRoom(long size, long until) throws InterruptedException {
        @Nullable Status full = null;
        boolean waited = false;
        synchronized (this) {
            while (!ended && !completing && isFull(size) && full == null) {
                long millis = (until - System.nanoTime()) / 1_000_000;
                if (millis > 0) {
                    waited = true;
                    wait(millis);
                } else {
                    full = tooSlow();
                }
            }
        }
        if (full != null) {
            leave(full);
        }
        return waited;
    }

    /// Of gRPC, when it may be ready again.
    void proceed() {
        synchronized (this) {
            if (sending) {
                lookAgain = true;
                return;
            }
            sending = true;
        }
        drain();
    }

    /// Of gRPC: the call is over, and its receiver may have messages to read.
    void over() {
        leave(null);
    }

    /// Of gRPC: the call is over, and its receiver reads nothing more.
    void cancelled() {
        leave(null);
        unread.close();
    }

    /// Of the thread that set `sending`: another one would wait for it for ever.
    private void drain() {
        try {
            sendWaiting();
        } catch (Throwable failure) {
            fail(failure);
            closeCall();
            throw failure;
        }
    }

    private void sendWaiting() {
        while (true) {
            boolean ready = outlet.isReady();
            SealedBuffer next;
            synchronized (this) {
                if (verdict != null || ended) {
                    break;
                }
                if (nothingWaits() && completing) {
                    ended = true;
                    verdict = Status.OK;
                    break;
                }
                if (nothingWaits() || !ready) {
                    if (!lookAgain) {
                        sending = false;
                        return;
                    }
                    lookAgain = false;
                    continue;
                }
                next = next();
            }
            try (next) {
                send(next);
            }
        }
        closeCall();
    }

    private boolean nothingWaits() {
        return first.isEmpty() && queue.isEmpty();
    }

    private SealedBuffer next() {
        if (!first.isEmpty()) {
            return first.remove();
        }
        SealedBuffer next = queue.remove();
        queuedBytes -= next.byteSize();
        notifyAll();
        return next;
    }

    private void send(SealedBuffer message) {
        @Nullable SealedStream open;
        try {
            open = Sending.send(outlet, message);
        } catch (RuntimeException failure) {
            fail(failure);
            return;
        } catch (Error failure) {
            fail(failure);
            closeCall();
            throw failure;
        }
        totals.sent.increment();
        synchronized (this) {
            sent++;
        }
        unread.add(open);
    }

    private void fail(Throwable failure) {
        totals.failedStreams.increment();
        leave(Status.fromThrowable(failure));
    }

    /// Ends the stream, once.
    ///
    /// @param status what the call is to be closed with, or `null` if it is over already
    private void leave(@Nullable Status status) {
        Deque<SealedBuffer> waiting;
        Deque<SealedBuffer> unsent;
        int lost;
        boolean mine;
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            verdict = status;
            waiting = queue;
            unsent = first;
            first = NONE;
            queue = new ArrayDeque<>(0);
            queuedBytes = 0;
            lost = waiting.size() + unsent.size();
            dropped += lost;
            mine = !sending;
            sending = true;
            notifyAll();
        }
        totals.droppedMessages.add(lost);
        left.accept(this);
        try {
            try {
                Closing.all(unsent, SealedBuffer::close);
            } finally {
                Closing.all(waiting, SealedBuffer::close);
            }
        } finally {
            if (mine) {
                closeCall();
            }
        }
    }

    /// Of the thread that set `sending`, which stays set: nothing is sent any more.
    private void closeCall() {
        Status last;
        synchronized (this) {
            last = verdict;
            verdict = null;
        }
        left.accept(this);
        if (last == null) {
            return;
        }
        try {
            outlet.close(last);
        } catch (RuntimeException over) {
            // the peer was faster: the call is closed or cancelled already
        }
    }

    @Override
    public synchronized String toString() {
        return "BroadcastStream[" + (ended ? "ended" : "open") + " queued=" + queue.size() + " queuedBytes="
                + queuedBytes + " sent=" + sent + " dropped=" + dropped + "]";
    }

    /// How much may wait, and what then.
    record Bound(int messages, long bytes, SlowStream slow) {}
}
