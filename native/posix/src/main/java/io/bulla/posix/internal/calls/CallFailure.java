// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;

/// Makes the exception for a call that the kernel refused. Any thread may ask.
public final class CallFailure {

    private CallFailure() {}

    /// @param call name of the system call
    /// @param number the kernel's error number
    /// @param what values that tell which call it was, as `name=value`
    public static PosixException of(String call, int number, String what) {
        return switch (Errno.of(number)) {
            case EPIPE, ECONNRESET -> new PosixException.PeerClosed(call, number, what);
            case EMFILE ->
                new PosixException(
                        call, number, (what.isEmpty() ? "" : what + " ") + "limit=" + Call.descriptorLimit());
            default -> new PosixException(call, number, what);
        };
    }
}
