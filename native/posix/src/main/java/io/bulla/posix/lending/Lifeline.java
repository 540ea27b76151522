// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.Errno;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.stream.StreamSocket;
import io.bulla.refcount.RefCount;
import org.jspecify.annotations.Nullable;

/// Keeps the string, and the socket on which leases go back, as long as this process may have a mapping.
/// Its holders are the borrower and every mapping. Any thread may call.
final class Lifeline extends RefCount {

    /// Another way for leases to go back.
    @FunctionalInterface
    interface Returns {

        /// @return false if it cannot be now
        boolean giveBack(int slot, int generation, long slab);
    }

    private final StreamSocket socket;
    private final Descriptor string;
    // volatile: any thread gives back
    private volatile @Nullable Returns link;

    Lifeline(StreamSocket socket, Descriptor string) {
        super(null);
        this.socket = socket;
        this.string = string;
    }

    /// @return false if the borrower and every mapping are gone
    boolean enter() {
        return retain(1);
    }

    void leave() {
        release();
    }

    /// Leases go back there from now on, where it takes them.
    void giveBackBy(Returns other) {
        // volatile: with what it is made of
        link = other;
    }

    /// Gives a lease back, if that goes at once.
    ///
    /// @return false if it is to be given back later
    boolean giveBack(int slot, int generation, long slab) {
        // volatile: as above
        Returns other = link;
        return (other != null && takes(other, slot, generation, slab)) || say(slot, generation, slab);
    }

    private static boolean takes(Returns other, int slot, int generation, long slab) {
        try {
            return other.giveBack(slot, generation, slab);
        } catch (Throwable refused) {
            // its promise: nothing was given back then
            return false;
        }
    }

    /// Says something to the lender, if that goes at once.
    ///
    /// @return false if it is to be said again later; true if it was said, or there is no lender any more
    boolean say(int slot, int generation, long slab) {
        if (!socket.descriptor().tryEnter()) {
            return true;
        }
        try {
            Call call = Call.current();
            SlabRecord.giveBack(call.option, slot, generation, slab);
            call.entry(0, call.option.address(), SlabRecord.TO_LENDER);
            long result = call.sendmsg(socket.descriptor().fd(), call.entries, 1, Libc.MSG_DONTWAIT);
            return result >= 0 || !isForNow((int) -result);
        } finally {
            socket.descriptor().leave();
        }
    }

    private static boolean isForNow(int errno) {
        return errno == Libc.EAGAIN || errno == Errno.ENOBUFS.number() || errno == Errno.ENOMEM.number();
    }

    @Override
    protected void free() {
        // the connection says nothing that the string does not
        string.close();
        socket.close();
    }
}
