// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import io.bulla.iovec.IoVec;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A send that waits until the peer has taken every byte, from the calling thread's scratch: it allocates
/// nothing.
public final class WholeSend {

    private WholeSend() {}

    /// @param bytes whose memory the caller holds
    public static void send(StreamSocket socket, IoVec bytes) throws PosixException {
        send(socket, bytes, null);
    }

    /// @param bytes whose memory the caller holds
    /// @param patience of a socket that does not wait by itself; `null` for as long as it takes
    public static void send(StreamSocket socket, IoVec bytes, @Nullable Patience patience) throws PosixException {
        Call call = Call.current();
        boolean partly = false;
        int region = 0;
        long inRegion = 0;
        try {
            while (region < bytes.regionCount()) {
                int count = fillScratch(call, bytes, region, inRegion);
                inRegion += sendScratch(socket, call, count, patience);
                partly = true;
                while (region < bytes.regionCount()
                        && inRegion >= bytes.region(region).byteSize()) {
                    inRegion -= bytes.region(region++).byteSize();
                }
            }
        } catch (Throwable failure) {
            if (partly) {
                socket.breakStream(failure);
            }
            throw failure;
        }
    }

    private static int fillScratch(Call call, IoVec bytes, int region, long inRegion) {
        int count = 0;
        long skipped = inRegion;
        for (int i = region; i < bytes.regionCount() && count < Call.SCRATCH_ENTRIES; i++) {
            MemorySegment memory = bytes.region(i);
            if (!memory.isNative() || !memory.scope().isAlive()) {
                throw unreachable(i, memory);
            }
            call.entry(count++, memory.address() + skipped, memory.byteSize() - skipped);
            skipped = 0;
        }
        return count;
    }

    private static long sendScratch(StreamSocket socket, Call call, int count, @Nullable Patience patience)
            throws PosixException {
        int fd = socket.descriptor().enter("sendmsg");
        try {
            while (true) {
                long result = call.sendmsg(fd, call.entries, count, socket.flags());
                if (result >= 0) {
                    return result;
                }
                if (result != -Libc.EAGAIN) {
                    throw socket.failed("sendmsg", result);
                }
                if (patience == null) {
                    socket.awaitReady(fd, Libc.POLLOUT);
                } else {
                    patience.awaitWritable(socket.descriptor(), fd);
                }
            }
        } finally {
            socket.descriptor().leave();
        }
    }

    private static IllegalArgumentException unreachable(int index, MemorySegment region) {
        return new IllegalArgumentException((region.isNative() ? "region is freed already" : "region lies on the heap")
                + ": index=" + index + " byteSize=" + region.byteSize());
    }
}
