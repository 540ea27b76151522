// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import io.bulla.checks.sim.world.World;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongSupplier;

/// A processor of a simulated machine: one thing after the other, in the order in which they came, each as long as
/// it says that it took.
final class Processor {

    private final World world;
    private final long wakeNanos;
    private final Queue<LongSupplier> waiting = new ArrayDeque<>(2);
    private boolean busy;

    /// @param wakeNanos until an idle one begins
    Processor(World world, long wakeNanos) {
        this.world = world;
        this.wakeNanos = wakeNanos;
    }

    /// @param what answers how long it took, in nanoseconds
    void run(LongSupplier what) {
        waiting.add(what);
        if (!busy) {
            busy = true;
            world.after(wakeNanos, this::next);
        }
    }

    private void next() {
        LongSupplier what = waiting.poll();
        if (what == null) {
            busy = false;
        } else {
            world.after(what.getAsLong(), this::next);
        }
    }
}
