// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.pool.SlabSupplier;
import io.bulla.testkit.FaultPoints;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/// Slabs whose every call is a fault point: what takes memory or gives it back fails before it did.
final class FaultySupplier implements SlabSupplier {

    private final FaultPoints points;
    private final AtomicLong open = new AtomicLong();

    FaultySupplier(FaultPoints points) {
        this.points = points;
    }

    @Override
    public Memory take(long byteSize) {
        points.reach("SlabSupplier.take");
        Memory real = SlabSupplier.arenas().take(byteSize);
        open.incrementAndGet();
        return new Faulty(real);
    }

    /// Slabs that are not ended by then: the source's thread may be about to.
    long awaitEnded(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (open.get() != 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        return open.get();
    }

    private final class Faulty implements Memory {

        private final Memory real;
        private boolean ended;

        Faulty(Memory real) {
            this.real = real;
        }

        @Override
        public MemorySegment segment() {
            points.reach("SlabSupplier.Memory.segment");
            return real.segment();
        }

        @Override
        public boolean discard() {
            points.reach("SlabSupplier.Memory.discard");
            real.segment().fill((byte) 0);
            return true;
        }

        @Override
        public void end() {
            points.reach("SlabSupplier.Memory.end");
            real.end();
            if (!ended) {
                ended = true;
                open.decrementAndGet();
            }
        }
    }
}
