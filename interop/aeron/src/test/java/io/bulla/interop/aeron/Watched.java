// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/// Hands out another source's memory, counts what is out, and refuses when it is told to.
final class Watched implements MemorySource {

    private final MemorySource source;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();
    volatile long limit = Long.MAX_VALUE;
    volatile int sealsRefused;

    Watched(MemorySource source) {
        this.source = source;
    }

    long bytesOut() {
        return bytes.get();
    }

    long bytesTaken() {
        return taken.get();
    }

    @Override
    public Region allocate(long byteSize) {
        if (bytes.get() + byteSize > limit) {
            throw new MemoryLimitException("refused: requested=" + byteSize + " limit=" + limit);
        }
        Region region = source.allocate(byteSize);
        bytes.addAndGet(byteSize);
        taken.addAndGet(byteSize);
        return new Region() {
            @Override
            public MemorySegment segment() {
                return region.segment();
            }

            @Override
            public void release() {
                bytes.addAndGet(-byteSize);
                region.release();
            }
        };
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        if (sealsRefused > 0) {
            sealsRefused--;
            throw new MemoryLimitException("seal refused: used=" + used);
        }
        return MemorySource.super.seal(region, used);
    }

    @Override
    public LeaseTrace trace() {
        return source.trace();
    }
}
