// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The C library's functions that this module calls, each with `errno` captured: the first argument of every
/// handle is where it goes.
///
/// Constants and layouts are those of Linux on x86-64 and AArch64, where `long` and pointers have 64 bits.
public final class Libc {

    public static final int EINTR = 4;
    public static final int EAGAIN = 11;

    public static final int AF_UNIX = 1;
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    public static final int SOCK_STREAM = 1;
    public static final int SOCK_CLOEXEC = 0x80000;
    public static final int SOL_SOCKET = 1;
    static final int SO_REUSEADDR = 2;
    public static final int SO_SNDBUF = 7;
    public static final int SO_LINGER = 13;
    public static final int SO_PEERCRED = 17;
    public static final int SHUT_RD = 0;
    public static final int SHUT_RDWR = 2;
    static final int IPPROTO_TCP = 6;
    static final int TCP_NODELAY = 1;
    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_NOSIGNAL = 0x4000;
    public static final int F_GETFL = 3;
    public static final int F_DUPFD_CLOEXEC = 1030;
    public static final int F_SETFL = 4;
    public static final int O_NONBLOCK = 0x800;
    static final int RLIMIT_NOFILE = 7;
    public static final short POLLIN = 1;
    public static final short POLLOUT = 4;
    /// Entries of one gather.
    public static final int IOV_MAX = 1024;

    private static final Linker LINKER = NativeAccess.linker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    static final MethodHandle SOCKET = function("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle SOCKETPAIR = function("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    static final MethodHandle BIND = function("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle LISTEN = function("listen", JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle ACCEPT4 = function("accept4", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    static final MethodHandle CONNECT = function("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle GETSOCKNAME = function("getsockname", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    static final MethodHandle SETSOCKOPT =
            function("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle GETSOCKOPT =
            function("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    static final MethodHandle GETRLIMIT = function("getrlimit", JAVA_INT, JAVA_INT, ADDRESS);
    static final MethodHandle GETEUID = function("geteuid", JAVA_INT);
    static final MethodHandle FCNTL = variadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle CLOSE = function("close", JAVA_INT, JAVA_INT);
    static final MethodHandle SHUTDOWN = function("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
    public static final MethodHandle POLL = function("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    static final MethodHandle WRITEV = function("writev", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle SENDMSG = function("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle SENDMMSG = function("sendmmsg", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    static final MethodHandle RECV = function("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    static final MethodHandle RECVMSG = function("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);

    /// The same functions for calls that never block: no thread state changes, and no garbage collection
    /// meanwhile.
    static final MethodHandle SENDMSG_AT_ONCE = critical("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);

    private Libc() {}

    public static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return SyscallInterceptor.around(name, downcall(name, result, arguments, ERRNO));
    }

    static MethodHandle critical(String name, MemoryLayout result, MemoryLayout... arguments) {
        return SyscallInterceptor.around(name, downcall(name, result, arguments, ERRNO, Linker.Option.critical(false)));
    }

    /// @param fixed how many arguments come before the variable ones
    public static MethodHandle variadic(String name, int fixed, MemoryLayout result, MemoryLayout... arguments) {
        return SyscallInterceptor.around(
                name, downcall(name, result, arguments, ERRNO, Linker.Option.firstVariadicArg(fixed)));
    }

    /// A system call that the C library has no function for.
    ///
    /// @param name of the system call
    /// @param arguments behind its number
    public static MethodHandle numbered(String name, MemoryLayout... arguments) {
        MemoryLayout[] all = new MemoryLayout[arguments.length + 1];
        all[0] = JAVA_LONG;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return SyscallInterceptor.around(
                name, downcall("syscall", JAVA_LONG, all, ERRNO, Linker.Option.firstVariadicArg(1)));
    }

    // restricted: what this module is for; NativeAccess has asked for the permission
    @SuppressWarnings("restricted")
    private static MethodHandle downcall(
            String name, MemoryLayout result, MemoryLayout[] arguments, Linker.Option... options) {
        MemorySegment address = LINKER.defaultLookup()
                .find(name)
                .orElseThrow(() -> new UnsupportedOperationException("no such function in the C library: " + name));
        List<MemoryLayout> all = new ArrayList<>(Arrays.asList(arguments));
        return LINKER.downcallHandle(address, FunctionDescriptor.of(result, all.toArray(MemoryLayout[]::new)), options);
    }

    /// What a method handle threw: a downcall only refuses its arguments, memory that is freed or another
    /// thread's; a full heap is one of the errors.
    public static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof RuntimeException refused) {
            throw refused;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a system call threw", thrown);
    }
}
