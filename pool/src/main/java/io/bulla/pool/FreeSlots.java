// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import org.jspecify.annotations.Nullable;

/// Slots that are at home in their slabs: in no cache, so that they do not hold the slab. Guarded by the lock of
/// [Slabs].
final class FreeSlots {

    private final @Nullable Slot[] lists = new @Nullable Slot[SizeClasses.COUNT];

    /// Brings linked slots of a class home: their slabs are held by them no more.
    void bring(int sizeClass, @Nullable Slot first) {
        for (Slot slot = first; slot != null; ) {
            Slot next = slot.next;
            slot.next = lists[sizeClass];
            lists[sizeClass] = slot;
            slot.slab.leave();
            slot = next;
        }
    }

    /// Takes as many slots as a list of a magazine has, as far as there are.
    ///
    /// @return false if there is none
    boolean take(int sizeClass, Chain into) {
        int most = Magazine.slots(sizeClass);
        Slot first = null;
        int count = 0;
        while (lists[sizeClass] != null && count < most) {
            Slot slot = lists[sizeClass];
            lists[sizeClass] = slot.next;
            // a slot of a slab that has come to its end is no slot any more
            if (slot.slab.hold(1)) {
                slot.next = first;
                first = slot;
                count++;
            }
        }
        into.of(first, count);
        return count > 0;
    }

    /// Forgets the slots of slabs that have come to their end.
    void forgetGone() {
        for (int i = 0; i < lists.length; i++) {
            Slot kept = null;
            for (Slot slot = lists[i]; slot != null; ) {
                Slot next = slot.next;
                if (slot.slab.holders() > 0) {
                    slot.next = kept;
                    kept = slot;
                }
                slot = next;
            }
            lists[i] = kept;
        }
    }

    /// Bytes of slots whose slab's life goes on.
    long bytes() {
        long bytes = 0;
        for (Slot first : lists) {
            for (Slot slot = first; slot != null; slot = slot.next) {
                bytes += slot.slab.holders() == 0 ? 0 : slot.byteSize();
            }
        }
        return bytes;
    }
}
