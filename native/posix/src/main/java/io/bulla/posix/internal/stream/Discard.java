// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.Unmapper;

/// A descriptor that another process chose and that is not wanted. To close it may wait for as long as that process
/// likes: a socket that lingers, a file of a file system that answers late. So it is closed by a thread that nothing
/// else waits for, but for a memory file, which never waits.
public final class Discard extends Unmapper.Freeable {

    private final int fd;

    private Discard(int fd) {
        this.fd = fd;
    }

    /// Takes the descriptor over. Does not wait.
    static void close(int fd) {
        Call call = Call.current();
        if (Memfd.seals(fd) >= 0) {
            call.close(fd);
            return;
        }
        // another holder of the socket may set it again: then the thread waits, and not the caller
        call.setsockopt(fd, Libc.SOL_SOCKET, Libc.SO_LINGER, 0, 0);
        Unmapper.FOREIGN.later(new Discard(fd));
    }

    /// For a thread that takes in more: whether the last ones were closed, soon.
    ///
    /// @throws PosixException if they are still there, with what a process without descriptors would get
    public static void checkNotStuck(long patienceNanos) throws PosixException {
        long end = System.nanoTime() + patienceNanos;
        while (Unmapper.FOREIGN.waiting() > Unmapper.MANY) {
            if (System.nanoTime() - end > 0) {
                throw new PosixException(
                        "recvmsg",
                        Errno.EMFILE.number(),
                        "descriptors of others that do not close=" + Unmapper.FOREIGN.waiting());
            }
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    @Override
    public void free() {
        Call.current().close(fd);
    }
}
