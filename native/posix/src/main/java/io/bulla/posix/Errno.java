// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

/// The error numbers that a caller may want to tell apart, as Linux numbers them.
public enum Errno {
    /// There is no such file.
    ENOENT(2, "No such file or directory"),
    /// Interrupted by a signal.
    EINTR(4, "Interrupted system call"),
    /// The device failed.
    EIO(5, "Input/output error"),
    /// No such descriptor.
    EBADF(9, "Bad file descriptor"),
    /// It would block.
    EAGAIN(11, "Resource temporarily unavailable"),
    /// Not enough memory, or more of it locked than allowed.
    ENOMEM(12, "Cannot allocate memory"),
    /// Not allowed.
    EACCES(13, "Permission denied"),
    /// An address outside the process.
    EFAULT(14, "Bad address"),
    /// In use: a writable mapping exists.
    EBUSY(16, "Device or resource busy"),
    /// The file is there already.
    EEXIST(17, "File exists"),
    /// An argument that the kernel does not accept.
    EINVAL(22, "Invalid argument"),
    /// No more descriptors.
    EMFILE(24, "Too many open files"),
    /// The file would be larger than allowed.
    EFBIG(27, "File too large"),
    /// The device is full.
    ENOSPC(28, "No space left on device"),
    /// The file system is read-only.
    EROFS(30, "Read-only file system"),
    /// The peer has closed.
    EPIPE(32, "Broken pipe"),
    /// Not permitted: the memory is sealed.
    EPERM(1, "Operation not permitted"),
    /// The kernel does not know the call.
    ENOSYS(38, "Function not implemented"),
    /// Too large for one message.
    EMSGSIZE(90, "Message too long"),
    /// Not for this kind of socket.
    EOPNOTSUPP(95, "Operation not supported"),
    /// The address is taken.
    EADDRINUSE(98, "Address already in use"),
    /// The peer has reset the connection.
    ECONNRESET(104, "Connection reset by peer"),
    /// No buffer space; with zero copy, the limit on locked memory.
    ENOBUFS(105, "No buffer space available"),
    /// Not connected.
    ENOTCONN(107, "Transport endpoint is not connected"),
    /// The time is over.
    ETIMEDOUT(110, "Connection timed out"),
    /// There is no listener.
    ECONNREFUSED(111, "Connection refused"),
    /// The request was canceled.
    ECANCELED(125, "Operation canceled"),
    /// Any other; its number is in the exception.
    OTHER(-1, "error");

    // a copy takes heap, which the completion of a send must not need
    private static final Errno[] ALL = values();

    private final int number;
    private final String text;

    Errno(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /// The constant for a number.
    ///
    /// @param number as the kernel gives it, positive
    /// @return [#OTHER] if it is none of these
    public static Errno of(int number) {
        for (Errno errno : ALL) {
            if (errno.number == number) {
                return errno;
            }
        }
        return OTHER;
    }

    /// The number, as Linux has it.
    ///
    /// @return positive; -1 for [#OTHER]
    public int number() {
        return number;
    }

    String text() {
        return text;
    }
}
