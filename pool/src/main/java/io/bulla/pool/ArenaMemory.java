// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

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
        return take(byteSize, Arena::ofShared);
    }

    static SlabSupplier.Memory take(long byteSize, Supplier<Arena> arenas) {
        long alignment = alignment(byteSize);
        try {
            return allOf(arenas.get(), byteSize, alignment);
        } catch (OutOfMemoryError full) {
            if (alignment == SizeClasses.SLAB) {
                throw full;
            }
            // a limit on addresses, or a system that promises no more than it has: without
            return allOf(arenas.get(), byteSize, SizeClasses.SLAB);
        }
    }

    /// One with which a slab is mapped alone.
    static long alignment(long byteSize) {
        return LINUX && byteSize + SizeClasses.SLAB <= MAPPED_ALONE ? MAPPED_ALONE : SizeClasses.SLAB;
    }

    private static SlabSupplier.Memory allOf(Arena arena, long byteSize, long alignment) {
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
