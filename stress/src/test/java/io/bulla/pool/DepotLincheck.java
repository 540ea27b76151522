// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.Depot.Chain;
import io.bulla.pool.Slab.Slot;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/// The depot over the interleavings that the model checker reaches: no slot is lost, none is in two hands, no list
/// has a loop, and no thread waits for another.
///
/// Two chains, of one slot and of two, are taken and put again, so that a step of one thread can find the top that
/// it looked at after others have taken it and put it back.
public class DepotLincheck {

    /// Takes a chain, uses it, and puts its slots back.
    public abstract static class Operations extends PoolOperations {

        private final Depot depot = new Depot();

        Operations() {
            slots[1].next = slots[2];
            depot.put(new Chain().of(slots[0], 1));
            depot.put(new Chain().of(slots[1], 2));
        }

        /// @param old what the slots were polled in
        void put(Depot to, Chain old) {
            to.put(new Chain().of(old.first, old.count));
        }

        @Operation
        public void takeAndPut() {
            Chain chain = depot.poll();
            if (chain != null) {
                useAll(chain);
                put(depot, chain);
            }
        }

        /// The first one goes back below the second.
        @Operation
        public void takeTwoAndPut() {
            Chain first = depot.poll();
            if (first == null) {
                return;
            }
            Chain second = depot.poll();
            useAll(first);
            put(depot, first);
            if (second != null) {
                useAll(second);
                put(depot, second);
            }
        }

        private void useAll(Chain chain) {
            int left = chain.count;
            for (Slot slot = chain.first; slot != null; slot = slot.next) {
                use(slot);
                left--;
            }
            if (left != 0) {
                throw new AssertionError("a slot more or less than was put: count=" + chain.count + " left=" + left);
            }
        }

        @Validate
        public void noneIsLost() {
            checkAllAreThere(emptied(depot));
        }
    }

    public static class AsItIs extends Operations {}

    @Test
    void twoThreadsLoseNothing() {
        PoolOperations.twoThreads().check(AsItIs.class);
    }

    @Test
    void threeThreadsLoseNothing() {
        PoolOperations.threeThreads().check(AsItIs.class);
    }

    /// Puts the chain that it has polled: a poll of another thread, between its look and its step, is fooled.
    public static class ChainsPutAgain extends Operations {

        @Override
        void put(Depot to, Chain old) {
            to.put(old);
        }
    }

    @Test
    void catchesChainsThatArePutAgain() {
        String message = PoolOperations.caught(ChainsPutAgain.class);
        assertTrue(message.contains("slot"), message);
    }
}
