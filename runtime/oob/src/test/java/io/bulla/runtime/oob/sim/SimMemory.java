// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/// One node's memory: counted, poisoned when it is given back, refused on demand.
final class SimMemory implements MemorySource {

    private static final byte POISON = (byte) 0xdb;

    /// What all nodes of all worlds of a thread carve theirs out of; what a killed node held comes back with the
    /// next world.
    static final class Slabs {

        private static final int CHUNK = 8 << 20;
        private static final ThreadLocal<Slabs> OF_THREAD = ThreadLocal.withInitial(Slabs::new);

        private final List<MemorySegment> chunks = new ArrayList<>();
        private final List<Queue<MemorySegment>> free = new ArrayList<>();
        private int chunk;
        private long used;

        static Slabs reset() {
            Slabs slabs = OF_THREAD.get();
            slabs.chunk = 0;
            slabs.used = 0;
            slabs.free.clear();
            for (int i = 0; i < Long.SIZE; i++) {
                slabs.free.add(new ArrayDeque<>());
            }
            return slabs;
        }

        private static int sizeClass(long bytes) {
            return Long.SIZE - Long.numberOfLeadingZeros(Math.max(64, bytes) - 1);
        }

        private MemorySegment take(long bytes) {
            int sizeClass = sizeClass(bytes);
            MemorySegment old = free.get(sizeClass).poll();
            if (old != null) {
                return old;
            }
            long length = 1L << sizeClass;
            if (chunk < chunks.size() && used + length > chunks.get(chunk).byteSize()) {
                chunk++;
                used = 0;
            }
            if (chunk == chunks.size()) {
                chunks.add(Arena.ofAuto().allocate(Math.max(CHUNK, length), 64));
            }
            used += length;
            return chunks.get(chunk).asSlice(used - length, length);
        }

        private void give(MemorySegment segment) {
            free.get(sizeClass(segment.byteSize())).add(segment);
        }
    }

    private final Slabs slabs;
    private final Runnable overBound;
    private final LeaseTally handles = new LeaseTally();
    private long used;
    private long peak;
    private long kept;
    private long bound = Long.MAX_VALUE;
    private boolean refusing;
    private long refusals;

    /// @param overBound called when more is used than [#bound] said
    SimMemory(Slabs slabs, Runnable overBound) {
        this.slabs = slabs;
        this.overBound = overBound;
    }

    void bound(long bytes) {
        bound = bytes;
    }

    /// The program keeps so much more, or less, beyond its handlers: that is its own affair, and in no bound.
    void keep(long bytes) {
        kept += bytes;
    }

    void refuse(boolean refuse) {
        refusing = refuse;
    }

    long used() {
        return used;
    }

    long peak() {
        return peak;
    }

    long refusals() {
        return refusals;
    }

    /// Handles that are not closed.
    long open() {
        return handles.open();
    }

    @Override
    public Region allocate(long byteSize) {
        if (refusing) {
            refusals++;
            throw new IllegalStateException("simulated shortage of memory: requested=" + byteSize);
        }
        Region region = new Slice(slabs.take(byteSize), byteSize);
        used += byteSize;
        peak = Math.max(peak, used);
        if (used - kept > bound) {
            overBound.run();
        }
        return region;
    }

    @Override
    public String toString() {
        return "used=" + used + " kept=" + kept + " bound=" + bound;
    }

    @Override
    public LeaseTrace trace() {
        return handles;
    }

    private final class Slice implements Region {

        private final MemorySegment memory;
        private final long bytes;
        private boolean released;

        Slice(MemorySegment memory, long bytes) {
            this.memory = memory;
            this.bytes = bytes;
        }

        @Override
        public MemorySegment segment() {
            return memory.asSlice(0, bytes);
        }

        @Override
        public void release() {
            if (released) {
                throw new IllegalStateException("region given back twice: bytes=" + bytes);
            }
            released = true;
            memory.asSlice(0, bytes).fill(POISON);
            used -= bytes;
            slabs.give(memory);
        }
    }
}
