// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import java.io.IOException;

/// A system call failed.
public class PosixException extends IOException {

    private static final long serialVersionUID = 1;

    private final int number;

    /// A failure.
    ///
    /// @param call name of the system call
    /// @param number the kernel's error number
    /// @param what values that tell which call it was, as `name=value`
    public PosixException(String call, int number, String what) {
        super(call + ": " + Errno.of(number).text() + ": errno=" + number + (what.isEmpty() ? "" : " " + what));
        this.number = number;
    }

    /// The error.
    ///
    /// @return a constant to switch on
    public final Errno errno() {
        return Errno.of(number);
    }

    /// The kernel's number.
    ///
    /// @return positive
    public final int number() {
        return number;
    }

    /// The peer is gone, told by `EPIPE` or `ECONNRESET`.
    public static final class PeerClosed extends PosixException {

        private static final long serialVersionUID = 1;

        /// A failure.
        ///
        /// @param call name of the system call
        /// @param number the kernel's error number
        /// @param what values that tell which call it was, as `name=value`
        public PeerClosed(String call, int number, String what) {
            super(call, number, what);
        }
    }
}
