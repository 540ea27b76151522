// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.limits;

import java.util.concurrent.atomic.AtomicLong;

/// Counts the messages on their way and their bytes, up to a bound. A message that is larger than the bound is
/// taken when there is nothing else.
public final class SendQuota {

    public static final long MOST_BYTES = 1L << 39;
    public static final int MOST_MESSAGES = 1 << 22;

    private static final int SHIFT = 40;
    private static final long BYTES = (1L << SHIFT) - 1;

    private final int messages;
    private final long bytes;
    // messages in the upper bits, bytes in the lower
    private final AtomicLong used = new AtomicLong();

    public SendQuota(int messages, long bytes) {
        if (messages < 1 || messages > MOST_MESSAGES || bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException("bound of a queue: messages=" + messages + " bytes=" + bytes
                    + " mostMessages=" + MOST_MESSAGES + " mostBytes=" + MOST_BYTES);
        }
        this.messages = messages;
        this.bytes = bytes;
    }

    public boolean tryTake(long size) {
        while (true) {
            // volatile: a guess that the exchange confirms
            long now = used.get();
            if (now >>> SHIFT >= messages || (now & BYTES) + size > bytes && (now & BYTES) > 0) {
                return false;
            }
            // volatile: nobody else's message is counted between
            if (used.compareAndSet(now, now + (1L << SHIFT) + size)) {
                return true;
            }
        }
    }

    /// Also beyond the bound: for what cannot be refused.
    public void take(long size) {
        // volatile: one step
        used.addAndGet((1L << SHIFT) + size);
    }

    public void give(long count, long size) {
        // volatile: one step
        used.addAndGet(-(count << SHIFT) - size);
    }

    public boolean isFull() {
        return usedMessages() >= messages || usedBytes() >= bytes;
    }

    /// Room worth waking up for.
    public boolean isHalfEmpty() {
        return usedMessages() <= messages / 2 && usedBytes() <= bytes / 2;
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
}
