// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The slab that slots are carved from, from its start to its end: the source holds it meanwhile. Guarded by the lock
/// of [Slabs].
final class Carving {

    private @Nullable Slab slab;
    // when it was looked at last
    private long carvedThen;

    /// @return false if the slab has no room
    boolean carve(int sizeClass, Chain into) {
        int bytes = SizeClasses.bytes(sizeClass);
        Slab from = slab;
        if (from == null || from.carved + bytes > from.byteSize) {
            return false;
        }
        int count = (int) Math.min(Magazine.slots(sizeClass), (from.byteSize - from.carved) / bytes);
        Slot first = slots(from, sizeClass, bytes, count);
        // nothing below can fail: the source holds the slab that it carves
        from.hold(count);
        from.carved += (long) count * bytes;
        into.of(first, count);
        return true;
    }

    private static @Nullable Slot slots(Slab from, int sizeClass, int bytes, int count) {
        MemorySegment memory = from.memory.segment();
        Slot first = null;
        for (int i = count - 1; i >= 0; i--) {
            Slot slot = new Slot(from, memory.asSlice(from.carved + (long) i * bytes, bytes), sizeClass);
            slot.next = first;
            first = slot;
        }
        return first;
    }

    /// Goes on with another slab, whose one holder is the caller.
    void goOn(Slab fresh) {
        leave();
        slab = fresh;
    }

    void leave() {
        Slab left = slab;
        if (left != null) {
            slab = null;
            left.leave();
        }
    }

    /// Leaves a slab of which nothing is in use.
    void leaveUnused() {
        Slab now = slab;
        if (now != null && isOnlyCarved(now)) {
            leave();
        }
    }

    /// The same, if nothing was carved since the last call.
    void leaveUnusedIfQuiet() {
        Slab now = slab;
        if (now != null && now.carved == carvedThen) {
            leaveUnused();
        }
        carvedThen = slab == null ? 0 : slab.carved;
    }

    /// Held by its source, and by devices if any.
    private static boolean isOnlyCarved(Slab slab) {
        return slab.holders() == 1 + slab.holderCount();
    }
}
