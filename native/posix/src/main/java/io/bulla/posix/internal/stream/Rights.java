// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Libc;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A message of fixed length that carries a descriptor, over a unix socket (`SCM_RIGHTS`). One thread's.
///
/// ```
/// control:  0 length  8 level  12 type  16 descriptors, 4 bytes each
/// ```
///
/// The descriptor goes with the first byte. A receive never reads past the message, and the kernel never joins
/// what comes after descriptors to what came before, so other traffic may surround it.
///
/// A sender may put descriptors on every byte. The first is kept, any other is counted and thrown away as it
/// comes: one message that is not whole holds one.
public final class Rights implements AutoCloseable {

    private static final int SCM_RIGHTS = 1;
    private static final int CMSG_CLOEXEC = 0x40000000;
    private static final int CTRUNC = 0x8;
    private static final long HEADER = 16;
    private static final int NONE = -1;

    private int first = NONE;
    private int count;
    private boolean truncated;
    private long bytes;

    private Rights() {}

    /// The first that came; closed with this, until it is [#handedOn()].
    ///
    /// @return -1 if there is none
    public int first() {
        return first;
    }

    /// How many came.
    public int count() {
        return count;
    }

    /// Bytes that a [#tryReceive] has read: 0 at the end of the stream, -1 if there are none now.
    public long bytes() {
        return bytes;
    }

    /// Whether more were sent than this process may have open.
    public boolean truncated() {
        return truncated;
    }

    /// The first one belongs to the receiver now.
    public void handedOn() {
        first = NONE;
    }

    @Override
    public void close() {
        if (first != NONE) {
            Discard.close(first);
            first = NONE;
        }
    }

    /// Sends `message` whole. If only a part of it goes out, the stream is broken.
    ///
    /// @param message native
    public static void send(StreamSocket to, MemorySegment message, int... descriptors) throws PosixException {
        Call call = Call.current();
        long control = descriptors.length == 0 ? 0 : control(call, descriptors);
        long done = 0;
        try {
            for (; done < message.byteSize(); control = 0) {
                point(call, message.asSlice(done), control);
                done += to.wait("sendmsg", Libc.POLLOUT, fd -> call.sendmsg(fd, call.message, Libc.MSG_NOSIGNAL));
            }
        } catch (Throwable failure) {
            if (done > 0) {
                to.breakStream(failure);
            }
            throw failure;
        } finally {
            point(call, MemorySegment.NULL, 0);
        }
    }

    /// Sends a short `message` whole, or nothing. Does not wait.
    ///
    /// @param message native, of no more bytes than go out in one piece
    /// @param with its descriptor, or none
    /// @return false if the socket has no room
    public static boolean trySend(StreamSocket to, MemorySegment message, @Nullable Descriptor with)
            throws PosixException {
        int carried = with == null ? NONE : with.enter("sendmsg");
        try {
            int fd = to.descriptor().enter("sendmsg");
            try {
                return trySend(to, fd, message, carried);
            } finally {
                to.descriptor().leave();
            }
        } finally {
            if (with != null) {
                with.leave();
            }
        }
    }

    private static boolean trySend(StreamSocket to, int fd, MemorySegment message, int carried) throws PosixException {
        Call call = Call.current();
        try {
            point(call, message, carried == NONE ? 0 : control(call, carried));
            long sent = call.sendmsg(fd, call.message, Libc.MSG_DONTWAIT | Libc.MSG_NOSIGNAL);
            if (sent == -Libc.EAGAIN) {
                return false;
            }
            if (sent < 0) {
                throw to.failed("sendmsg", sent);
            }
            if (sent < message.byteSize()) {
                PosixException part = to.failed("sendmsg", -Errno.EMSGSIZE.number());
                to.breakStream(part);
                throw part;
            }
            return true;
        } finally {
            point(call, MemorySegment.NULL, 0);
        }
    }

    /// Receives what is there, up to the size of `target`. Does not wait.
    ///
    /// @param target native
    /// @return what came with it, and how much it was
    /// @throws PosixException if the system refuses; no descriptor stays open
    public static Rights tryReceive(StreamSocket from, MemorySegment target) throws PosixException {
        Call call = Call.current();
        Rights rights = new Rights();
        int fd = from.descriptor().enter("recvmsg");
        try {
            point(call, target, call.control.byteSize());
            long read = call.recvmsg(fd, CMSG_CLOEXEC | Libc.MSG_DONTWAIT);
            if (read < 0 && read != -Libc.EAGAIN) {
                throw from.failed("recvmsg", read);
            }
            rights.bytes = Math.max(-1, read);
            if (read >= 0) {
                rights.collect(call);
            }
            return rights;
        } finally {
            point(call, MemorySegment.NULL, 0);
            from.descriptor().leave();
        }
    }

    /// Receives a message that fills `target`. If only a part of it can be read, the stream is broken: what
    /// comes next is not a message's begin.
    ///
    /// @param target native
    /// @return what came with it
    /// @throws EOFException if the peer closes before its end; no descriptor stays open
    /// @throws IOException if the system refuses; no descriptor stays open
    public static Rights receive(StreamSocket from, MemorySegment target) throws IOException {
        Call call = Call.current();
        Rights rights = new Rights();
        long done = 0;
        try {
            while (done < target.byteSize()) {
                point(call, target.asSlice(done), call.control.byteSize());
                long read = from.wait("recvmsg", Libc.POLLIN, fd -> call.recvmsg(fd, CMSG_CLOEXEC));
                rights.collect(call);
                if (read == 0) {
                    throw new EOFException("connection ended: wanted=" + target.byteSize() + " read=" + done);
                }
                done += read;
            }
            return rights;
        } catch (EOFException ended) {
            rights.close();
            throw ended;
        } catch (Throwable failure) {
            rights.close();
            if (done > 0) {
                from.breakStream(failure);
            }
            throw failure;
        } finally {
            point(call, MemorySegment.NULL, 0);
        }
    }

    private static long control(Call call, int... descriptors) {
        long length = HEADER + (long) Integer.BYTES * descriptors.length;
        call.control.set(JAVA_LONG, 0, length);
        call.control.set(JAVA_INT, 8, Libc.SOL_SOCKET);
        call.control.set(JAVA_INT, 12, SCM_RIGHTS);
        for (int i = 0; i < descriptors.length; i++) {
            call.control.set(JAVA_INT, HEADER + (long) Integer.BYTES * i, descriptors[i]);
        }
        return length + 7 & -8;
    }

    private static void point(Call call, MemorySegment bytes, long control) {
        call.entry(0, bytes.address(), bytes.byteSize());
        call.message.set(ADDRESS, Call.MSGHDR_IOV, call.entries);
        call.message.set(JAVA_LONG, Call.MSGHDR_IOVLEN, 1);
        call.message.set(ADDRESS, Call.MSGHDR_CONTROL, control == 0 ? MemorySegment.NULL : call.control);
        call.message.set(JAVA_LONG, Call.MSGHDR_CONTROLLEN, control);
        call.message.set(JAVA_INT, Call.MSGHDR_FLAGS, 0);
    }

    private void collect(Call call) {
        truncated |= (call.message.get(JAVA_INT, Call.MSGHDR_FLAGS) & CTRUNC) != 0;
        long end = call.message.get(JAVA_LONG, Call.MSGHDR_CONTROLLEN);
        for (long at = 0; at + HEADER <= end; ) {
            long length = call.control.get(JAVA_LONG, at);
            if (call.control.get(JAVA_INT, at + 8) == Libc.SOL_SOCKET
                    && call.control.get(JAVA_INT, at + 12) == SCM_RIGHTS) {
                for (long each = at + HEADER; each < at + length; each += Integer.BYTES) {
                    take(call.control.get(JAVA_INT, each));
                }
            }
            at += length + 7 & -8;
        }
    }

    private void take(int fd) {
        if (count++ == 0) {
            first = fd;
        } else {
            Discard.close(fd);
        }
    }
}
