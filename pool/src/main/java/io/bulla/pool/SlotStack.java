// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import org.jspecify.annotations.Nullable;

/// Free slots of one class in a magazine: the one that was given last is taken first. Its magazine's user has it.
///
/// A place keeps its slot when it is taken, until another one is given there. So a slot that comes and goes at the
/// same place is no write of a reference, which costs a collector's barrier.
final class SlotStack {

    private static final Slot[] NONE = {};

    private Slot[] slots = NONE;
    private int count;
    // how many slots may be here before the magazine is asked; never more than there are places
    private int room;

    int size() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    int room() {
        return room;
    }

    boolean hasRoom() {
        return count < room;
    }

    @Nullable
    Slot poll() {
        int last = count - 1;
        if (last < 0) {
            return null;
        }
        count = last;
        return slots[last];
    }

    /// @return false if there is no room
    boolean tryPush(Slot slot) {
        int at = count;
        if (at >= room) {
            return false;
        }
        Slot[] places = slots;
        if (places[at] != slot) {
            places[at] = slot;
        }
        count = at + 1;
        return true;
    }

    /// @throws OutOfMemoryError if there is no heap for the places
    void prepare(int places) {
        if (slots.length == 0) {
            slots = new Slot[places];
        }
    }

    void addRoom(int more) {
        room += more;
    }

    void closeRoom() {
        room = count;
    }

    /// Takes over linked slots, the first to be taken first; it is empty and has room for them.
    void load(Slot first, int number) {
        Slot slot = first;
        for (int i = number - 1; i >= 0 && slot != null; i--) {
            slots[i] = slot;
            slot = slot.next;
        }
        count = number;
    }

    /// Moves the slots that were given first into a chain.
    Chain moveInto(Chain chain, int most) {
        int moved = Math.min(count, most);
        chain.of(linked(moved), moved);
        System.arraycopy(slots, moved, slots, 0, count - moved);
        count -= moved;
        return chain;
    }

    /// All slots, linked; it is as fresh then.
    @Nullable
    Slot unload() {
        Slot first = linked(count);
        slots = NONE;
        count = 0;
        room = 0;
        return first;
    }

    /// The lowest ones, the one that was given last comes first.
    private @Nullable Slot linked(int number) {
        Slot first = null;
        for (int i = 0; i < number; i++) {
            Slot slot = slots[i];
            slot.next = first;
            first = slot;
        }
        return first;
    }
}
