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
///      --idle time--> leaving --pages given back--> discarded: its addresses are taken again, or end with the source
///                             --else--> ended
/// a raw view was given out: ending --pages given back--> retired: its addresses end with the source
///                                  --else--> ended
/// ```
///
/// What a supplier fails to give back waits in `ending` and is tried again. It stays booked meanwhile.
final class EmptySlabs {

    private static final Thread ANY_THREAD = Thread.ofVirtual().unstarted(() -> {});

    private final SlabSupplier supplier;
    private final MemoryBudget budget;
    private final Runnable whenNoneIsBooked;
    private final SlabList idle = new SlabList();
    private final SlabList leaving = new SlabList();
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
        return idle.bytes() + leaving.bytes();
    }

    /// Memory that is booked already.
    ///
    /// @return null if none of that size is idle
    SlabSupplier.@Nullable Memory takeIdle(long bytes) {
        Slab slab = idle.takeOf(bytes);
        if (slab == null) {
            slab = leaving.takeOf(bytes);
        }
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
        ending.drain(each -> giveBack(each, retired));
    }

    /// Lets go of slabs that are empty since `before`, for [#endOne].
    void letGoIdle(long before) {
        idle.moveEmptySince(before, leaving);
    }

    /// Gives back the pages of one slab that was let go of, the oldest.
    ///
    /// @param last whether its addresses are given back too, since no slab is taken any more
    /// @return false if there is none
    boolean endOne(boolean last) {
        Slab oldest = leaving.poll();
        if (oldest == null) {
            return false;
        }
        giveBack(oldest, last ? null : discarded);
        return true;
    }

    /// @param withoutPages for a slab that keeps its addresses, or null to end it
    private void giveBack(Slab slab, @Nullable SlabList withoutPages) {
        SlabList then = ending;
        try {
            if (withoutPages != null && slab.memory.discard()) {
                then = withoutPages;
            } else {
                slab.memory.end();
                then = null;
            }
        } catch (IllegalStateException notNow) {
            // a system call is in it
        } finally {
            if (then != null) {
                then.put(slab);
            }
            if (then != ending) {
                unbookGiven(slab.byteSize, slab.quarantined() > 0);
            }
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
        withoutPages.drain(each -> {
            boolean ended = false;
            try {
                each.memory.end();
                ended = true;
            } catch (IllegalStateException notNow) {
                // a system call is in it
            } finally {
                if (!ended) {
                    withoutPages.put(each);
                }
            }
        });
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
