// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A slab's memory as an arena of its own.
///
/// An arena's memory comes from `malloc`, which gives the system only the end of its heaps. glibc maps a piece
/// alone, and unmaps it when it is freed, from a size on that each such free raises, up to 32 MiB
/// (`M_MMAP_THRESHOLD` in mallopt(3)). So on Linux a slab asks for an alignment that makes its piece larger than
/// that: 32 MiB of addresses more than it has pages.
record ArenaMemory(Arena arena, MemorySegment segment) implements SlabSupplier.Memory {

    private static final long MAPPED_ALONE = 32 << 20;
    private static final boolean LINUX = "Linux".equals(System.getProperty("os.name"));

    static SlabSupplier.Memory take(long byteSize) {
        if (LINUX && byteSize + SizeClasses.SLAB <= MAPPED_ALONE) {
            try {
                return take(byteSize, MAPPED_ALONE);
            } catch (OutOfMemoryError noAddresses) {
                // a limit on addresses, or a system that promises no more than it has: without
            }
        }
        return take(byteSize, SizeClasses.SLAB);
    }

    private static SlabSupplier.Memory take(long byteSize, long alignment) {
        Arena arena = Arena.ofShared();
        try {
            return new ArenaMemory(arena, arena.allocate(byteSize, alignment));
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
