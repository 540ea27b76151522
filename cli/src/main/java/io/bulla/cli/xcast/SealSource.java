// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.MemorySource;
import io.bulla.iovec.Generation;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.refcount.LeaseTrace;
import io.bulla.runtime.oob.LocalMemory;
import java.lang.foreign.MemorySegment;

/// A sealed file for each message that is long enough to be handed over; short ones are carved from slabs.
///
/// @param slabs for short ones
/// @param files for the others
record SealSource(MemorySource slabs, MemfdSource files) implements MemorySource {

    private record Taken(Region region, MemorySource from) implements Region {

        @Override
        public MemorySegment segment() {
            return region.segment();
        }

        @Override
        public long byteSize() {
            return region.byteSize();
        }

        @Override
        public Generation generation() {
            return region.generation();
        }

        @Override
        public void release() {
            region.release();
        }
    }

    @Override
    public Region allocate(long byteSize) {
        MemorySource from = byteSize < LocalMemory.LEAST_BYTES ? slabs : files;
        Region region = from.allocate(byteSize);
        boolean given = false;
        try {
            Taken taken = new Taken(region, from);
            given = true;
            return taken;
        } finally {
            if (!given) {
                region.release();
            }
        }
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        Taken taken = (Taken) region;
        return taken.from.seal(taken.region, used);
    }

    @Override
    public LeaseTrace trace() {
        return slabs.trace();
    }
}
