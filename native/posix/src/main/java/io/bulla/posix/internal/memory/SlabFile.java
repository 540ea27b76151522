// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.memory;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.pool.SlabSupplier;
import io.bulla.posix.Errno;
import io.bulla.posix.internal.calls.AlignedMemory;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import java.lang.foreign.MemorySegment;

/// A memory file as one slab's memory. Any thread may hand it over; the pool's lock ends it.
///
/// ```
/// memfd_create, ftruncate --mapped, every page taken--> F_SEAL_SHRINK | GROW | FUTURE_WRITE | SEAL --end--> gone
/// ```
///
/// The one mapping that was there before the seals is the only one that ever writes. The file cannot shrink:
/// its pages go back all together, when the mapping and the descriptor are gone, here and in every process
/// that got it.
public final class SlabFile implements SlabSupplier.Memory {

    private final Mapping mapping;
    private final Descriptor descriptor;
    private final Runnable ended;
    private boolean unmapped;

    private SlabFile(Mapping mapping, Descriptor descriptor, Runnable ended) {
        this.mapping = mapping;
        this.descriptor = descriptor;
        this.ended = ended;
    }

    /// Makes one.
    ///
    /// @param ended run once the memory is gone
    /// @throws MemoryLimitException if the system refuses; nothing stays
    public static SlabFile create(long byteSize, Runnable ended) {
        int fd = check("memfd_create", Memfd.create(), byteSize);
        try {
            check("ftruncate", Memfd.truncate(fd, byteSize), byteSize);
            Mapping mapping = map(fd, byteSize);
            try {
                check("fcntl", Memfd.addSeals(fd, Memfd.ONE_WRITER), byteSize);
                return new SlabFile(mapping, new Descriptor(fd, "memfd"), ended);
            } catch (Throwable failure) {
                mapping.close();
                throw failure;
            }
        } catch (Throwable failure) {
            Call.current().close(fd);
            throw failure;
        }
    }

    private static Mapping map(int fd, long byteSize) {
        long address = AlignedMemory.take(byteSize);
        check("mmap", address, byteSize);
        try {
            check("mmap", Memfd.mapOver(fd, address, byteSize), byteSize);
            int taken = Memfd.advise(address, byteSize, Memfd.POPULATE_WRITE);
            check("madvise", taken == -Errno.EINVAL.number() ? 0 : taken, byteSize);
            Mapping mapping = Mapping.over(address, byteSize);
            if (taken != 0) {
                // a kernel that does not know it takes a page at its first write
                mapping.segment().fill((byte) 0);
            }
            return mapping;
        } catch (Throwable failure) {
            Mapping.unmap(address, byteSize);
            throw failure;
        }
    }

    @Override
    public MemorySegment segment() {
        return mapping.segment();
    }

    /// For one hand-over: the number, until [Descriptor#leave].
    public Descriptor descriptor() {
        return descriptor;
    }

    @Override
    public void end() {
        if (!unmapped) {
            mapping.close();
            unmapped = true;
            ended.run();
            descriptor.close();
        }
    }

    private static int check(String call, long result, long bytes) {
        if (result < 0) {
            throw new MemoryLimitException("the system refuses a shared slab: "
                    + CallFailure.of(call, (int) -result, "bytes=" + bytes).getMessage());
        }
        return (int) result;
    }
}
