// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import org.jspecify.annotations.Nullable;

/// How a sealed file is seen by the process that reads it. The file itself is the same in both: no process, this
/// one included, can change its bytes.
public enum Guard {
    /// A shared read-only mapping. The kernel refuses to make it writable ever again, so what is read is what was
    /// sealed.
    SHARED,
    /// A private read-only mapping, where the kernel has no shared one for a sealed file (before Linux 6.7).
    /// Native code of this process that asks for it first (`mprotect`) can change what this process sees of the
    /// bytes; never the file, and no other view.
    PRIVATE;

    // volatile: seen soon; a thread that does not see it tries again, with the same result
    private static volatile @Nullable Guard ofKernel;

    /// What the kernel that this runs on can do: tried with a file of one byte, until that succeeds once.
    ///
    /// @return the stronger one, if it can
    /// @throws UnsupportedOperationException if it has no memory files, or native access is not enabled
    /// @throws IllegalStateException if the system refuses the trial for now, for want of memory or descriptors
    public static Guard ofKernel() {
        try {
            return tried();
        } catch (PosixException refused) {
            if (refused.errno() == Errno.ENOSYS || refused.errno() == Errno.EPERM) {
                throw new UnsupportedOperationException("the kernel makes no memory files: " + refused.getMessage());
            }
            throw new IllegalStateException("cannot try a memory file: " + refused.getMessage(), refused);
        }
    }

    /// @throws PosixException if the system refuses the trial
    static Guard tried() throws PosixException {
        // here: an error in an initializer would come wrapped
        NativeAccess.linker();
        Guard known = ofKernel;
        if (known == null) {
            known = probe();
            ofKernel = known;
        }
        return known;
    }

    /// The next one who asks tries again.
    static void forget() {
        ofKernel = null;
    }

    private static Guard probe() throws PosixException {
        int fd = check("memfd_create", Memfd.create());
        try {
            check("ftruncate", Memfd.truncate(fd, 1));
            check("fcntl", Memfd.addSeals(fd, Memfd.IMMUTABLE));
            long address = Memfd.map(fd, 0, 1, false, true);
            if (address == -Errno.ENOMEM.number()) {
                throw new PosixException("mmap", Errno.ENOMEM.number(), "bytes=1");
            }
            if (address < 0) {
                return PRIVATE;
            }
            Mapping.unmap(address, 1);
            return SHARED;
        } finally {
            Call.current().close(fd);
        }
    }

    private static int check(String call, int result) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, -result, "trial of memory files");
        }
        return result;
    }
}
