// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/// Slabs without a source: it notes which of them came to their end. Their memory ends with it.
final class Home extends Slab.Owner implements AutoCloseable {

    final List<Slab> emptied = new ArrayList<>();
    private final Arena arena = Arena.ofConfined();

    /// One whose holder is the caller.
    Slab slab(long bytes) {
        return new Slab(this, new ArenaMemory(arena, arena.allocate(bytes)));
    }

    /// A slot that is all of a slab, and its holder.
    Slot whole(long bytes) {
        Slab slab = slab(bytes);
        return new Slot(slab, slab.memory.segment(), Slot.WHOLE);
    }

    /// Linked slots, each a holder of the slab.
    static Slot linked(Slab slab, int sizeClass, int count) {
        Slot first = null;
        for (int i = 0; i < count; i++) {
            Slot slot = new Slot(
                    slab,
                    slab.memory
                            .segment()
                            .asSlice((long) i * SizeClasses.bytes(sizeClass), SizeClasses.bytes(sizeClass)),
                    sizeClass);
            slot.next = first;
            first = slot;
        }
        slab.hold(count);
        return first;
    }

    static List<Slot> slots(Chain chain) {
        List<Slot> slots = new ArrayList<>();
        for (Slot slot = chain.first; slot != null; slot = slot.next) {
            slots.add(slot);
        }
        return slots;
    }

    @Override
    void giveBack(Slot slot) {
        throw new AssertionError("no region is here");
    }

    @Override
    void quarantine(Slot slot) {
        throw new AssertionError("no region is here");
    }

    @Override
    void emptied(Slab slab) {
        emptied.add(slab);
    }

    @Override
    void heldAfterTheEnd(int slabs) {
        throw new AssertionError("no source is here");
    }

    @Override
    public void close() {
        arena.close();
    }
}
