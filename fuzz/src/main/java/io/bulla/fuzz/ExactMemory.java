// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory for one input at a time: regions of exactly the bytes asked for, so that a read beyond them is refused
/// by the segment, poisoned when they are given back, and counted. More than a limit is never handed out.
public final class ExactMemory implements MemorySource {

    private static final long BYTES = 1 << 20;
    private static final byte POISON = (byte) 0xdb;

    private final MemorySegment all = Arena.global().allocate(BYTES);
    private long used;
    private long taken;
    private int open;

    /// Memory of one mebibyte.
    public ExactMemory() {}

    @Override
    public Region allocate(long byteSize) {
        taken += byteSize;
        FuzzTarget.claim(byteSize <= BYTES - used, "memory taken over the limit", byteSize, BYTES - used);
        MemorySegment region = all.asSlice(used, byteSize);
        used += byteSize;
        open++;
        return new Region() {

            @Override
            public MemorySegment segment() {
                return region;
            }

            @Override
            public void release() {
                region.fill(POISON);
                if (--open == 0) {
                    used = 0;
                }
            }
        };
    }

    /// A sealed copy of bytes.
    ///
    /// @param bytes to copy
    /// @return a handle to close
    public SealedBuffer sealed(MemorySegment bytes) {
        return BufferBuilder.ofCapacity(this, Math.max(1, bytes.byteSize()))
                .put(bytes)
                .seal();
    }

    /// Bytes handed out since the last call.
    ///
    /// @return how many
    public long taken() {
        long before = taken;
        taken = 0;
        return before;
    }

    /// Regions not given back.
    ///
    /// @return 0 between inputs
    public int open() {
        return open;
    }
}
