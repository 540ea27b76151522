// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.SharedMappings;

/// How a sealed file is seen by the process that reads it. The file itself is the same in both: no process, this
/// one included, can change its bytes.
public enum MappingProtection {
    /// A shared read-only mapping. The kernel refuses to make it writable ever again, so what is read is what was
    /// sealed.
    SHARED,
    /// A private read-only mapping, where the kernel has no shared one for a sealed file (before Linux 6.7).
    /// Native code of this process that asks for it first (`mprotect`) can change what this process sees of the
    /// bytes; never the file, and no other view.
    PRIVATE;

    /// What the kernel that this runs on can do: tried with a file of one byte, until that succeeds once.
    ///
    /// @return the stronger one, if it can
    /// @throws UnsupportedOperationException if it has no memory files, or native access is not enabled
    /// @throws IllegalStateException if the system refuses the trial for now, for want of memory or descriptors
    public static MappingProtection ofKernel() {
        try {
            return SharedMappings.areThere() ? SHARED : PRIVATE;
        } catch (PosixException refused) {
            if (refused.errno() == Errno.ENOSYS || refused.errno() == Errno.EPERM) {
                throw new UnsupportedOperationException("the kernel makes no memory files: " + refused.getMessage());
            }
            throw new IllegalStateException("cannot try a memory file: " + refused.getMessage(), refused);
        }
    }
}
