// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
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
/// What a supplier fails to give back waits in `ending`, or in `unused` if it never was a slab's, and is tried again.
/// It stays booked meanwhile. The failure is kept for the caller that asked to give memory back: one that takes
/// memory, and gives back what others left, is not told.
///
/// A supplier may call back into the source: what is in the middle of a call is in no list.
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
    private @Nullable Unused unused;
    // the first one since all was tried again
    private @Nullable Throwable failure;
    private long booked;

    /// Slabs that are empty, linked by [Slab#next]: the one that was put last comes first.
    static final class SlabList {

        private @Nullable Slab first;

        boolean isEmpty() {
            return first == null;
        }

        void put(Slab slab) {
            slab.next = first;
            first = slab;
        }

        /// Takes the first slab of a size.
        ///
        /// @return null if there is none
        @Nullable
        Slab takeOf(long bytes) {
            Slab before = null;
            for (Slab each = first; each != null; before = each, each = each.next) {
                if (each.byteSize == bytes) {
                    unlink(before, each);
                    return each;
                }
            }
            return null;
        }

        /// Takes the one that was put last.
        ///
        /// @return null if there is none
        @Nullable
        Slab poll() {
            Slab last = first;
            if (last != null) {
                first = last.next;
            }
            return last;
        }

        /// Moves those that were empty at a time already into another list, where the one that was put first comes
        /// first.
        /// The others keep their order.
        void moveEmptySince(long time, SlabList target) {
            Slab before = null;
            for (Slab each = first; each != null; ) {
                Slab next = each.next;
                if (each.emptySince - time <= 0) {
                    unlink(before, each);
                    target.put(each);
                } else {
                    before = each;
                }
                each = next;
            }
        }

        /// Takes each slab of now, once, for a step that may put it back. What it does not come to, for an error,
        /// stays.
        void drain(Consumer<Slab> step) {
            Slab left = first;
            first = null;
            try {
                while (left != null) {
                    Slab each = left;
                    left = each.next;
                    step.accept(each);
                }
            } finally {
                while (left != null) {
                    Slab next = left.next;
                    put(left);
                    left = next;
                }
            }
        }

        private void unlink(@Nullable Slab before, Slab each) {
            if (before == null) {
                first = each.next;
            } else {
                before.next = each.next;
            }
        }

        long bytes() {
            long bytes = 0;
            for (Slab each = first; each != null; each = each.next) {
                bytes += each.byteSize;
            }
            return bytes;
        }
    }

    /// Memory that the supplier gave and does not take back, in a list.
    static final class Unused {
        private final long bytes;
        private SlabSupplier.@Nullable Memory memory;
        private @Nullable Unused next;

        Unused(long bytes) {
            this.bytes = bytes;
        }
    }

    /// Memory that said where it is: it is asked once.
    private record Checked(SlabSupplier.Memory memory, MemorySegment segment) implements SlabSupplier.Memory {

        @Override
        public boolean discard() {
            return memory.discard();
        }

        @Override
        public void end() {
            memory.end();
        }
    }

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

    /// Books some bytes, once as many idle slabs as that takes have ended.
    ///
    /// @param last as of [#endOne]
    /// @throws MemoryLimitException if the limit forbids it; nothing is booked then
    void makeRoom(long bytes, boolean last) {
        endQuarantined();
        letGoIdle(System.nanoTime());
        while (!tryBook(bytes)) {
            if (!endOne(last)) {
                budget.take(bytes);
                booked += bytes;
                return;
            }
        }
    }

    /// Memory for what was booked. If this fails it is booked no more.
    SlabSupplier.Memory takeBooked(long bytes) {
        Slab known = discarded.takeOf(bytes);
        if (known != null) {
            FlightEvents.taken(bytes, true, booked);
            return known.memory;
        }
        @Nullable Unused left = null;
        try {
            // its heap is there before the memory is
            left = new Unused(bytes);
            left.memory = supplier.take(bytes);
            SlabSupplier.Memory memory = checked(left.memory, bytes);
            FlightEvents.taken(bytes, false, booked);
            return memory;
        } catch (Throwable failed) {
            if (left == null) {
                unbook(bytes);
            } else {
                endUnused(left);
            }
            throw failed;
        }
    }

    private SlabSupplier.Memory checked(SlabSupplier.@Nullable Memory memory, long bytes) {
        MemorySegment segment = memory == null ? null : memory.segment();
        if (memory == null
                || segment == null
                || segment.byteSize() != bytes
                || !segment.isNative()
                || segment.isReadOnly()
                || segment.address() % SizeClasses.SLAB != 0
                || !segment.isAccessibleBy(ANY_THREAD)) {
            throw new IllegalStateException("slab supplier gave the wrong memory: supplier="
                    + supplier.getClass().getName() + " wanted=" + bytes + " found=" + segment);
        }
        return new Checked(memory, segment);
    }

    /// Ends memory that was taken and not used: gone at once, or kept and booked until it can be ended.
    ///
    /// @param left made before the memory was taken
    void endUnused(SlabSupplier.Memory memory, Unused left) {
        left.memory = memory;
        endUnused(left);
    }

    private void endUnused(Unused left) {
        SlabSupplier.Memory memory = left.memory;
        boolean ended = memory == null;
        try {
            if (memory != null) {
                memory.end();
                ended = true;
            }
        } catch (IllegalStateException notNow) {
            // a system call is in it
        } catch (Throwable failed) {
            keep(failed);
        }
        if (!ended) {
            left.next = unused;
            unused = left;
        } else if (memory == null) {
            unbook(left.bytes);
        } else {
            unbookGiven(left.bytes, false);
        }
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

    /// Tries again what could not be given back, and gives back what is not for another buffer.
    void endQuarantined() {
        failure = null;
        ending.drain(each -> giveBack(each, retired));
        Unused left = unused;
        unused = null;
        while (left != null) {
            Unused next = left.next;
            endUnused(left);
            left = next;
        }
    }

    /// The failure of slabs that cannot be given back still.
    ///
    /// @return null if nothing does, or it was told already
    @Nullable
    Throwable takeFailure() {
        Throwable taken = failure;
        failure = null;
        return taken;
    }

    private void keep(Throwable failed) {
        if (failure == null) {
            failure = failed;
        }
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
        } catch (Throwable failed) {
            keep(failed);
        }
        if (then != null) {
            then.put(slab);
        }
        if (then != ending) {
            unbookGiven(slab.byteSize, slab.quarantined() > 0);
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

    private void endAddresses(SlabList withoutPages) {
        withoutPages.drain(each -> {
            boolean ended = false;
            try {
                each.memory.end();
                ended = true;
            } catch (IllegalStateException notNow) {
                // a system call is in it
            } catch (Throwable failed) {
                keep(failed);
            }
            if (!ended) {
                withoutPages.put(each);
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
