// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.testkit.internal.Ballast;
import java.time.Duration;

/// Takes regions while the heap has room for no object, for one, for two ...: so that each allocation on the way
/// fails once, those behind the taking of memory too. In a JVM of its own, in which an object takes its bytes and no
/// more: `-Xint -XX:-UseTLAB`.
final class HeapSweep {

    private static final int STEP = 16;
    private static final int LARGE = 1 << 20;
    private static final int SMALL = 64;

    private static MemoryBudget budget;
    private static ArenaSource source;
    private static final Region[] taken = new Region[1 << 10];
    private static int failed;
    private static int passed;

    private HeapSweep() {}

    /// How the region is taken.
    private enum Way {
        /// With a chunk of its own.
        ALONE(LARGE, LARGE, 1 << 10),
        /// Carved from a block that has room.
        CARVED(SMALL, SMALL, 256),
        /// Carved from the first block of a fresh chunk.
        CHUNK(SMALL, 0, 1 << 10),
        /// Carved from one block more of a chunk.
        BLOCK(SMALL, 256 << 10, 1 << 10);

        private final int bytes;
        private final int before;
        // bytes of heap that are surely enough
        private final int enough;

        Way(int bytes, int before, int enough) {
            this.bytes = bytes;
            this.before = before;
            this.enough = enough;
        }
    }

    public static void main(String... unused) throws InterruptedException {
        StringBuilder said = new StringBuilder();
        for (Way way : Way.values()) {
            // classes are loaded, and calls are linked
            step(way, 1 << 20);
            failed = 0;
            passed = 0;
            long lost = 0;
            // what another thread leaves may be room enough
            for (int tries = 0; tries < 20 && failed == 0; tries++) {
                lost += step(way, 0);
            }
            passed = 0;
            for (int free = 0; passed < 3 && free <= way.enough; free += STEP) {
                lost += step(way, free);
            }
            said.append(way)
                    .append(" failed=")
                    .append(failed > 0)
                    .append(" passed=")
                    .append(passed > 0)
                    .append(" lost=")
                    .append(lost)
                    .append('\n');
        }
        System.out.print(said);
    }

    /// @return bytes that did not come back, or came back twice
    private static long step(Way way, int free) throws InterruptedException {
        budget = new MemoryBudget(64 << 20);
        source = ArenaSource.builder().budget(budget).build();
        Region[] before = before(way);
        Ballast ballast = new Ballast(free);
        ballast.fill();
        // small ones until there is no room: what another thread leaves may be enough for a few
        int most = free == 0 && way == Way.CARVED ? taken.length : 1;
        int count = 0;
        try {
            while (count < most) {
                taken[count] = source.allocate(way.bytes);
                count++;
            }
            passed++;
        } catch (OutOfMemoryError full) {
            failed++;
        } catch (IllegalStateException wrong) {
            return LARGE;
        } finally {
            ballast.drop();
        }
        for (int i = 0; i < count; i++) {
            taken[i].release();
            taken[i] = null;
        }
        long lost = 0;
        if (way == Way.ALONE) {
            // bytes given back twice are those of others
            for (int wait = 0; wait < 10_000 && source.openChunks() > 1; wait++) {
                Thread.sleep(1);
            }
            lost = Math.abs(budget.used() - LARGE);
        }
        for (Region region : before) {
            region.release();
        }
        try {
            source.close(Duration.ofSeconds(10));
        } catch (IllegalStateException stays) {
            return LARGE;
        }
        return lost + Math.abs(budget.used());
    }

    private static Region[] before(Way way) {
        if (way.before == 0) {
            return new Region[0];
        }
        if (way == Way.CARVED || way == Way.ALONE) {
            return new Region[] {source.allocate(way.before)};
        }
        Region[] regions = new Region[8];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = source.allocate(way.before / regions.length);
        }
        return regions;
    }
}
