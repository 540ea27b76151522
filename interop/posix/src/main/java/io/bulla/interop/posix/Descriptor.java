// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import io.bulla.refcount.RefCount;

/// A file descriptor that is closed once nobody is inside a call on it: a number that was closed beside a call
/// may already mean another file.
final class Descriptor extends RefCount {

    private final int fd;
    private final String what;

    /// Takes `fd` over.
    ///
    /// @param what for messages
    Descriptor(int fd, String what) {
        super(null);
        this.fd = fd;
        this.what = what;
    }

    /// The number, for one call; [#leave] follows.
    ///
    /// @throws PosixException if it is closed
    int enter(String call) throws PosixException {
        if (!retain(1)) {
            throw new PosixException(call, 9, what + "=closed");
        }
        return fd;
    }

    void leave() {
        release();
    }

    /// Gives up the owner's claim. Once.
    void close() {
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
