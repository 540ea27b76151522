// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Free slots that are whole slabs, and that a device knows: the next one who wants that size finds them registered
/// already. Lock-free.
final class LargeSlabCache {

    private final Depot depot;

    LargeSlabCache(Depot depot) {
        this.depot = depot;
    }

    /// Keeps a slot; it goes home if there is no heap for that.
    void keep(Slot slot) {
        try {
            // a fresh one: Depot 2
            depot.put(depot.chain().of(slot, 1));
        } catch (OutOfMemoryError noChain) {
            slot.slab.leave();
        }
    }

    /// Takes one of a size. Those of another size go back behind it.
    ///
    /// @return null if there is none
    @Nullable
    Slot take(long bytes) {
        Slot others = null;
        Slot found = null;
        for (Chain chain = depot.poll(); chain != null; chain = depot.poll()) {
            Slot slot = Objects.requireNonNull(chain.first);
            if (slot.byteSize() == bytes) {
                found = slot;
                break;
            }
            slot.next = others;
            others = slot;
        }
        while (others != null) {
            Slot next = others.next;
            others.next = null;
            keep(others);
            others = next;
        }
        return found;
    }

    /// Sends all home.
    void leave() {
        for (Chain chain = depot.poll(); chain != null; chain = depot.poll()) {
            leave(chain);
        }
    }

    /// Sends those home that were not needed since the last call.
    void leaveSpare() {
        for (int spare = depot.spare(); spare > 0; spare--) {
            Chain chain = depot.poll();
            if (chain != null) {
                leave(chain);
            }
        }
    }

    private static void leave(Chain chain) {
        Objects.requireNonNull(chain.first).slab.leave();
    }

    /// A guess.
    long bytes() {
        return depot.bytes();
    }
}
