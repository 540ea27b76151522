// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A message of fixed length that carries descriptors, over a unix socket (`SCM_RIGHTS`).
///
/// ```
/// control:  0 length  8 level  12 type  16 descriptors, 4 bytes each
/// ```
///
/// The descriptors go with the first byte. A receive never reads past the message, and the kernel never joins
/// what comes after descriptors to what came before, so other traffic may surround it.
final class Rights {

    private static final int SCM_RIGHTS = 1;
    private static final int CMSG_CLOEXEC = 0x40000000;
    private static final int CTRUNC = 0x8;
    private static final long HEADER = 16;

    /// Those received; the receiver closes each, or hands it on.
    private final List<Integer> descriptors = new ArrayList<>();
    private boolean truncated;

    private Rights() {}

    List<Integer> descriptors() {
        return descriptors;
    }

    /// Whether more were sent than there was room for, or than this process may have open.
    boolean truncated() {
        return truncated;
    }

    void closeAll() {
        descriptors.forEach(Call.current()::close);
        descriptors.clear();
    }

    /// Sends `message` whole.
    ///
    /// @param message native
    static void send(PosixSocket to, MemorySegment message, int... descriptors) throws PosixException {
        Call call = Call.current();
        long length = HEADER + (long) Integer.BYTES * descriptors.length;
        call.control.set(JAVA_LONG, 0, length);
        call.control.set(JAVA_INT, 8, Libc.SOL_SOCKET);
        call.control.set(JAVA_INT, 12, SCM_RIGHTS);
        for (int i = 0; i < descriptors.length; i++) {
            call.control.set(JAVA_INT, HEADER + (long) Integer.BYTES * i, descriptors[i]);
        }
        long control = descriptors.length == 0 ? 0 : length + 7 & -8;
        for (long done = 0; done < message.byteSize(); control = 0) {
            point(call, message.asSlice(done), control);
            done += to.wait("sendmsg", Libc.POLLOUT, fd -> call.sendmsg(fd, call.message, Libc.MSG_NOSIGNAL));
        }
    }

    /// Receives a message that fills `target`.
    ///
    /// @param target native
    /// @return what came with it
    /// @throws EOFException if the peer closes before its end; no descriptor stays open
    /// @throws IOException if the system refuses; no descriptor stays open
    static Rights receive(PosixSocket from, MemorySegment target) throws IOException {
        Call call = Call.current();
        Rights rights = new Rights();
        try {
            for (long done = 0; done < target.byteSize(); ) {
                point(call, target.asSlice(done), call.control.byteSize());
                long read = from.wait("recvmsg", Libc.POLLIN, fd -> call.recvmsg(fd, CMSG_CLOEXEC));
                rights.collect(call);
                if (read == 0) {
                    throw new EOFException("connection ended: wanted=" + target.byteSize() + " read=" + done);
                }
                done += read;
            }
            return rights;
        } catch (Throwable failure) {
            rights.closeAll();
            throw failure;
        } finally {
            point(call, MemorySegment.NULL, 0);
        }
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
                    descriptors.add(call.control.get(JAVA_INT, each));
                }
            }
            at += length + 7 & -8;
        }
    }
}
