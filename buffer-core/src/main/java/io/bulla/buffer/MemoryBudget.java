package io.bulla.buffer;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/// A hard limit in bytes on what one or several sources have handed out at the same time.
public final class MemoryBudget {

    private final long limit;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();
    private final LongAdder total = new LongAdder();

    /// A budget of `limit` bytes.
    ///
    /// @param limit in bytes, at least 1
    /// @throws IllegalArgumentException if `limit` is less than 1
    public MemoryBudget(long limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("a budget is at least one byte: limit=" + limit);
        }
        this.limit = limit;
    }

    /// The budget of nobody: as much as the machine gives.
    ///
    /// @return a fresh budget, which still counts
    public static MemoryBudget unlimited() {
        return new MemoryBudget(Long.MAX_VALUE);
    }

    /// Books `bytes`.
    ///
    /// @param bytes at least 0
    /// @throws IllegalStateException if the limit forbids it; nothing is booked then
    public void take(long bytes) {
        long before;
        long after;
        do {
            before = used.get();
            if (bytes > limit - before) {
                throw new IllegalStateException(
                        "memory budget exceeded: requested=" + bytes + " used=" + before + " limit=" + limit);
            }
            after = before + bytes;
        } while (!used.compareAndSet(before, after));
        total.add(bytes);
        peak.accumulateAndGet(after, Math::max);
    }

    /// Gives `bytes` back.
    ///
    /// @param bytes booked before
    public void give(long bytes) {
        used.addAndGet(-bytes);
    }

    /// Bytes booked now.
    ///
    /// @return at most [#limit()]
    public long used() {
        return used.get();
    }

    /// The most bytes that were booked at one time.
    ///
    /// @return at most [#limit()]
    public long peak() {
        return peak.get();
    }

    /// All bytes ever booked, given back or not.
    ///
    /// @return a number that only grows
    public long total() {
        return total.sum();
    }

    /// The limit.
    ///
    /// @return in bytes
    public long limit() {
        return limit;
    }
}
