// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Slabs of a [SlabSource] as mappings of their own, aligned, of huge pages where the system has them.
///
/// ```java
/// MemorySource memory = SlabSource.builder().supplier(new HugePages()).build();
/// ```
///
/// A fresh huge page costs a sixth of its small ones. Idle slabs give their pages back to the system, and keep
/// their addresses: no arena is closed for it, so no thread is stopped, and a raw view that was forgotten reads
/// zeros. The mappings end with the source.
public final class HugePages implements SlabSupplier {

    /// Slabs of huge pages.
    public HugePages() {}

    /// Maps memory.
    ///
    /// @throws OutOfMemoryError if the system has no more memory, or no more mappings for this process
    @Override
    public Memory take(long byteSize) {
        // room to align
        long room = Math.addExact(byteSize, SlabSource.SLAB);
        long address = Memfd.map(room);
        if (address == -Errno.ENOMEM.number() && Unmapper.MAPPINGS.freeAll()) {
            address = Memfd.map(room);
        }
        if (address < 0) {
            throw new OutOfMemoryError("mmap: errno=" + -address + " bytes=" + room);
        }
        long aligned = (address + SlabSource.SLAB - 1) / SlabSource.SLAB * SlabSource.SLAB;
        cut(address, aligned - address);
        cut(aligned + byteSize, address + room - aligned - byteSize);
        try {
            // small pages do as well
            Memfd.advise(aligned, byteSize, Memfd.HUGEPAGE);
            return new Mapped(aligned, byteSize);
        } catch (Throwable failure) {
            Mapping.unmap(aligned, byteSize);
            throw failure;
        }
    }

    private static void cut(long address, long bytes) {
        if (bytes > 0) {
            Mapping.unmap(address, bytes);
        }
    }

    private static final class Mapped implements Memory {

        private final Arena arena = Arena.ofShared();
        private final long address;
        private final long byteSize;
        private final MemorySegment segment;

        // restricted: the memory is what mmap gave, of that length, and is unmapped after the arena
        @SuppressWarnings("restricted")
        private Mapped(long address, long byteSize) {
            this.address = address;
            this.byteSize = byteSize;
            this.segment = MemorySegment.ofAddress(address).reinterpret(byteSize, arena, null);
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public boolean discard() {
            return Memfd.advise(address, byteSize, Memfd.DONTNEED) == 0;
        }

        @Override
        public void end() {
            arena.close();
            Mapping.unmap(address, byteSize);
        }
    }
}
