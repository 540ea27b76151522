// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/// A source that knows how many bytes of its regions are in use, and the most that ever were.
final class LivePeak implements MemorySource {

    private record Counted(Region region, long byteSize, LivePeak meter) implements Region {

        @Override
        public MemorySegment segment() {
            return region.segment();
        }

        @Override
        public void release() {
            meter.live.addAndGet(-byteSize);
            region.release();
        }
    }

    private final MemorySource source;
    // volatile: sums that any thread adds to; each is a number of its own
    private final AtomicLong live = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();

    LivePeak(MemorySource source) {
        this.source = source;
    }

    long live() {
        return live.get();
    }

    long peak() {
        return peak.get();
    }

    /// From now on.
    void restart() {
        peak.set(live.get());
    }

    @Override
    public Region allocate(long byteSize) {
        Region region = source.allocate(byteSize);
        long size = region.byteSize();
        peak.accumulateAndGet(live.addAndGet(size), Math::max);
        return new Counted(region, size, this);
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        return source.seal(((Counted) region).region, used);
    }

    @Override
    public LeaseTrace trace() {
        return source.trace();
    }
}
