// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Magazines over the interleavings that the model checker reaches, in the steps in which `SlabSource` and `Slabs`
/// call them: no slot is lost and none is in two hands, beside other users of a shared one, and beside a thread
/// that revokes an owner's.
///
/// The checker knows interleavings, no reordering. So the handshake is left out here: what it is for is argued in
/// `Magazine`, ordering 1.
public class MagazineLincheck {

    /// A magazine with two slots, and the depot behind it with one.
    public abstract static class Operations extends PoolOperations {

        private final Depot depot = new Depot();
        private final Magazine magazine;
        // what was taken over
        private @Nullable Slot home;

        Operations(@Nullable Thread owner) {
            magazine = new Magazine(owner, Long.MAX_VALUE);
            magazine.give(slots[0]);
            magazine.give(slots[1]);
            depot.put(new Chain().of(slots[2], 1));
        }

        /// Whether what a revoked magazine has may be taken.
        boolean mayBeTaken(Magazine revoked) {
            return revoked.isLeft();
        }

        final void takeUseAndGive() {
            Slot slot = take();
            if (slot != null) {
                use(slot);
                give(slot);
            }
        }

        private @Nullable Slot take() {
            if (magazine.tryEnter()) {
                try {
                    Slot slot = magazine.take(CLASS);
                    if (slot != null) {
                        return slot;
                    }
                } finally {
                    magazine.exit();
                }
            }
            Chain chain = depot.poll();
            if (chain == null) {
                return null;
            }
            Slot first = chain.first;
            Slot rest = first.next;
            first.next = null;
            if (rest != null) {
                depot.put(new Chain().of(rest, chain.count - 1));
            }
            return first;
        }

        private void give(Slot slot) {
            if (magazine.tryEnter()) {
                try {
                    magazine.give(slot);
                } finally {
                    magazine.exit();
                }
            } else {
                slot.next = null;
                depot.put(new Chain().of(slot, 1));
            }
        }

        final void spillAll() {
            if (magazine.tryEnter()) {
                try {
                    while (!magazine.isEmpty(CLASS)) {
                        depot.put(magazine.spill(CLASS, new Chain()));
                    }
                } finally {
                    magazine.exit();
                }
            }
        }

        final void takeOver() {
            magazine.revoke();
            if (mayBeTaken(magazine)) {
                for (Slot slot = magazine.unload(CLASS); slot != null; ) {
                    Slot next = slot.next;
                    slot.next = home;
                    home = slot;
                    slot = next;
                }
            }
        }

        @Validate
        public void noneIsLost() {
            checkAllAreThere(magazine.unload(CLASS), emptied(depot), home);
        }
    }

    /// Virtual threads on one stripe.
    public static class Shared extends Operations {

        public Shared() {
            this(null);
        }

        Shared(@Nullable Thread owner) {
            super(owner);
        }

        @Operation
        public void use() {
            takeUseAndGive();
        }

        @Operation
        public void spill() {
            spillAll();
        }
    }

    /// An owner beside the thread that trims. `SlabSource` tells who the owner is; here it is who runs that group.
    public static class Owned extends Operations {

        public Owned() {
            super(Thread.currentThread());
        }

        @Operation(nonParallelGroup = "owner")
        public void use() {
            takeUseAndGive();
        }

        @Operation(nonParallelGroup = "owner")
        public void spill() {
            spillAll();
        }

        @Operation(nonParallelGroup = "trimmer")
        public void trim() {
            takeOver();
        }
    }

    @Test
    void sharedOneIsOneThreadsAtATime() {
        PoolOperations.twoThreads().check(Shared.class);
        PoolOperations.threeThreads().check(Shared.class);
    }

    @Test
    void revokedOneIsTheRevokingThreads() {
        PoolOperations.twoThreads().check(Owned.class);
    }

    /// Two threads come in the owner's way, without an atomic step.
    public static class SharedWithoutStep extends Shared {

        public SharedWithoutStep() {
            super(Thread.currentThread());
        }
    }

    @Test
    void catchesTwoThatComeInTheOwnersWay() {
        assertCaught(SharedWithoutStep.class);
    }

    /// Takes the slots without a look at whether the owner is in.
    public static class TakenOverWhileBusy extends Owned {

        @Override
        boolean mayBeTaken(Magazine revoked) {
            return true;
        }
    }

    @Test
    void catchesATakeOverBesideTheOwner() {
        assertCaught(TakenOverWhileBusy.class);
    }

    private static void assertCaught(Class<? extends PoolOperations> broken) {
        String message = PoolOperations.caught(broken);
        assertTrue(message.contains("slot"), message);
    }
}
