// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.MemorySource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A source of one region, handed out again and again without any care for stale readers. It closes nothing.
public class OneRegion implements MemorySource, MemorySource.Region {

    private final MemorySegment memory;

    /// @param arena of the memory
    /// @param byteSize of every region
    public OneRegion(Arena arena, long byteSize) {
        memory = arena.allocate(byteSize, 8);
    }

    @Override
    public Region allocate(long byteSize) {
        return this;
    }

    @Override
    public MemorySegment segment() {
        return memory;
    }

    @Override
    public void release() {}
}
