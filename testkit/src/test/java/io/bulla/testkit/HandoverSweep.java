// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.testkit.internal.Ballast;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/// Hands memory to a buffer, closes one that was handed its memory, and ends a device's hold, while the heap has room
/// for no object, for one, for two ...: so that each allocation on the way fails once. In a JVM of its own, in which
/// an object takes its bytes and no more: `-Xint -XX:-UseTLAB`.
final class HandoverSweep {

    private static final int STEP = 16;
    private static final int STEPS = 64;
    private static final int BYTES = 64;

    private static final AtomicInteger released = new AtomicInteger();
    private static SealedBuffer buffer;

    private HandoverSweep() {}

    private static final class Device implements Slab.Holder {

        @Override
        public Object owner() {
            return this;
        }

        @Override
        public void wanted() {}
    }

    private enum Way {
        /// A region that a device has filled.
        FILLED {
            @Override
            boolean step(Ballast ballast) {
                MemoryBudget budget = new MemoryBudget(64 << 20);
                SlabSource source = SlabSource.builder().budget(budget).build();
                Region region = source.allocate(BYTES);
                boolean passed = full(ballast, () -> buffer = source.sealFilled(region, BYTES));
                if (passed) {
                    buffer.close();
                }
                source.close();
                lost += budget.used() == 0 ? 0 : 1;
                return passed;
            }
        },
        /// Memory that the caller keeps, at its last close.
        ADOPTED {
            @Override
            boolean step(Ballast ballast) {
                long before = MemoryBudget.adopted();
                MemorySegment memory = Arena.ofAuto().allocate(BYTES);
                buffer = SealedBuffer.adopt(memory, released::incrementAndGet);
                released.set(0);
                boolean passed = full(ballast, buffer::close);
                lost += released.get() == 1 && MemoryBudget.adopted() == before ? 0 : 1;
                return passed;
            }
        },
        /// A slab that two devices know, and one of them lets go.
        KNOWN {
            @Override
            boolean step(Ballast ballast) {
                MemoryBudget budget = new MemoryBudget(64 << 20);
                SlabSource source = SlabSource.builder().budget(budget).build();
                Region region = source.allocate(BYTES);
                Slab slab = Objects.requireNonNull(Slab.of(region));
                Device one = new Device();
                Device other = new Device();
                slab.hold(one);
                slab.hold(other);
                boolean passed = full(ballast, () -> slab.letGo(one));
                boolean isOthers = slab.holder(one) == null && slab.holder(other) == other;
                slab.letGo(other);
                region.release();
                source.close();
                lost += isOthers && budget.used() == 0 ? 0 : 1;
                return passed;
            }
        };

        int lost;

        /// @return whether there was heap enough
        abstract boolean step(Ballast ballast);

        private static boolean full(Ballast ballast, Runnable work) {
            ballast.fill();
            try {
                work.run();
                return true;
            } catch (OutOfMemoryError full) {
                return false;
            } finally {
                ballast.drop();
            }
        }
    }

    public static void main(String... unused) {
        StringBuilder said = new StringBuilder();
        for (Way way : Way.values()) {
            // classes are loaded, and calls are linked
            way.step(new Ballast(1 << 20));
            int failed = 0;
            int passed = 0;
            for (int i = 0; i < STEPS; i++) {
                if (way.step(new Ballast(i * STEP))) {
                    passed++;
                } else {
                    failed++;
                }
            }
            said.append(way)
                    .append(" failed=")
                    .append(failed > 0)
                    .append(" passed=")
                    .append(passed > 0)
                    .append(" lost=")
                    .append(way.lost)
                    .append('\n');
        }
        System.out.print(said);
    }
}
