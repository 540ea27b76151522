// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import io.bulla.pool.SlabSupplier;
import io.bulla.posix.internal.calls.AlignedMemory;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import java.lang.foreign.MemorySegment;

/// Slabs of a [SlabSource][io.bulla.pool.SlabSource] as mappings of their own, aligned, of huge pages where the
/// system has them.
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
        long address = AlignedMemory.take(byteSize);
        if (address < 0) {
            throw new OutOfMemoryError("mmap: errno=" + -address + " bytes=" + byteSize);
        }
        try {
            // small pages do as well
            Memfd.advise(address, byteSize, Memfd.HUGEPAGE);
            return new Mapped(Mapping.over(address, byteSize), address);
        } catch (Throwable failure) {
            Mapping.unmap(address, byteSize);
            throw failure;
        }
    }

    private record Mapped(Mapping mapping, long address) implements Memory {

        @Override
        public MemorySegment segment() {
            return mapping.segment();
        }

        @Override
        public boolean discard() {
            return Memfd.advise(address, mapping.bytes(), Memfd.DONTNEED) == 0;
        }

        @Override
        public void end() {
            mapping.close();
        }
    }
}
