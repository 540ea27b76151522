// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

/// How the kernel was given a buffer, best first.
public enum SendPath {
    /// io_uring (`SENDMSG_ZC`), without a copy: the memory is read until a notification.
    URING_ZC,
    /// io_uring (`WRITEV`); the kernel has copied what it accepted.
    URING,
    /// `sendmsg` with `MSG_ZEROCOPY`: the memory is read until the socket's error queue says otherwise.
    ZEROCOPY,
    /// `sendmsg`; the kernel has copied what it accepted.
    SENDMSG
}
