// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.uring;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// An io_uring by raw system calls: two rings shared with the kernel, one of requests, one of completions.
///
/// ```
/// io_uring_params:  0 sq_entries  4 cq_entries  8 flags  20 features  40 sq_off  80 cq_off           120 bytes
/// sq_off:           0 head  4 tail  8 mask  12 entries  16 flags  20 dropped  24 array
/// cq_off:           0 head  4 tail  8 mask  12 entries  16 overflow  20 cqes
/// request (SQE):    0 opcode  1 flags  2 ioprio  4 fd  8 off  16 addr  24 len  28 op flags  32 user_data  64 bytes
/// completion (CQE): 0 user_data  8 res  12 flags                                                      16 bytes
/// ```
///
/// Ordering
/// 1. **A request is whole when the kernel sees it.** Its fields are written before the tail is released; the
///    head is acquired before a place is written again.
/// 2. **A completion is whole when it is read.** The tail is acquired before its fields are read; they are read
///    before the head is released, which gives the place back.
///
/// Belongs to the thread that opened it.
public final class Ring implements AutoCloseable {

    public static final byte OP_WRITEV = 2;
    public static final byte OP_FSYNC = 3;
    public static final byte OP_READ_FIXED = 4;
    public static final byte OP_WRITE_FIXED = 5;
    public static final byte OP_POLL_ADD = 6;
    public static final byte OP_ASYNC_CANCEL = 14;
    public static final byte OP_WRITE = 23;
    public static final byte OP_SENDMSG_ZC = 48;
    public static final int CQE_MORE = 2;
    public static final int CQE_NOTIF = 8;

    public static final long SQE_OPCODE = 0;
    public static final long SQE_FD = 4;
    public static final long SQE_OFFSET = 8;
    public static final long SQE_ADDRESS = 16;
    public static final long SQE_LENGTH = 24;
    public static final long SQE_OP_FLAGS = 28;
    public static final long SQE_USER_DATA = 32;
    public static final long SQE_BUFFER = 40;

    private static final long SETUP = 425;
    private static final long ENTER = 426;
    private static final long REGISTER = 427;
    private static final long REGISTER_PROBE = 8;
    private static final long ENTER_GETEVENTS = 1;
    private static final int FEATURE_SINGLE_MMAP = 1;
    private static final int FEATURE_NODROP = 2;
    private static final int FEATURE_SUBMIT_STABLE = 4;
    private static final int FEATURES = FEATURE_SINGLE_MMAP | FEATURE_NODROP | FEATURE_SUBMIT_STABLE;
    private static final long OFFSET_SQES = 0x10000000;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED_POPULATE = 0x8001;
    private static final long SQE_BYTES = 64;
    private static final long CQE_BYTES = 16;
    private static final int PROBE_OPS = 256;
    private static final int PROBE_SUPPORTED = 1;

    private static final MethodHandle SYSCALL_SETUP = Libc.numbered("io_uring_setup", JAVA_LONG, ADDRESS);
    private static final MethodHandle SYSCALL_ENTER =
            Libc.numbered("io_uring_enter", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle SYSCALL_REGISTER =
            Libc.numbered("io_uring_register", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle MMAP =
            Libc.function("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final VarHandle INT = JAVA_INT.varHandle();

    /// Told of each completion.
    public interface Listener {

        void completed(long userData, int result, int flags);
    }

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment errno = arena.allocate(JAVA_INT);
    private final MemorySegment params = arena.allocate(120, 8);
    private final MemorySegment probe = arena.allocate(16 + 8L * PROBE_OPS, 8);
    private final int fd;
    private final MemorySegment rings;
    private final MemorySegment requests;
    private final long sqHead;
    private final long sqTail;
    private final int sqEntries;
    private final long cqHead;
    private final long cqTail;
    private final long cqes;
    private final int cqMask;
    // the tail that the kernel will see next
    private int tail;
    private boolean closed;

    /// @throws PosixException with `ENOSYS` or `EPERM` where there is no io_uring, or an older one
    public Ring(int entries) throws PosixException {
        int opened = -1;
        @Nullable MemorySegment mapped = null;
        try {
            opened = (int) check("io_uring_setup", syscall(SYSCALL_SETUP, SETUP, entries), "entries=" + entries);
            int features = params.get(JAVA_INT, 20);
            if ((features & FEATURES) != FEATURES) {
                throw new PosixException("io_uring_setup", Errno.ENOSYS.number(), "features=" + features);
            }
            probe(opened);
            sqEntries = params.get(JAVA_INT, 0);
            int cqEntries = params.get(JAVA_INT, 4);
            long array = params.get(JAVA_INT, 40 + 24);
            cqes = params.get(JAVA_INT, 80 + 20);
            mapped = map(opened, 0, Math.max(array + 4L * sqEntries, cqes + CQE_BYTES * cqEntries));
            requests = map(opened, OFFSET_SQES, SQE_BYTES * sqEntries);
            rings = mapped;
            sqHead = params.get(JAVA_INT, 40);
            sqTail = params.get(JAVA_INT, 40 + 4);
            cqHead = params.get(JAVA_INT, 80);
            cqTail = params.get(JAVA_INT, 80 + 4);
            cqMask = cqEntries - 1;
            for (int i = 0; i < sqEntries; i++) {
                rings.setAtIndex(JAVA_INT, array / 4 + i, i);
            }
            fd = opened;
        } catch (Throwable failure) {
            unmap(mapped);
            if (opened >= 0) {
                Call.current().close(opened);
            }
            arena.close();
            throw failure;
        }
    }

    public int fd() {
        return fd;
    }

    public boolean supports(int opcode) {
        int last = Byte.toUnsignedInt(probe.get(JAVA_BYTE, 0));
        return opcode <= last && (probe.get(JAVA_SHORT, 16 + 8L * opcode + 2) & PROBE_SUPPORTED) != 0;
    }

    public boolean isOpen() {
        return !closed;
    }

    /// A place for one more request, zeroed, to be filled in before the next [#enter]. Until then it is a request for
    /// nothing.
    ///
    /// @param userData of that one
    /// @return `null` if the ring is full
    /// @throws IllegalStateException if it is closed
    @Nullable
    public MemorySegment next(long userData) {
        if (closed) {
            throw new IllegalStateException("ring is closed already: ring=" + fd);
        }
        // acquire: ordering 1, the kernel has read what was there
        int head = (int) INT.getAcquire(rings, sqHead);
        if (tail - head == sqEntries) {
            return null;
        }
        MemorySegment request = requests.asSlice((tail & sqEntries - 1) * SQE_BYTES, SQE_BYTES);
        request.fill((byte) 0);
        request.set(JAVA_LONG, SQE_USER_DATA, userData);
        // last: what was there before is never given again
        tail++;
        return request;
    }

    /// Hands the kernel all requests that were filled in, and has it tell what it has done. Nothing, once it is
    /// closed.
    ///
    /// @throws PosixException with `EAGAIN` or `EBUSY` if completions are to be read first
    public void enter() throws PosixException {
        if (closed) {
            return;
        }
        // release: ordering 1, the requests are written above this line
        INT.setRelease(rings, sqTail, tail);
        do {
            // acquire: how many the kernel has read, for it need not take all at once
            int waiting = tail - (int) INT.getAcquire(rings, sqHead);
            long result = syscallEnter(waiting);
            if (result != -Libc.EINTR) {
                if (result < 0) {
                    throw CallFailure.of("io_uring_enter", (int) -result, "requests=" + waiting);
                }
                if (result == 0) {
                    return;
                }
            }
            // acquire: as above
        } while (tail != (int) INT.getAcquire(rings, sqHead));
    }

    /// Reads the completions that are there. The listener may call back: read on, or close the ring.
    ///
    /// @return how many
    public int reap(Listener listener) {
        if (closed) {
            return 0;
        }
        // acquire: ordering 2, completions below the tail are written
        int end = (int) INT.getAcquire(rings, cqTail);
        int count = 0;
        while (!closed) {
            // plain: no other thread writes the head; read again, for the listener may have read on
            int head = rings.get(JAVA_INT, cqHead);
            if (end - head <= 0) {
                break;
            }
            long at = cqes + (head & cqMask) * CQE_BYTES;
            long userData = rings.get(JAVA_LONG, at);
            int result = rings.get(JAVA_INT, at + 8);
            int flags = rings.get(JAVA_INT, at + 12);
            // release: ordering 2, the place is read above this line
            INT.setRelease(rings, cqHead, head + 1);
            count++;
            listener.completed(userData, result, flags);
        }
        return count;
    }

    /// Once nothing is in flight: the kernel would go on in the dark.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        unmap(requests);
        unmap(rings);
        Call.current().close(fd);
        arena.close();
    }

    private void probe(int ring) throws PosixException {
        check("io_uring_register", register(ring, REGISTER_PROBE, probe, PROBE_OPS), "opcode=PROBE");
    }

    /// Tells the kernel about resources.
    ///
    /// @param opcode of `io_uring_register`
    /// @param argument in the kernel's layout
    /// @param count of what the argument has, or its size
    /// @return the negative error number, if it failed
    public long register(long opcode, MemorySegment argument, long count) {
        return register(fd, opcode, argument, count);
    }

    private long register(int ring, long opcode, MemorySegment argument, long count) {
        try {
            long result = (long) SYSCALL_REGISTER.invokeExact(errno, REGISTER, (long) ring, opcode, argument, count);
            return result < 0 ? -errno.get(JAVA_INT, 0) : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private long syscall(MethodHandle handle, long number, long entries) {
        try {
            long result = (long) handle.invokeExact(errno, number, entries, params);
            return result < 0 ? -errno.get(JAVA_INT, 0) : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private long syscallEnter(int waiting) {
        try {
            long result = (long) SYSCALL_ENTER.invokeExact(
                    errno, ENTER, (long) fd, (long) waiting, 0L, ENTER_GETEVENTS, MemorySegment.NULL, 0L);
            return result < 0 ? -errno.get(JAVA_INT, 0) : result;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private MemorySegment map(int file, long offset, long bytes) throws PosixException {
        long address;
        try {
            address = (long) MMAP.invokeExact(errno, 0L, bytes, PROT_READ_WRITE, MAP_SHARED_POPULATE, file, offset);
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
        check("mmap", address == -1 ? -errno.get(JAVA_INT, 0) : 0, "bytes=" + bytes);
        return Memfd.view(address, bytes);
    }

    private void unmap(@Nullable MemorySegment mapping) {
        if (mapping == null) {
            return;
        }
        Mapping.unmap(mapping.address(), mapping.byteSize());
    }

    private static long check(String call, long result, String what) throws PosixException {
        if (result < 0) {
            throw CallFailure.of(call, (int) -result, what);
        }
        return result;
    }
}
