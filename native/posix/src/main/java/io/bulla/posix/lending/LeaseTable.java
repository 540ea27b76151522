// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.SealedBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What one borrower has: the lender's private memory, which the borrower never writes. It is asked with
/// every word that the borrower says. Under its owner's lock.
///
/// A slot's generation grows with each use, so a notice that comes twice, or late, names a lease that is
/// none.
final class LeaseTable {

    private static final class Slot {

        private final int index;
        private int generation;
        // null while it is free
        private @Nullable SealedBuffer handle;
        private @Nullable LentSlab slab;
        private FlightEvents.@Nullable Lent event;
        private long bytes;

        private Slot(int index) {
            this.index = index;
        }
    }

    private final SlabQuota quota;
    private final List<Slot> slots = new ArrayList<>();
    // as long as the slots, so that giving back allocates nothing
    private int[] free = new int[0];
    private int freeCount;
    private long bytes;

    LeaseTable(SlabQuota quota) {
        this.quota = quota;
    }

    /// Leases out.
    int size() {
        return slots.size() - freeCount;
    }

    /// Bytes of the leases out.
    long bytes() {
        return bytes;
    }

    /// Whether the quota allows one more.
    boolean hasRoom(long length) {
        return size() < quota.leases() && length <= quota.bytes() - bytes;
    }

    /// A slot for the next lease; it is free until [#put].
    int prepare() {
        if (freeCount == 0) {
            if (free.length == slots.size()) {
                // no place is free, so there is nothing to copy
                free = new int[Math.max(16, 2 * slots.size())];
            }
            slots.add(new Slot(slots.size()));
            free[freeCount++] = slots.size() - 1;
        }
        return free[freeCount - 1];
    }

    int generation(int slot) {
        return slots.get(slot).generation;
    }

    /// Lends. Cannot fail.
    ///
    /// @param slot that was prepared last
    /// @param handle the table's from now on
    /// @param event told of the lease's end
    void put(int slot, SealedBuffer handle, LentSlab slab, long length, FlightEvents.@Nullable Lent event) {
        Slot lent = slots.get(slot);
        freeCount--;
        lent.handle = handle;
        lent.slab = slab;
        lent.event = event;
        lent.bytes = length;
        slab.leases++;
        bytes += length;
    }

    /// Ends a lease, if the borrower has it.
    ///
    /// @return the handle, to be closed; `null` if there is no such lease
    @Nullable
    SealedBuffer take(int slot, int generation, long slab) {
        if (slot < 0 || slot >= slots.size()) {
            return null;
        }
        Slot lent = slots.get(slot);
        LentSlab on = lent.slab;
        return on == null || lent.generation != generation || on.id() != slab ? null : take(lent, true);
    }

    /// Ends any lease.
    ///
    /// @return `null` if there is none left
    @Nullable
    SealedBuffer takeAny() {
        for (Slot each : slots) {
            if (each.handle != null) {
                return take(each, false);
            }
        }
        return null;
    }

    private @Nullable SealedBuffer take(Slot lent, boolean returned) {
        SealedBuffer handle = lent.handle;
        FlightEvents.Lent event = lent.event;
        LentSlab on = lent.slab;
        if (on != null) {
            on.leases--;
        }
        bytes -= lent.bytes;
        lent.handle = null;
        lent.slab = null;
        lent.event = null;
        lent.generation++;
        free[freeCount++] = lent.index;
        FlightEvents.ended(event, returned);
        return handle;
    }
}
