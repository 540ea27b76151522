// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A slab's memory as an arena of its own.
record ArenaMemory(Arena arena, MemorySegment segment) implements SlabSupplier.Memory {

    static SlabSupplier.Memory take(long byteSize) {
        Arena arena = Arena.ofShared();
        try {
            return new ArenaMemory(arena, arena.allocate(byteSize, SlabSource.SLAB));
        } catch (Throwable failure) {
            arena.close();
            throw failure;
        }
    }

    @Override
    public void end() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
