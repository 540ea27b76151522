// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.pool.SlabSource;
import io.bulla.testkit.internal.Ballast;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/// Takes slots of a pool, and gives them back, while the heap has room for no object, for one, for two ...: so that
/// each allocation on the way fails once, those behind the taking of a slot too. In a JVM of its own, in which an
/// object takes its bytes and no more: `-Xint -XX:-UseTLAB`.
final class SlotSweep {

    /// Of a class of which a list has 16 slots.
    private static final int BYTES = 4096;

    private static final int OTHER_BYTES = 256;
    private static final int MANY = 64;

    private static MemoryBudget budget;
    private static SlabSource source;
    private static final Region[] taken = new Region[MANY];
    private static int count;
    private static int refused;

    private SlotSweep() {}

    /// On which way the heap is full.
    private enum Way {
        /// A thread takes its first slot.
        FIRST(false, 96, 20),
        /// A thread takes its first slot of a class, and one is carved for it.
        CARVED(false, 96, 20),
        /// A thread takes its first slot of a class, which others have given to the depot.
        DEPOT(false, 16, 16),
        /// A thread gives back more than it keeps at hand.
        SPILLED(true, 16, 4),
        /// A thread gives back what another one has taken, and keeps nothing at hand.
        FOREIGN(true, 16, 12);

        private final boolean gives;
        // bytes of heap, more each time
        private final int step;
        // until there is surely enough
        private final int steps;

        Way(boolean gives, int step, int steps) {
            this.gives = gives;
            this.step = step;
            this.steps = steps;
        }

        void prepare() throws InterruptedException {
            switch (this) {
                case FIRST -> onAnotherThread(() -> source.allocate(OTHER_BYTES).release());
                case CARVED -> source.allocate(OTHER_BYTES).release();
                case DEPOT -> {
                    onAnotherThread(() -> {
                        take(MANY);
                        giveBack();
                    });
                    source.allocate(OTHER_BYTES).release();
                }
                case SPILLED -> take(MANY);
                case FOREIGN -> onAnotherThread(() -> take(MANY));
            }
        }
    }

    public static void main(String... unused) throws InterruptedException {
        StringBuilder said = new StringBuilder();
        // before the heap is full for the first time: a class whose first use fails there is broken for good
        warmSweeper();
        for (Way way : Way.values()) {
            // classes are loaded, and calls are linked
            step(way, 1 << 20);
            warmSweeper();
            refused = 0;
            int lost = 0;
            for (int i = 0; i < way.steps; i++) {
                lost += step(way, i * way.step);
            }
            said.append(way)
                    .append(" refused=")
                    .append(refused > 0)
                    .append(" lost=")
                    .append(lost)
                    .append('\n');
        }
        System.out.print(said);
    }

    /// What the thread that gives memory back does is loaded, too.
    private static void warmSweeper() {
        try (SlabSource other = SlabSource.create()) {
            other.allocate(BYTES).release();
            other.trim();
            other.figures();
        }
    }

    /// @return 1 if a slot did not come back, or came back twice
    private static int step(Way way, int free) throws InterruptedException {
        budget = new MemoryBudget(64 << 20);
        source = SlabSource.builder().budget(budget).build();
        way.prepare();
        Ballast ballast = new Ballast(free);
        ballast.fill();
        try {
            if (way.gives) {
                giveBack();
            } else {
                take(1);
            }
        } catch (OutOfMemoryError full) {
            refused++;
        } finally {
            ballast.drop();
        }
        giveBack();
        return isWhole() ? 0 : 1;
    }

    /// Every slot is one region's at a time, and all come home.
    private static boolean isWhole() throws InterruptedException {
        take(MANY);
        Set<Long> addresses = new HashSet<>();
        for (int i = 0; i < count; i++) {
            addresses.add(taken[i].segment().address());
        }
        giveBack();
        try {
            source.close(Duration.ofSeconds(10));
        } catch (IllegalStateException stays) {
            return false;
        }
        return addresses.size() == MANY && budget.used() == 0;
    }

    private static void take(int slots) {
        for (int i = 0; i < slots; i++) {
            taken[count] = source.allocate(BYTES);
            count++;
        }
    }

    /// What fails is given back, and its failure is the caller's.
    private static void giveBack() {
        while (count > 0) {
            count--;
            taken[count].release();
        }
    }

    private static void onAnotherThread(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work);
        thread.start();
        thread.join();
    }
}
