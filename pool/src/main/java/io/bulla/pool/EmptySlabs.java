// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Memory of slabs that are at their end, on its way to another slab or back to the machine, and what the source has
/// booked. Guarded by the lock of [Slabs].
///
/// ```
/// idle --taken again--> the memory of another slab
///      --idle time--> discarded: no pages, no booking; its addresses are taken again, or end with the source
///                     ended, where pages cannot go alone
/// ending: a raw view was given out --> retired: no pages, no booking; its addresses end with the source
///                                      ended, where pages cannot go alone
/// ```
final class EmptySlabs {

    private static final Thread ANY_THREAD = Thread.ofVirtual().unstarted(() -> {});

    private final SlabSupplier supplier;
    private final MemoryBudget budget;
    private final Runnable whenNoneIsBooked;
    private final SlabList idle = new SlabList();
    private final SlabList discarded = new SlabList();
    private final SlabList ending = new SlabList();
    private final SlabList retired = new SlabList();
    private long booked;

    EmptySlabs(SlabSupplier supplier, MemoryBudget budget, Runnable whenNoneIsBooked) {
        this.supplier = supplier;
        this.budget = budget;
        this.whenNoneIsBooked = whenNoneIsBooked;
    }

    long booked() {
        return booked;
    }

    long idleBytes() {
        return idle.bytes();
    }

    /// Memory that is booked already.
    ///
    /// @return null if none of that size is idle
    SlabSupplier.@Nullable Memory takeIdle(long bytes) {
        Slab slab = idle.takeOf(bytes);
        return slab == null ? null : slab.memory;
    }

    boolean tryBook(long bytes) {
        if (!budget.tryTake(bytes)) {
            return false;
        }
        booked += bytes;
        return true;
    }

    /// @throws MemoryLimitException if the limit forbids it; nothing is booked then
    void book(long bytes) {
        budget.take(bytes);
        booked += bytes;
    }

    /// Memory for what was booked. If this fails it is booked no more.
    SlabSupplier.Memory takeBooked(long bytes) {
        Slab known = discarded.takeOf(bytes);
        if (known != null) {
            FlightEvents.taken(bytes, true, booked);
            return known.memory;
        }
        try {
            SlabSupplier.Memory memory = checked(supplier.take(bytes), bytes);
            FlightEvents.taken(bytes, false, booked);
            return memory;
        } catch (Throwable failure) {
            unbook(bytes);
            throw failure;
        }
    }

    private SlabSupplier.Memory checked(SlabSupplier.Memory memory, long bytes) {
        MemorySegment segment = memory.segment();
        if (segment.byteSize() != bytes
                || !segment.isNative()
                || segment.isReadOnly()
                || segment.address() % SlabSource.SLAB != 0
                || !segment.isAccessibleBy(ANY_THREAD)) {
            memory.end();
            throw new IllegalStateException("slab supplier gave the wrong memory: supplier="
                    + supplier.getClass().getName() + " wanted=" + bytes + " found=" + segment);
        }
        return memory;
    }

    /// Ends memory that was taken and not used: gone at once, or with the budget's bytes kept if it cannot be.
    void endUnused(SlabSupplier.Memory memory, long bytes) {
        memory.end();
        unbookGiven(bytes, false);
    }

    /// A slab that is at its end since `now`.
    void put(Slab slab, long now) {
        slab.emptySince = now;
        if (slab.quarantined() > 0) {
            // a raw view may be left: these addresses are not for another buffer
            ending.put(slab);
        } else {
            idle.put(slab);
        }
    }

    void endQuarantined() {
        for (Slab each = ending.takeAll(); each != null; ) {
            Slab next = each.next;
            if (each.memory.discard()) {
                // its addresses stay, and read zeros
                unbookGiven(each.byteSize, true);
                retired.put(each);
            } else {
                end(each);
            }
            each = next;
        }
    }

    /// Gives back the pages of slabs that are empty since `before`, the oldest first.
    ///
    /// @param last whether the addresses are given back too, since no slab is taken any more
    void endIdle(long before, boolean last) {
        for (Slab each = idle.takeEmptySince(before); each != null; ) {
            Slab next = each.next;
            if (!last && each.memory.discard()) {
                unbookGiven(each.byteSize, false);
                discarded.put(each);
            } else {
                end(each);
            }
            each = next;
        }
    }

    /// Ends the memory, or keeps it to be ended later.
    private void end(Slab slab) {
        try {
            slab.memory.end();
            unbookGiven(slab.byteSize, slab.quarantined() > 0);
        } catch (IllegalStateException notNow) {
            ending.put(slab);
        }
    }

    /// Gives back the addresses that the end of the source has to wait for.
    void endRetired() {
        endAddresses(retired);
        endAddresses(discarded);
    }

    boolean hasRetired() {
        return !retired.isEmpty() || !discarded.isEmpty();
    }

    private static void endAddresses(SlabList withoutPages) {
        for (Slab each = withoutPages.takeAll(); each != null; ) {
            Slab next = each.next;
            try {
                each.memory.end();
            } catch (IllegalStateException notNow) {
                withoutPages.put(each);
            }
            each = next;
        }
    }

    private void unbookGiven(long bytes, boolean escaped) {
        unbook(bytes);
        FlightEvents.givenBack(bytes, escaped, booked);
    }

    private void unbook(long bytes) {
        booked -= bytes;
        budget.give(bytes);
        if (booked == 0) {
            whenNoneIsBooked.run();
        }
    }
}
