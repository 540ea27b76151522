// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.refcount.internal.Live;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongBinaryOperator;

/// A hard limit, in bytes, on the memory that one or several sources hold at the same time.
///
/// ```java
/// import io.bulla.buffer.*;
///
/// void main() {
///     MemoryBudget budget = new MemoryBudget(1 << 20);
///     try (ArenaSource memory = ArenaSource.builder().budget(budget).build()) {
///         IO.println(BufferBuilder.tryBuild(memory, 4 << 20)); // nothing is taken, nothing is thrown
///         memory.allocate(4 << 20);
///     } catch (MemoryLimitException full) {
///         IO.println(full.getMessage());
///     }
/// }
/// ```
///
/// ```text
/// Optional.empty
/// memory budget exceeded: requested=4194304 used=0 limit=1048576
/// ```
///
/// A budget counts the memory that a source takes from the machine, not the part that buffers use: for
/// [ArenaSource] whole chunks. The JVM's limit on direct memory does not cover arenas, so a budget is the only
/// limit. Adopted memory ([SealedBuffer#adopt]) is counted apart ([#adopted()]) and not limited.
public final class MemoryBudget {

    private static final LongAdder ADOPTED = new LongAdder();

    // linked before the heap is short: a call that once failed to link fails for ever
    private static final LongBinaryOperator LARGER = Math::max;

    private final long limit;
    // volatile: used is held under the limit by a compare-and-set; peak is raised after it, and may lag
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
        Live.put("budget", MemoryBudget.class, this, MemoryBudget::line);
    }

    /// The budget that sources share unless told otherwise: a quarter of the memory of the machine, or of the
    /// container that limits it.
    ///
    /// @return the same budget each time
    public static MemoryBudget ofProcess() {
        return OfProcess.BUDGET;
    }

    /// No budget: as much as the machine gives.
    ///
    /// @return a fresh budget, which still counts
    public static MemoryBudget unlimited() {
        return new MemoryBudget(Long.MAX_VALUE);
    }

    /// Bytes of foreign memory that buffers hold now, in the whole process.
    ///
    /// @return at least 0
    public static long adopted() {
        return ADOPTED.sum();
    }

    /// Books `bytes`.
    ///
    /// @param bytes at least 0
    /// @throws MemoryLimitException if the limit forbids it; nothing is booked then
    /// @throws IllegalArgumentException if `bytes` is negative
    public void take(long bytes) {
        take(bytes, "");
    }

    /// Books `bytes`.
    ///
    /// @param bytes at least 0
    /// @param whoHolds for the message, perhaps empty
    /// @throws MemoryLimitException if the limit forbids it; nothing is booked then
    void take(long bytes, String whoHolds) {
        if (!tryTake(bytes)) {
            throw new MemoryLimitException("memory budget exceeded: requested=" + bytes + " used=" + used.get()
                    + " limit=" + limit + (whoHolds.isEmpty() ? "" : " held by [" + whoHolds + "]"));
        }
    }

    /// Books `bytes` if the limit allows it.
    ///
    /// @param bytes at least 0
    /// @return false if it does not; nothing is booked then
    /// @throws IllegalArgumentException if `bytes` is negative
    public boolean tryTake(long bytes) {
        checkNotNegative(bytes);
        long before;
        do {
            // volatile: a guess for the compare-and-set below
            before = used.get();
            if (bytes > limit - before) {
                return false;
            }
            // volatile: the limit needs the atomic step alone; no memory hangs on the order
        } while (!used.compareAndSet(before, before + bytes));
        boolean counted = false;
        try {
            total.add(bytes);
            peak.accumulateAndGet(before + bytes, LARGER);
            counted = true;
        } finally {
            // the counters may need heap
            if (!counted) {
                give(bytes);
            }
        }
        return true;
    }

    /// Gives `bytes` back.
    ///
    /// @param bytes booked before
    /// @throws IllegalArgumentException if `bytes` is negative
    /// @throws IllegalStateException if fewer are booked; nothing is given back then
    public void give(long bytes) {
        checkNotNegative(bytes);
        long before;
        do {
            // volatile: a guess for the compare-and-set below
            before = used.get();
            if (bytes > before) {
                throw new IllegalStateException(
                        "more given back than was taken: bytes=" + bytes + " used=" + before + " limit=" + limit);
            }
            // volatile: as in tryTake
        } while (!used.compareAndSet(before, before - bytes));
    }

    /// Bytes booked now.
    ///
    /// @return at most [#limit()]
    public long used() {
        // volatile: a snapshot
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

    @Override
    public String toString() {
        return "MemoryBudget[used=" + used() + " limit=" + limit + " peak=" + peak() + "]";
    }

    private List<String> line() {
        return List.of("used=" + used() + " limit=" + limit + " peak=" + peak() + " total=" + total());
    }

    static void own(long bytes) {
        ADOPTED.add(bytes);
    }

    static void disown(long bytes) {
        ADOPTED.add(-bytes);
    }

    private static void checkNotNegative(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a number of bytes is not negative: bytes=" + bytes);
        }
    }

    private static final class OfProcess {

        private static final MemoryBudget BUDGET = new MemoryBudget(JvmDiagnostics.memory() / 4);
    }
}
