// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.posix.internal.calls.SyscallInterceptor;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// Fails one system call of an operation: the n-th, with one of the error numbers that this call can answer with.
/// It counts the calls of the thread that runs the operation, and of the thread that frees for it.
final class Injector implements SyscallInterceptor.Watcher {

    private static final int EPERM = 1;
    private static final int EINTR = 4;
    private static final int EIO = 5;
    private static final int EAGAIN = 11;
    private static final int ENOMEM = 12;
    private static final int EACCES = 13;
    private static final int EBUSY = 16;
    private static final int EINVAL = 22;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;
    private static final int ENOSPC = 28;
    private static final int EPIPE = 32;
    private static final int ENOSYS = 38;
    private static final int ENOBUFS = 105;
    private static final int ENOTCONN = 107;
    private static final int EADDRINUSE = 98;
    private static final int ECONNRESET = 104;
    private static final int ETIMEDOUT = 110;
    private static final int ECONNREFUSED = 111;
    private static final int ENETUNREACH = 101;
    private static final int ECONNABORTED = 103;

    /// What each call of this module can plausibly answer with. Negative: the call is made all the same, and says so
    /// afterwards. None: it cannot fail.
    static final Map<String, int[]> ERRNOS = errnos();

    private final Thread operation = Thread.currentThread();
    private final int nth;
    private final int choice;
    // under the lock
    private int count;
    private String failed;
    private int errno;
    private boolean last;

    /// @param nth call of the operation, from 1
    /// @param choice which of its error numbers, from 0
    Injector(int nth, int choice) {
        this.nth = nth;
        this.choice = choice;
    }

    private static Map<String, int[]> errnos() {
        Map<String, int[]> all = new TreeMap<>();
        all.put("open", new int[] {EINTR, EMFILE, ENFILE, ENOSPC, EACCES});
        // after another one has failed
        all.put("unlink", new int[] {});
        all.put("socket", new int[] {EMFILE, ENFILE, ENOBUFS, EACCES});
        all.put("socketpair", new int[] {EMFILE, ENFILE, ENOMEM});
        all.put("bind", new int[] {EADDRINUSE, EACCES, ENOMEM});
        all.put("listen", new int[] {EADDRINUSE, ENOBUFS});
        all.put("accept4", new int[] {EINTR, EMFILE, ENFILE, ENOBUFS, ECONNABORTED});
        all.put("connect", new int[] {EINTR, ECONNREFUSED, ETIMEDOUT, ENETUNREACH, ENOMEM});
        all.put("getsockname", new int[] {ENOBUFS});
        all.put("getsockopt", new int[] {ENOBUFS, ENOTCONN});
        all.put("getrlimit", new int[] {});
        all.put("geteuid", new int[] {});
        all.put("setsockopt", new int[] {ENOMEM, EINVAL});
        all.put("fcntl", new int[] {EINTR, EPERM, EBUSY, ENOMEM});
        all.put("close", new int[] {-EINTR, -EIO, -ENOSPC});
        all.put("shutdown", new int[] {-ENOTCONN});
        all.put("poll", new int[] {EINTR, ENOMEM});
        all.put("writev", new int[] {EINTR, EAGAIN, ENOBUFS, ENOMEM, EPIPE, ECONNRESET});
        all.put("sendmsg", new int[] {EINTR, EAGAIN, ENOBUFS, ENOMEM, EPIPE, ECONNRESET});
        all.put("sendmmsg", new int[] {EINTR, EAGAIN, ENOBUFS, ENOMEM, EPIPE, ECONNRESET});
        all.put("recv", new int[] {EINTR, EAGAIN, ENOMEM, ECONNRESET});
        all.put("recvmsg", new int[] {EINTR, EAGAIN, ENOMEM, ENOBUFS, ECONNRESET});
        all.put("memfd_create", new int[] {EMFILE, ENFILE, ENOMEM, EINVAL, ENOSYS});
        all.put("ftruncate", new int[] {EINTR, ENOMEM, ENOSPC, EPERM});
        all.put("mmap", new int[] {ENOMEM, EACCES, EAGAIN, EPERM});
        all.put("munmap", new int[] {ENOMEM});
        all.put("mremap", new int[] {ENOMEM, EAGAIN});
        all.put("madvise", new int[] {ENOMEM, EAGAIN, EINVAL});
        all.put("statx", new int[] {ENOMEM, EINTR});
        all.put("fstatfs", new int[] {EINTR, EIO, ENOMEM, ENOSYS});
        all.put("getpagesize", new int[] {});
        all.put("io_uring_setup", new int[] {EMFILE, ENOMEM, ENOSYS, EPERM});
        all.put("io_uring_enter", new int[] {EINTR, EAGAIN, EBUSY, ENOMEM});
        all.put("io_uring_register", new int[] {EMFILE, ENOMEM, EINVAL});
        return all;
    }

    @Override
    public synchronized int before(String call, Object[] arguments) {
        Thread caller = Thread.currentThread();
        if (caller != operation && !caller.getName().startsWith("bulla-")) {
            return 0;
        }
        int[] errnos = ERRNOS.get(call);
        // a call of the tests' own has none; that every one of the code has some is a test of its own
        if (errnos == null || errnos.length == 0 || failed != null || ++count != nth) {
            return 0;
        }
        failed = call;
        errno = errnos[Math.min(choice, errnos.length - 1)];
        last = choice >= errnos.length - 1;
        return errno;
    }

    /// The call that failed; `null` if the operation made fewer.
    synchronized String failed() {
        return failed;
    }

    synchronized int errno() {
        return Math.abs(errno);
    }

    /// Whether the call can answer with no further error number.
    synchronized boolean wasLast() {
        return last;
    }

    static Set<String> calls() {
        return ERRNOS.keySet();
    }
}
