// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Libc;
import java.lang.foreign.MemorySegment;

/// A socket's error queue, where the kernel tells which `MSG_ZEROCOPY` calls it has done with.
///
/// ```
/// cmsghdr:            0 len (64 bits)  8 level  12 type        then, at 16:
/// sock_extended_err:  0 errno  4 origin  5 type  6 code  7 -  8 info = first call  12 data = last call
/// ```
final class ErrorQueue {

    private static final int MSG_ERRQUEUE = 0x2000;
    private static final int SOL_IP = 0;
    private static final int IP_RECVERR = 11;
    private static final int SOL_IPV6 = 41;
    private static final int IPV6_RECVERR = 25;
    private static final byte ORIGIN_ZEROCOPY = 5;
    private static final byte CODE_COPIED = 1;
    private static final long HEADER_BYTES = 16;

    /// Told of each range of calls, both ends included.
    interface Listener {

        void notified(int low, int high, boolean copied);
    }

    private ErrorQueue() {}

    /// Takes out the next message, which has one range.
    ///
    /// @param listener may call back
    /// @return false if there is none
    /// @throws PosixException if the system refuses
    static boolean next(int fd, Listener listener) throws PosixException {
        Call call = Call.current();
        MemorySegment message = call.message.fill((byte) 0);
        message.set(ADDRESS, Call.MSGHDR_CONTROL, call.control);
        message.set(JAVA_LONG, Call.MSGHDR_CONTROLLEN, call.control.byteSize());
        long result = call.recvmsg(fd, MSG_ERRQUEUE | Libc.MSG_DONTWAIT);
        long length = message.get(JAVA_LONG, Call.MSGHDR_CONTROLLEN);
        message.fill((byte) 0);
        if (result == -Libc.EAGAIN) {
            return false;
        }
        if (result < 0) {
            throw CallFailure.of("recvmsg", (int) -result, "flags=MSG_ERRQUEUE socket=" + fd);
        }
        tell(call.control, length, listener);
        return true;
    }

    /// It takes no heap: the notification is out of the queue.
    private static void tell(MemorySegment control, long end, Listener listener) {
        long at = 0;
        while (at + HEADER_BYTES <= end) {
            long length = control.get(JAVA_LONG, at);
            int level = control.get(JAVA_INT, at + 8);
            int type = control.get(JAVA_INT, at + 12);
            boolean error = level == SOL_IP && type == IP_RECVERR || level == SOL_IPV6 && type == IPV6_RECVERR;
            long data = at + HEADER_BYTES;
            if (error && control.get(JAVA_BYTE, data + 4) == ORIGIN_ZEROCOPY) {
                listener.notified(
                        control.get(JAVA_INT, data + 8),
                        control.get(JAVA_INT, data + 12),
                        control.get(JAVA_BYTE, data + 6) == CODE_COPIED);
                // the listener may have called back, and used the scratch
                return;
            }
            at += Math.max(HEADER_BYTES, length + 7 & -8);
        }
    }
}
