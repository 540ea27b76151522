// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.flow;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// What the program has on its way, messages and bytes, up to a bound: to one peer, which is part of what is on
/// its way to all. A message that is larger than the bound is taken when there is nothing else.
///
/// Ordering: a waiter is in the queue before it looks once more, and what is over is given back, or the end is
/// noted, before the queue is looked at, so that one of the two completes it.
public final class SendQuota {

    public static final long MOST_BYTES = 1L << 39;
    public static final int MOST_MESSAGES = 1 << 22;

    private static final int SHIFT = 40;
    private static final long BYTES = (1L << SHIFT) - 1;

    private record Waiter(SendQuota peer, long size, CompletableFuture<Void> stage) {}

    private final @Nullable SendQuota all;
    private final int messages;
    private final long bytes;
    private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    // messages in the upper bits, bytes in the lower
    private final AtomicLong used = new AtomicLong();
    // of all; volatile: see the ordering
    private volatile boolean closed;

    private SendQuota(@Nullable SendQuota all, int messages, long bytes) {
        if (messages < 1 || messages > MOST_MESSAGES || bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException("bound of a queue: messages=" + messages + " bytes=" + bytes
                    + " mostMessages=" + MOST_MESSAGES + " mostBytes=" + MOST_BYTES);
        }
        this.all = all;
        this.messages = messages;
        this.bytes = bytes;
    }

    /// To all peers.
    public static SendQuota ofAll(int messages, long bytes) {
        return new SendQuota(null, messages, bytes);
    }

    /// To one peer, part of this one.
    public SendQuota ofPeer(int messages, long bytes) {
        return new SendQuota(this, messages, bytes);
    }

    /// Takes it here and of all.
    ///
    /// @return `null`, or what is full
    public @Nullable String tryTake(long size) {
        if (!add(size)) {
            return "queue of the peer is full: " + this;
        }
        if (!all().add(size)) {
            remove(1, size);
            return "queues of all peers are full: " + all();
        }
        return null;
    }

    /// Beyond the bounds: a broadcast that was taken goes to the children of a child that has failed.
    public void take(long size) {
        // volatile: one step
        used.addAndGet((1L << SHIFT) + size);
        all().used.addAndGet((1L << SHIFT) + size);
    }

    /// Gives back what was taken.
    public void give(long count, long size) {
        remove(count, size);
        all().remove(count, size);
        if (!all().waiters.isEmpty()) {
            all().look();
        }
    }

    /// @param size of a message, or 0
    /// @return completes when both this and all are at most half full and the message has room in them, or at the
    ///     end
    public CompletableFuture<Void> await(long size) {
        CompletableFuture<Void> stage = new CompletableFuture<>();
        all().waiters.add(new Waiter(this, size, stage));
        all().look();
        return stage;
    }

    /// Of all: there is no more waiting, the next send says why.
    public void close() {
        closed = true;
        for (Waiter waiter = waiters.poll(); waiter != null; waiter = waiters.poll()) {
            waiter.stage.complete(null);
        }
    }

    private void look() {
        waiters.removeIf(waiter -> {
            boolean over = closed || waiter.stage.isDone() || hasRoom(waiter.size) && waiter.peer.hasRoom(waiter.size);
            if (over) {
                waiter.stage.complete(null);
            }
            return over;
        });
    }

    private boolean add(long size) {
        while (true) {
            // volatile: a guess that the exchange confirms
            long now = used.get();
            if (now >>> SHIFT >= messages || (now & BYTES) + size > bytes && (now & BYTES) > 0) {
                return false;
            }
            // volatile: no other message is counted between
            if (used.compareAndSet(now, now + (1L << SHIFT) + size)) {
                return true;
            }
        }
    }

    private void remove(long count, long size) {
        // volatile: one step
        used.addAndGet(-(count << SHIFT) - size);
    }

    private boolean hasRoom(long size) {
        long usedBytes = usedBytes();
        return usedMessages() <= messages / 2
                && usedBytes <= bytes / 2
                && (usedBytes == 0 || usedBytes + size <= bytes);
    }

    public long usedMessages() {
        // volatile: a snapshot
        return used.get() >>> SHIFT;
    }

    public long usedBytes() {
        // volatile: a snapshot
        return used.get() & BYTES;
    }

    @Override
    public String toString() {
        // volatile: a snapshot
        long now = used.get();
        return "messages=" + (now >>> SHIFT) + " mostMessages=" + messages + " queuedBytes=" + (now & BYTES)
                + " mostBytes=" + bytes;
    }

    /// Of a peer's quota alone.
    private SendQuota all() {
        return Objects.requireNonNull(all, "all");
    }
}
