// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

/// How a sealed file is seen by the process that reads it. The file itself is the same in both: no process, this
/// one included, can change its bytes.
public enum Guard {
    /// A shared read-only mapping. The kernel refuses to make it writable ever again, so what is read is what was
    /// sealed.
    SHARED,
    /// A private read-only mapping, where the kernel has no shared one for a sealed file (before Linux 6.7).
    /// Native code of this process that asks for it first (`mprotect`) can change what this process sees of the
    /// bytes; never the file, and nobody else's view.
    PRIVATE;

    /// What the kernel that this runs on can do: tried once, with a file of one byte.
    ///
    /// @return the stronger one, if it can
    /// @throws UnsupportedOperationException if it has no memory files, or native access is not enabled
    public static Guard ofKernel() {
        // here: an error in an initializer would come wrapped
        NativeAccess.linker();
        return OfKernel.GUARD;
    }

    private static final class OfKernel {

        private static final Guard GUARD = probe();

        private static Guard probe() {
            int fd = Memfd.create();
            if (fd < 0) {
                throw new UnsupportedOperationException("the kernel makes no memory files: errno=" + -fd);
            }
            try {
                Memfd.truncate(fd, 1);
                Memfd.addSeals(fd, Memfd.IMMUTABLE);
                long address = Memfd.map(fd, 0, 1, false, true);
                if (address < 0) {
                    return PRIVATE;
                }
                Memfd.unmap(address, 1);
                return SHARED;
            } finally {
                Call.current().close(fd);
            }
        }
    }
}
