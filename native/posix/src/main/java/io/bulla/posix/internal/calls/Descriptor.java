// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.refcount.RefCount;
import org.jspecify.annotations.Nullable;

/// A file descriptor that is closed once no thread is inside a call on it: a number that was closed beside a call
/// may already mean another file.
public final class Descriptor extends RefCount {

    private final int fd;
    private final String what;
    // volatile: seen soon by the other threads, so that none starts another call; nothing else hangs on them
    private volatile boolean closed;
    private volatile @Nullable String broken;

    /// Takes `fd` over.
    ///
    /// @param what for messages
    public Descriptor(int fd, String what) {
        super(null);
        this.fd = fd;
        this.what = what;
    }

    /// The number, for one call; [#leave] follows.
    ///
    /// @throws PosixException if it is closed, or broken
    public int enter(String call) throws PosixException {
        checkNotBroken(call);
        if (!tryEnter()) {
            throw new PosixException(call, Errno.EBADF.number(), what + "=closed");
        }
        return fd;
    }

    /// The same for those that end it, also when it is broken.
    ///
    /// @return false if it is closed
    public boolean tryEnter() {
        return !closed && retain(1);
    }

    /// After [#tryEnter()].
    public int fd() {
        return fd;
    }

    /// Lets no further call in: what came before is missing, so nothing may follow. The first reason stays.
    public void breakWith(String reason) {
        if (broken == null) {
            broken = reason;
        }
    }

    /// @throws PosixException with the reason, if it is broken
    public void checkNotBroken(String call) throws PosixException {
        String reason = broken;
        if (reason != null) {
            throw new PosixException(call, Errno.EPIPE.number(), what + "=broken first=[" + reason + "]");
        }
    }

    public void leave() {
        release();
    }

    /// Gives up the owner's claim. Once.
    public void close() {
        closed = true;
        release();
    }

    @Override
    protected void free() {
        Call.current().close(fd);
    }

    @Override
    public String toString() {
        return what + "=" + fd;
    }
}
