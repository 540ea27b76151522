// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.memory;

import io.bulla.posix.SealRefusedException;
import io.bulla.posix.internal.calls.Memfd;

/// What a descriptor that came from another process has to be, before anything of it is mapped.
public final class SealCheck {

    /// Bytes and size are fixed.
    static final int SEALED = Memfd.IMMUTABLE;
    /// The size is fixed, and no new mapping writes.
    public static final int SHARED_SLAB = Memfd.SEAL_SHRINK | Memfd.SEAL_GROW | Memfd.SEAL_FUTURE_WRITE;

    private SealCheck() {}

    /// The seals first: before them, everything else may still change.
    ///
    /// @throws SealRefusedException if it is not a memory file with these seals, and these bytes
    public static Memfd.Extent of(int fd, int wanted, long offset, long length) throws SealRefusedException {
        int seals = Memfd.seals(fd);
        if (seals < 0) {
            throw new SealRefusedException("not a memory file: errno=" + -seals);
        }
        if ((seals & wanted) != wanted) {
            throw new SealRefusedException("memory file without the seals: seals=0x" + Integer.toHexString(seals)
                    + " wanted=0x" + Integer.toHexString(wanted));
        }
        Memfd.Extent extent = Memfd.extent(fd);
        long bytes = extent.bytes();
        if (bytes < 0) {
            throw new SealRefusedException("not a memory file of small pages: errno=" + -bytes);
        }
        if (offset < 0 || offset > bytes || length > bytes - offset) {
            throw new SealRefusedException(
                    "memory file too short: offset=" + offset + " length=" + length + " fileBytes=" + bytes);
        }
        return extent;
    }
}
