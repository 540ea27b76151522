// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import org.jspecify.annotations.Nullable;

/// Whether the kernel maps a sealed file shared: tried with a file of one byte, until that succeeds once. Any
/// thread may ask.
public final class SharedMappings {

    // volatile: seen soon; a thread that does not see it tries again, with the same result
    private static volatile @Nullable Boolean known;

    private SharedMappings() {}

    /// @throws PosixException if the system refuses the trial
    public static boolean areThere() throws PosixException {
        // here: an error in an initializer would come wrapped
        NativeAccess.linker();
        Boolean there = known;
        if (there == null) {
            there = probe();
            known = there;
        }
        return there;
    }

    /// The next one who asks tries again.
    public static void forget() {
        known = null;
    }

    private static boolean probe() throws PosixException {
        int fd = check("memfd_create", Memfd.create());
        try {
            check("ftruncate", Memfd.truncate(fd, 1));
            check("fcntl", Memfd.addSeals(fd, Memfd.IMMUTABLE));
            long address = Memfd.map(fd, 0, 1, false, true);
            if (address == -Errno.ENOMEM.number()) {
                throw new PosixException("mmap", Errno.ENOMEM.number(), "bytes=1");
            }
            if (address < 0) {
                return false;
            }
            Mapping.unmap(address, 1);
            return true;
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
