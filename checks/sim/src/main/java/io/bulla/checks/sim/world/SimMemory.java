// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.world;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;

/// One node's memory: counted, poisoned when it is given back, refused on demand.
public final class SimMemory implements MemorySource {

    private static final byte POISON = (byte) 0xdb;

    /// What all nodes of all worlds of a thread carve theirs out of; what a killed node held comes back with the
    /// next world.
    public static final class Slabs {

        private static final int CHUNK = 8 << 20;
        private static final ThreadLocal<Slabs> OF_THREAD = ThreadLocal.withInitial(() -> new Slabs(false));

        private final List<MemorySegment> chunks = new ArrayList<>();
        private final List<Queue<MemorySegment>> free = new ArrayList<>();
        private final boolean blank;
        private int chunk;
        private long used;

        private Slabs(boolean blank) {
            this.blank = blank;
        }

        /// All who take memory of one size get the same: for runs that look at lengths, and not at bytes.
        public static Slabs blank() {
            Slabs slabs = new Slabs(true);
            slabs.clear();
            return slabs;
        }

        public static Slabs reset() {
            Slabs slabs = OF_THREAD.get();
            slabs.clear();
            return slabs;
        }

        private void clear() {
            chunk = 0;
            used = 0;
            free.clear();
            for (int i = 0; i < Long.SIZE; i++) {
                free.add(new ArrayDeque<>());
            }
        }

        private static int sizeClass(long bytes) {
            return Long.SIZE - Long.numberOfLeadingZeros(Math.max(64, bytes) - 1);
        }

        private MemorySegment take(long bytes) {
            int sizeClass = sizeClass(bytes);
            MemorySegment old =
                    blank ? free.get(sizeClass).peek() : free.get(sizeClass).poll();
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
            MemorySegment fresh = chunks.get(chunk).asSlice(used - length, length);
            if (blank) {
                free.get(sizeClass).add(fresh);
            }
            return fresh;
        }

        private void give(MemorySegment segment, long bytes) {
            if (!blank) {
                segment.asSlice(0, bytes).fill(POISON);
                free.get(sizeClass(segment.byteSize())).add(segment);
            }
        }
    }

    private final Slabs slabs;
    private final Runnable overBound;
    private final LeaseTally handles = new LeaseTally();
    // what is not given back, by address
    private final TreeMap<Long, Long> taken = new TreeMap<>();
    private long used;
    private long peak;
    private long kept;
    private long bound = Long.MAX_VALUE;
    private boolean refusing;
    private long refusals;

    /// @param overBound called when more is used than [#bound] said
    public SimMemory(Slabs slabs, Runnable overBound) {
        this.slabs = slabs;
        this.overBound = overBound;
    }

    public void bound(long bytes) {
        bound = bytes;
    }

    /// The program keeps so much more, or less, beyond its handlers, or has it on its way: that is its own affair,
    /// and in no bound of what peers send.
    public void keep(long bytes) {
        kept += bytes;
    }

    public void refuse(boolean refuse) {
        refusing = refuse;
    }

    public boolean isRefusing() {
        return refusing;
    }

    public long used() {
        return used;
    }

    public long peak() {
        return peak;
    }

    /// The peak is what is used now.
    public void restart() {
        peak = used;
    }

    public long refusals() {
        return refusals;
    }

    /// Bytes that buffers keep from being given back, each region once.
    public long retained(List<SealedBuffer> buffers) {
        Set<Long> regions = new HashSet<>();
        long bytes = 0;
        for (SealedBuffer buffer : buffers) {
            for (int i = 0; i < buffer.iovec().regionCount(); i++) {
                long address = buffer.iovec().region(i).address();
                Map.Entry<Long, Long> region = taken.floorEntry(address);
                // else it is another node's, which lends it
                boolean own = region != null && address < region.getKey() + region.getValue();
                bytes += own && regions.add(region.getKey()) ? region.getValue() : 0;
            }
        }
        return bytes;
    }

    /// Handles that are not closed.
    public long open() {
        return handles.open();
    }

    @Override
    public Region allocate(long byteSize) {
        if (refusing) {
            refusals++;
            throw new IllegalStateException("simulated shortage of memory: requested=" + byteSize);
        }
        Region region = new Slice(slabs.take(byteSize), byteSize);
        taken.put(region.segment().address(), byteSize);
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
            used -= bytes;
            taken.remove(memory.address());
            slabs.give(memory, bytes);
        }
    }
}
