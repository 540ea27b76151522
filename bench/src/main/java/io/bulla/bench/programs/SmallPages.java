// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Slabs of fresh small pages, aligned as those of `HugePages`. They are not unmapped: a program's end does that.
@SuppressWarnings("restricted")
public final class SmallPages implements SlabSupplier {

    private static final int READ_WRITE = 3;
    private static final int PRIVATE_ANONYMOUS_NO_RESERVE = 0x4022;
    private static final int NO_HUGE_PAGES = 15;

    private static final MethodHandle MMAP =
            function("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MADVISE = function("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    @Override
    public Memory take(long byteSize) {
        try {
            long room = byteSize + SlabSource.SLAB;
            long address = (long) MMAP.invokeExact(0L, room, READ_WRITE, PRIVATE_ANONYMOUS_NO_RESERVE, -1, 0L);
            if (address == -1) {
                throw new OutOfMemoryError("mmap: bytes=" + room);
            }
            int advised = (int) MADVISE.invokeExact(address, room, NO_HUGE_PAGES);
            long aligned = (address + SlabSource.SLAB - 1) / SlabSource.SLAB * SlabSource.SLAB;
            return new Mapped(aligned, byteSize, advised);
        } catch (RuntimeException | Error refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }

    private static MethodHandle function(
            String name, java.lang.foreign.MemoryLayout result, java.lang.foreign.MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    private static final class Mapped implements Memory {

        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;

        Mapped(long address, long byteSize, int advised) {
            if (advised != 0) {
                throw new IllegalStateException("madvise refused small pages");
            }
            this.segment = MemorySegment.ofAddress(address).reinterpret(byteSize, arena, null);
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public boolean discard() {
            return false;
        }

        @Override
        public void end() {
            arena.close();
        }
    }
}
