// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.buffer.MemorySource;
import io.bulla.interop.netty.MeteredAllocator;
import io.bulla.iovec.CopyTally;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;

/// Counts copies where bytes move, and memory where it is taken: the source, the channels' allocator, and Netty's
/// global allocators, in case somebody goes around the channels' one.
final class Meters {

    /// A reading of all meters.
    ///
    /// @param copies copies out of sealed buffers
    /// @param allocated bytes handed out by the source and by Netty's allocators
    record Reading(long copies, long allocated) {
        Reading since(Reading earlier) {
            return new Reading(copies - earlier.copies, allocated - earlier.allocated);
        }
    }

    private final LeaseTally handles;
    private final MeteredSource source;
    private final MeteredAllocator allocator = new MeteredAllocator(PooledByteBufAllocator.DEFAULT);

    Meters(MemorySource source, LeaseTally handles) {
        this.source = new MeteredSource(source, new LongAdder());
        this.handles = handles;
    }

    MemorySource source() {
        return source;
    }

    ByteBufAllocator allocator() {
        return allocator;
    }

    long handlesOpen() {
        return handles.open();
    }

    Reading read() {
        return new Reading(CopyTally.snapshot().copies(), source.bytes.sum() + allocator.bytes() + elsewhereInNetty());
    }

    private static long elsewhereInNetty() {
        return used(UnpooledByteBufAllocator.DEFAULT) + used(ByteBufAllocator.DEFAULT);
    }

    private static long used(ByteBufAllocator allocator) {
        return allocator instanceof ByteBufAllocatorMetricProvider meter
                ? meter.metric().usedDirectMemory() + meter.metric().usedHeapMemory()
                : 0;
    }

    /// Adds up the regions that a source hands out.
    private record MeteredSource(MemorySource source, LongAdder bytes) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            Region region = source.allocate(byteSize);
            bytes.add(region.segment().byteSize());
            return region;
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            return source.seal(region, used);
        }

        @Override
        public LeaseTrace trace() {
            return source.trace();
        }
    }
}
