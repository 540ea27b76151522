// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Slab.Slot;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Slots of one class that no magazine holds, in chains: a lock-free stack.
///
/// ```
/// put: top = chain -> before        poll: top = chain.next
/// ```
///
/// Ordering
/// 1. **A chain is met whole.** What was done with its slots, and their links, are before the put's
///    compare-and-set; a poll comes after it.
/// 2. **A step is never fooled.** A chain is a fresh object for each put, and no chain is put again. So a poll
///    whose compare-and-set finds the chain that it looked at finds the same chain below it. The collector is the
///    stamp: an address is not used again while a thread looks at it.
class Depot {

    /// Slots that are linked by [Slot#next].
    static final class Chain {

        // all written before it is shown
        @Nullable
        Slot first;

        int count;
        private @Nullable Chain next;

        Chain of(@Nullable Slot slots, int number) {
            first = slots;
            count = number;
            return this;
        }
    }

    // volatile: orderings 1 and 2
    private final AtomicReference<@Nullable Chain> top = new AtomicReference<>();
    // volatile: a guess for the trimmer
    private final AtomicInteger chains = new AtomicInteger();
    // plain: the fewest chains since the trimmer looked, a guess
    private int low;

    /// A chain that may be put here once.
    ///
    /// @throws OutOfMemoryError if there is no heap for it
    Chain chain() {
        return new Chain();
    }

    void put(Chain chain) {
        Chain before;
        do {
            before = top.get();
            chain.next = before;
            // volatile: ordering 1
        } while (!top.compareAndSet(before, chain));
        chains.incrementAndGet();
    }

    /// @return null if there is none
    @Nullable
    Chain poll() {
        Chain first;
        do {
            first = top.get();
            if (first == null) {
                low = 0;
                return null;
            }
            // volatile: ordering 2
        } while (!top.compareAndSet(first, first.next));
        low = Math.min(low, chains.decrementAndGet());
        return first;
    }

    /// Bytes in all chains: a guess.
    long bytes() {
        long bytes = 0;
        for (Chain chain = top.get(); chain != null; chain = chain.next) {
            for (Slot slot = chain.first; slot != null; slot = slot.next) {
                bytes += slot.byteSize();
            }
        }
        return bytes;
    }

    /// How many chains were not needed since the last call.
    int spare() {
        int now = Math.max(0, chains.get());
        int spare = Math.clamp(low, 0, now);
        low = now;
        return spare;
    }
}
