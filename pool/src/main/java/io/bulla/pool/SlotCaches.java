// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import io.bulla.refcount.internal.StillHeld;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Takes and gives back the slots of one [SlabSource]: by the thread's magazine, else by the depot, else by [Slabs].
final class SlotCaches extends Slab.Owner {

    private static final int TABLE = 256;
    // the argument of Magazine, ordering 1, is one about this virtual machine
    private static final boolean OWNERS = System.getProperty("java.vm.name", "").matches(".*(OpenJDK|HotSpot).*");

    private final Slabs slabs;
    final Depot[] depots = new Depot[SizeClasses.COUNT];
    private final long magazineBytes;
    // plain: a thread takes only what it has put there itself, which it tells by the owner
    private final @Nullable Magazine[] table = new @Nullable Magazine[TABLE];
    final Magazine[] stripes;
    private final StillHeld stillHeld;

    SlotCaches(
            SlabSupplier supplier,
            MemoryBudget budget,
            long magazineBytes,
            long idleNanos,
            Function<BooleanSupplier, Sweeper> sweepers,
            StillHeld stillHeld) {
        this.stillHeld = stillHeld;
        this.magazineBytes = magazineBytes;
        for (int i = 0; i < depots.length; i++) {
            depots[i] = new Depot();
        }
        this.stripes = new Magazine[stripes(Runtime.getRuntime().availableProcessors())];
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new Magazine(null, magazineBytes);
        }
        this.slabs = new Slabs(this, supplier, budget, depots, stripes, idleNanos, sweepers);
    }

    /// As many as there are processors, or up to twice as many: a power of two, from 2 to 16.
    static int stripes(int processors) {
        return Math.clamp(Integer.highestOneBit(2 * processors - 1), 2, 16);
    }

    Slabs slabs() {
        return slabs;
    }

    /// Takes a slot of at least some bytes.
    ///
    /// @throws MemoryLimitException if the budget forbids another slab, and none is idle
    Slot take(long byteSize) {
        try {
            return takeOnce(byteSize);
        } catch (MemoryLimitException | OutOfMemoryError full) {
            // outside of the lock: a holder calls its device
            if (!slabs.askHolders()) {
                throw full;
            }
            return takeOnce(byteSize);
        }
    }

    private Slot takeOnce(long byteSize) {
        return byteSize > SizeClasses.LARGEST ? slabs.whole(byteSize) : takeOf(SizeClasses.of(byteSize));
    }

    private Slot takeOf(int sizeClass) {
        Magazine mine = entered();
        if (mine != null) {
            try {
                Slot slot = mine.take(sizeClass);
                if (slot != null) {
                    return slot;
                }
                // its heap is there before a chain is taken
                mine.prepare(sizeClass);
                Chain chain = depots[sizeClass].poll();
                if (chain != null) {
                    mine.load(sizeClass, Objects.requireNonNull(chain.first), chain.count);
                    return Objects.requireNonNull(mine.take(sizeClass));
                }
            } finally {
                mine.exit();
            }
        }
        return refill(sizeClass);
    }

    private Slot refill(int sizeClass) {
        Chain chain = depots[sizeClass].poll();
        if (chain == null) {
            chain = slabs.supply(sizeClass);
        }
        Slot first = Objects.requireNonNull(chain.first);
        Slot rest = first.next;
        first.next = null;
        if (rest != null) {
            keep(sizeClass, rest, chain.count - 1);
        }
        return first;
    }

    private void keep(int sizeClass, Slot first, int count) {
        Magazine mine = entered();
        if (mine != null) {
            try {
                if (mine.isEmpty(sizeClass)) {
                    mine.prepare(sizeClass);
                    mine.load(sizeClass, first, count);
                    return;
                }
            } catch (OutOfMemoryError noStack) {
                // to the depot
            } finally {
                mine.exit();
            }
        }
        deposit(sizeClass, first, count);
    }

    /// To the depot; where there is no heap for that, home.
    private void deposit(int sizeClass, Slot first, int count) {
        try {
            if (!slabs.isClosed()) {
                depots[sizeClass].put(depots[sizeClass].chain().of(first, count));
                return;
            }
        } catch (OutOfMemoryError e) {
            // a close must not fail for want of speed: below
        }
        for (Slot slot = first; slot != null; ) {
            // read first: the slab may be another's after the leave
            Slot next = slot.next;
            slot.slab.leave();
            slot = next;
        }
    }

    @Override
    void giveBack(Slot slot) {
        int sizeClass = slot.sizeClass;
        if (sizeClass == Slot.WHOLE || slot.slab.drains()) {
            giveHome(slot);
            return;
        }
        Magazine mine = entered();
        if (mine == null) {
            slot.next = null;
            deposit(sizeClass, slot, 1);
            return;
        }
        if (mine.owner == null && Magazine.slots(sizeClass) == 1) {
            // what a handler on a virtual thread gives back is taken next by the thread that receives, still warm
            mine.exit();
            slot.next = null;
            deposit(sizeClass, slot, 1);
        } else if (mine.tryGive(slot)) {
            mine.exit();
        } else {
            spill(mine, slot);
        }
    }

    private void giveHome(Slot slot) {
        if (slot.sizeClass == Slot.WHOLE && slot.slab.isHeldByDevices() && !slabs.isClosed()) {
            slot.next = null;
            slabs.keepWhole(slot);
        } else {
            slot.slab.leave();
        }
    }

    private void spill(Magazine mine, Slot slot) {
        int sizeClass = slot.sizeClass;
        try {
            while (!mine.hasRoom(sizeClass)) {
                depots[sizeClass].put(mine.spill(sizeClass, depots[sizeClass].chain()));
            }
            mine.give(slot);
        } catch (OutOfMemoryError noChain) {
            slot.slab.leave();
        } finally {
            mine.exit();
        }
    }

    @Override
    void quarantine(Slot slot) {
        slot.slab.quarantine(slot.byteSize());
    }

    @Override
    void emptied(Slab slab) {
        slabs.emptied(slab);
    }

    @Override
    void heldAfterTheEnd(int open) {
        stillHeld.look(open, System.nanoTime());
    }

    /// The thread's magazine, entered, or null: the thread has to do without.
    private @Nullable Magazine entered() {
        Thread me = Thread.currentThread();
        // plain: compared with the reader's own thread, which wrote it if they are the same
        Magazine mine = table[(int) me.threadId() & TABLE - 1];
        return mine != null && mine.owner == me && mine.tryEnter() ? mine : find(me);
    }

    private @Nullable Magazine find(Thread me) {
        if (slabs.isClosed()) {
            return null;
        }
        if (me.isVirtual() || !OWNERS) {
            int home = (int) me.threadId();
            for (int i = 0; i < stripes.length; i++) {
                Magazine shared = stripes[home + i & stripes.length - 1];
                if (shared.tryEnter()) {
                    return shared;
                }
            }
            return null;
        }
        Magazine mine = slabs.magazine(me, magazineBytes);
        if (mine == null || !mine.tryEnter()) {
            return null;
        }
        table[(int) me.threadId() & TABLE - 1] = mine;
        return mine;
    }
}
