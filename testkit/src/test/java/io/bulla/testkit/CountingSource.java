// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts the regions of a [PoisoningSource] as they are taken and given back.
public final class CountingSource implements MemorySource {

    private final MemorySource source;
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger givenBack = new AtomicInteger();

    public CountingSource(LeaseTrace trace) {
        source = new PoisoningSource(trace);
    }

    public int taken() {
        return taken.get();
    }

    public int givenBack() {
        return givenBack.get();
    }

    @Override
    public Region allocate(long byteSize) {
        Region region = source.allocate(byteSize);
        taken.incrementAndGet();
        return new Region() {
            @Override
            public MemorySegment segment() {
                return region.segment();
            }

            @Override
            public void release() {
                givenBack.incrementAndGet();
                region.release();
            }
        };
    }

    @Override
    public LeaseTrace trace() {
        return source.trace();
    }
}
