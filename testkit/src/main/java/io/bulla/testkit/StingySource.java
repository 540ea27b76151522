// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Refuses every allocation after the first few.
public final class StingySource implements MemorySource {

    private final MemorySource source;
    private final AtomicInteger left;

    /// A source that hands out `regions` regions of `source`.
    ///
    /// @param source where they come from
    /// @param regions how many
    public StingySource(MemorySource source, int regions) {
        this.source = source;
        this.left = new AtomicInteger(regions);
    }

    @Override
    public Region allocate(long byteSize) {
        if (left.getAndDecrement() <= 0) {
            throw new IllegalStateException("stingy source refuses: requested=" + byteSize);
        }
        return source.allocate(byteSize);
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        return source.seal(region, used);
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return source.trace();
    }
}
