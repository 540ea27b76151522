// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// One thread's scratch for system calls, so that a call allocates nothing, and the calls that use it. A failed
/// call answers with the negative error number; one that a signal interrupted is made again.
///
/// ```
/// msghdr:   0 name  8 namelen  16 iov  24 iovlen  32 control  40 controllen  48 flags      56 bytes
/// pollfd:   0 fd    4 events   6 revents                                                    8 bytes
/// ```
public final class Call {

    public static final int SCRATCH_ENTRIES = 64;
    public static final long MSGHDR_BYTES = 56;
    public static final long MSGHDR_IOV = 16;
    public static final long MSGHDR_IOVLEN = 24;
    public static final long MSGHDR_CONTROL = 32;
    public static final long MSGHDR_CONTROLLEN = 40;
    public static final long MSGHDR_FLAGS = 48;

    private static final long ENTRY_BYTES = 16;
    /// 253 descriptors, the most of one message: nothing of it is thrown away for want of room.
    private static final long CONTROL_BYTES = 16 + 4 * 253 + 4;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final ThreadLocal<Call> CURRENT = ThreadLocal.withInitial(Call::new);

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment errno = arena.allocate(JAVA_INT);
    private final MemorySegment pollfd = arena.allocate(JAVA_LONG);
    /// A message header, zeroed but for what the last call put there.
    public final MemorySegment message = arena.allocate(MSGHDR_BYTES, 8);
    /// Room for entries of a gather.
    public final MemorySegment entries = arena.allocate(SCRATCH_ENTRIES * ENTRY_BYTES, 8);
    /// Room for control messages.
    public final MemorySegment control = arena.allocate(CONTROL_BYTES, 8);
    /// Room for an address, an option, or a byte of payload.
    public final MemorySegment option = arena.allocate(128, 8);

    private Call() {
        // here, too: an error in Libc's initializer would come wrapped, and the second time without its message
        NativeAccess.linker();
    }

    public static Call current() {
        return CURRENT.get();
    }

    public void entry(int index, long address, long length) {
        entries.set(JAVA_LONG, index * ENTRY_BYTES, address);
        entries.set(JAVA_LONG, index * ENTRY_BYTES + 8, length);
    }

    public long writev(int fd, MemorySegment entries, int count) {
        try {
            long result;
            do {
                result = (long) Libc.WRITEV.invokeExact(errno, fd, entries, count);
            } while (result < 0 && errno() == Libc.EINTR);
            return result < 0 ? -errno() : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// @param flags with `MSG_DONTWAIT` the call is made without a change of the thread's state
    public long sendmsg(int fd, MemorySegment entries, int count, int flags) {
        message.set(ADDRESS, MSGHDR_IOV, entries);
        message.set(JAVA_LONG, MSGHDR_IOVLEN, count);
        message.set(JAVA_LONG, MSGHDR_CONTROLLEN, 0);
        return sendmsg(fd, message, flags | Libc.MSG_NOSIGNAL);
    }

    public long sendmsg(int fd, MemorySegment header, int flags) {
        try {
            long result;
            do {
                result = (flags & Libc.MSG_DONTWAIT) != 0
                        ? (long) Libc.SENDMSG_AT_ONCE.invokeExact(errno, fd, header, flags)
                        : (long) Libc.SENDMSG.invokeExact(errno, fd, header, flags);
            } while (result < 0 && errno() == Libc.EINTR);
            return result < 0 ? -errno() : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public long sendmmsg(int fd, MemorySegment headers, int count, int flags) {
        try {
            int result;
            do {
                result = (int) Libc.SENDMMSG.invokeExact(errno, fd, headers, count, flags);
            } while (result < 0 && errno() == Libc.EINTR);
            return result < 0 ? -errno() : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public long recv(int fd, MemorySegment target, long length, int flags) {
        try {
            long result;
            do {
                result = (long) Libc.RECV.invokeExact(errno, fd, target, length, flags);
            } while (result < 0 && errno() == Libc.EINTR);
            return result < 0 ? -errno() : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public long recvmsg(int fd, int flags) {
        try {
            long result;
            do {
                result = (long) Libc.RECVMSG.invokeExact(errno, fd, message, flags);
            } while (result < 0 && errno() == Libc.EINTR);
            return result < 0 ? -errno() : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// @param millis how long at most, however many signals come; -1 for ever
    /// @return the events that are there, 0 after the time
    public long poll(int fd, short events, int millis) {
        pollfd.set(JAVA_INT, 0, fd);
        pollfd.set(JAVA_SHORT, 4, events);
        int result = poll(pollfd, 1, millis);
        return result <= 0 ? result : pollfd.get(JAVA_SHORT, 6);
    }

    /// @param entries of `struct pollfd`
    /// @return how many of them have events, 0 after the time
    public int poll(MemorySegment entries, long count, int millis) {
        long end = millis > 0 ? System.nanoTime() + millis * NANOS_PER_MILLI : 0;
        int left = millis;
        try {
            int result = (int) Libc.POLL.invokeExact(errno, entries, count, left);
            while (result < 0 && errno() == Libc.EINTR) {
                left = millis > 0 ? millisUntil(end) : millis;
                result = (int) Libc.POLL.invokeExact(errno, entries, count, left);
            }
            return result(result);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private static int millisUntil(long end) {
        // rounded up: not to ask again for the last part of a millisecond
        return (int) Math.max(0, (end - System.nanoTime() + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
    }

    int socket(int domain, int type) {
        try {
            return result((int) Libc.SOCKET.invokeExact(errno, domain, type, 0));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// Two descriptors, left in [#option].
    public int socketpair(int domain, int type) {
        try {
            return result((int) Libc.SOCKETPAIR.invokeExact(errno, domain, type, 0, option));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    int bind(int fd, MemorySegment address, int length) {
        try {
            return result((int) Libc.BIND.invokeExact(errno, fd, address, length));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    int listen(int fd, int backlog) {
        try {
            return result((int) Libc.LISTEN.invokeExact(errno, fd, backlog));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public int accept(int fd) {
        try {
            int result;
            do {
                result = (int)
                        Libc.ACCEPT4.invokeExact(errno, fd, MemorySegment.NULL, MemorySegment.NULL, Libc.SOCK_CLOEXEC);
            } while (result < 0 && errno() == Libc.EINTR);
            return result(result);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public int connect(int fd, MemorySegment address, int length) {
        try {
            int result;
            do {
                // again after a signal: Linux waits on for the connection that is under way
                result = result((int) Libc.CONNECT.invokeExact(errno, fd, address, length));
            } while (result == -Libc.EINTR);
            return result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// The address in [#option], whose size the caller has put behind it, at 120.
    public int getsockname(int fd) {
        option.set(JAVA_INT, 120, 112);
        try {
            return result((int) Libc.GETSOCKNAME.invokeExact(errno, fd, option, option.asSlice(120)));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public int setsockopt(int fd, int level, int name, int... values) {
        for (int i = 0; i < values.length; i++) {
            option.setAtIndex(JAVA_INT, i, values[i]);
        }
        try {
            return result(
                    (int) Libc.SETSOCKOPT.invokeExact(errno, fd, level, name, option, values.length * Integer.BYTES));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// The value in [#option], whose size the caller expects.
    public int getsockopt(int fd, int level, int name, int bytes) {
        option.set(JAVA_INT, 120, bytes);
        try {
            return result((int) Libc.GETSOCKOPT.invokeExact(errno, fd, level, name, option, option.asSlice(120)));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// How many descriptors this process may have open.
    ///
    /// @return -1 if the system does not say
    public static long descriptorLimit() {
        try (Arena own = Arena.ofConfined()) {
            // not the scratch: what failed may be in use there
            MemorySegment limits = own.allocate(2 * Long.BYTES, 8);
            int result = (int) Libc.GETRLIMIT.invokeExact(current().errno, Libc.RLIMIT_NOFILE, limits);
            long limit = limits.get(JAVA_LONG, 0);
            // unsigned: without a limit it is the highest
            return result < 0 ? -1 : limit < 0 ? Long.MAX_VALUE : limit;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// The user that this process acts as.
    public int geteuid() {
        try {
            return (int) Libc.GETEUID.invokeExact(errno);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public int fcntl(int fd, int command, int argument) {
        try {
            return result((int) Libc.FCNTL.invokeExact(errno, fd, command, argument));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    /// @param how [Libc#SHUT_RD] or [Libc#SHUT_RDWR]
    public int shutdown(int fd, int how) {
        try {
            return result((int) Libc.SHUTDOWN.invokeExact(errno, fd, how));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    public int close(int fd) {
        try {
            return result((int) Libc.CLOSE.invokeExact(errno, fd));
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private int result(int result) {
        return result < 0 ? -errno() : result;
    }

    private int errno() {
        return errno.get(JAVA_INT, 0);
    }
}
