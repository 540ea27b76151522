// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.pool.SlabSource;
import io.bulla.posix.Errno;

/// Addresses for a slab: aligned to [SlabSource#SLAB], of no file, and without a page yet.
public final class AlignedMemory {

    private AlignedMemory() {}

    /// Takes addresses.
    ///
    /// @return where they begin, or the negative error number; [Mapping#unmap] gives them back
    public static long take(long byteSize) {
        // room to align
        long room = Math.addExact(byteSize, SlabSource.SLAB);
        long address = Memfd.map(room);
        if (address == -Errno.ENOMEM.number() && Unmapper.MAPPINGS.freeAll()) {
            address = Memfd.map(room);
        }
        if (address < 0) {
            return address;
        }
        long aligned = (address + SlabSource.SLAB - 1) / SlabSource.SLAB * SlabSource.SLAB;
        cut(address, aligned - address);
        cut(aligned + byteSize, address + room - aligned - byteSize);
        return aligned;
    }

    private static void cut(long address, long bytes) {
        if (bytes > 0) {
            Mapping.unmap(address, bytes);
        }
    }
}
