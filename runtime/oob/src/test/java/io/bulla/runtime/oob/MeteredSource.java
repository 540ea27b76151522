// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/// Counts the bytes that are asked of another source: those out now, the most at a time, all.
final class MeteredSource implements MemorySource {

    private final MemorySource source;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();
    private final AtomicLong total = new AtomicLong();

    MeteredSource(MemorySource source) {
        this.source = source;
    }

    long used() {
        return used.get();
    }

    long peak() {
        return peak.get();
    }

    long total() {
        return total.get();
    }

    /// The peak counts from now on.
    void forgetPeak() {
        peak.set(used.get());
    }

    private record Metered(Region region, long bytes, AtomicLong used) implements Region {

        @Override
        public MemorySegment segment() {
            return region.segment();
        }

        @Override
        public void release() {
            region.release();
            used.addAndGet(-bytes);
        }
    }

    @Override
    public Region allocate(long byteSize) {
        Region region = source.allocate(byteSize);
        total.addAndGet(byteSize);
        long now = used.addAndGet(byteSize);
        peak.accumulateAndGet(now, Math::max);
        return new Metered(region, byteSize, used);
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        return source.seal(((Metered) region).region, used);
    }

    @Override
    public LeaseTrace trace() {
        return source.trace();
    }
}
