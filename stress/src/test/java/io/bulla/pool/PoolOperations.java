// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jspecify.annotations.Nullable;

/// What threads do with a pool's free slots. A slot that two threads have at the same time, and one that is lost, are
/// errors, which no order of the same calls has.
public abstract class PoolOperations {

    static final int CLASS = 0;
    static final int SLOTS = 3;
    // of every slot: no byte of it is looked at
    private static final MemorySegment MEMORY = MemorySegment.ofArray(new byte[SizeClasses.bytes(CLASS)]);

    final Slot[] slots = new Slot[SLOTS];
    // how many users a slot has
    private final AtomicIntegerArray users = new AtomicIntegerArray(SLOTS);

    PoolOperations() {
        for (int i = 0; i < SLOTS; i++) {
            // no slab: what is checked here ends before home
            slots[i] = new Slot(null, MEMORY, CLASS);
        }
    }

    /// As a buffer uses it: for a while, and alone.
    final void use(Slot slot) {
        int which = number(slot);
        if (users.getAndIncrement(which) != 0) {
            throw new AssertionError("a slot in two hands: slot=" + which);
        }
        users.getAndDecrement(which);
    }

    /// Every slot is in one of these lists, once.
    final void checkAllAreThere(@Nullable Slot... lists) {
        int[] found = new int[SLOTS];
        for (Slot first : lists) {
            for (Slot slot = first; slot != null; slot = slot.next) {
                if (++found[number(slot)] > 1) {
                    throw new AssertionError("a slot in two lists, or in a loop: slot=" + number(slot));
                }
            }
        }
        for (int i = 0; i < SLOTS; i++) {
            if (found[i] == 0) {
                throw new AssertionError("a slot is lost: slot=" + i);
            }
        }
    }

    /// All that the depot has, as one list.
    static @Nullable Slot emptied(Depot depot) {
        Slot all = null;
        int steps = 0;
        for (Chain chain = depot.poll(); chain != null; chain = depot.poll()) {
            for (Slot slot = chain.first; slot != null; ) {
                if (++steps > SLOTS) {
                    throw new AssertionError("more than every slot: steps=" + steps);
                }
                Slot next = slot.next;
                slot.next = all;
                all = slot;
                slot = next;
            }
        }
        return all;
    }

    private int number(Slot slot) {
        for (int i = 0; i < SLOTS; i++) {
            if (slots[i] == slot) {
                return i;
            }
        }
        throw new AssertionError("not a slot of these: " + slot);
    }

    static ModelCheckingOptions twoThreads() {
        return options().iterations(60).threads(2).actorsPerThread(3);
    }

    static ModelCheckingOptions threeThreads() {
        return options().iterations(30).threads(3).actorsPerThread(2);
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .invocationsPerIteration(1000)
                .actorsBefore(0)
                .actorsAfter(0)
                .checkObstructionFreedom(true);
    }

    static String caught(Class<? extends PoolOperations> broken) {
        try {
            twoThreads().check(broken);
        } catch (LincheckAssertionError found) {
            return String.valueOf(found.getMessage());
        }
        throw new AssertionError("not caught: " + broken.getSimpleName());
    }
}
