// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The slabs that slots are carved from, each from its start to its end: the source holds them meanwhile. What does
/// not fit into the rest of one goes into the next; smaller ones fill the rest, that of the oldest slab first.
/// Guarded by the lock of [Slabs].
final class Carving {

    /// Slabs at most. Of more, the one with the least room is left, and its rest is lost to it.
    static final int MOST = 8;

    // with room for them all from the start
    private final List<Slab> slabs = new ArrayList<>(MOST);

    /// @return false if no slab has room
    boolean carve(int sizeClass, Chain into) {
        int bytes = SizeClasses.bytes(sizeClass);
        for (int i = 0; i < slabs.size(); i++) {
            Slab from = slabs.get(i);
            if (room(from) >= bytes) {
                carve(from, sizeClass, bytes, into);
                if (room(from) < SizeClasses.SMALLEST) {
                    leave(i);
                }
                return true;
            }
        }
        return false;
    }

    private static void carve(Slab from, int sizeClass, int bytes, Chain into) {
        int count = (int) Math.min(Magazine.slots(sizeClass), room(from) / bytes);
        Slot first = slots(from, sizeClass, bytes, count);
        // nothing below can fail: the source holds the slab that it carves
        from.hold(count);
        from.carved += (long) count * bytes;
        into.of(first, count);
    }

    private static long room(Slab slab) {
        return slab.byteSize - slab.carved;
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

    /// Goes on with one more slab, whose one holder is the caller. Takes no memory.
    void goOn(Slab fresh) {
        if (slabs.size() == MOST) {
            leave(fullest());
        }
        slabs.add(fresh);
    }

    private int fullest() {
        int found = 0;
        for (int i = 1; i < slabs.size(); i++) {
            if (room(slabs.get(i)) < room(slabs.get(found))) {
                found = i;
            }
        }
        return found;
    }

    private void leave(int index) {
        slabs.remove(index).leave();
    }

    void leave() {
        while (!slabs.isEmpty()) {
            leave(slabs.size() - 1);
        }
    }

    /// Leaves slabs of which nothing is in use.
    void leaveUnused() {
        for (int i = slabs.size() - 1; i >= 0; i--) {
            if (isOnlyCarved(slabs.get(i))) {
                leave(i);
            }
        }
    }

    /// The same, of those of which nothing was carved since the last call.
    void leaveUnusedIfQuiet() {
        for (int i = slabs.size() - 1; i >= 0; i--) {
            Slab each = slabs.get(i);
            if (each.carved == each.carvedThen && isOnlyCarved(each)) {
                leave(i);
            }
            each.carvedThen = each.carved;
        }
    }

    /// Held by its source, and by devices if any.
    private static boolean isOnlyCarved(Slab slab) {
        return slab.holders() == 1 + slab.holderCount();
    }
}
