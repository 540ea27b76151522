// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Deque;
import java.util.LinkedList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// What was asked of a fabric, until it has said how it ended. The local memory stays the fabric's until then.
///
/// A long gather is asked for in pieces; it has ended when all of them have.
public abstract class FabricOperation {

    /// A part of an operation that the fabric is given at once.
    record Piece(FabricOperation of, int index) {}

    /// Where operations begin: an endpoint of libfabric's. The module has one subclass.
    abstract static class Origin {

        final long address;
        // what the fabric does not take yet, in order; under the domain's monitor, as below
        // links: an add that finds no heap leaves the others
        final Deque<Piece> waiting = new LinkedList<>();
        boolean closed;

        Origin(long address) {
            this.address = address;
        }

        /// The lock of an operation.
        abstract Object monitor();

        /// Lets the fabric work.
        abstract void progress() throws FabricException;
    }

    private final Origin from;
    private final String call;
    // under the domain's monitor, as all below
    private int left;
    private int error;

    FabricOperation(Origin from, String call, int pieces) {
        this.from = from;
        this.call = call;
        this.left = pieces;
    }

    /// Tells whether the fabric has said how it ended.
    ///
    /// @return false while it has not
    public final boolean isDone() {
        synchronized (from.monitor()) {
            return left == 0;
        }
    }

    /// Makes progress until it has ended. Some fabrics never say so, as of a write by a key that was revoked.
    ///
    /// @param patience how long at most
    /// @throws FabricException with libfabric's error: the peer has revoked the key, or is gone
    /// @throws TimeoutException if the time is over. The fabric may still use the local memory: closing the
    ///     endpoint ends that
    public final void await(Duration patience) throws FabricException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(patience);
        while (!isDone()) {
            if (System.nanoTime() - end > 0) {
                throw new TimeoutException("no answer: " + this + " waitedMs=" + patience.toMillis());
            }
            from.progress();
        }
        check();
    }

    /// @throws FabricException with libfabric's error, if it has ended so
    final void check() throws FabricException {
        synchronized (from.monitor()) {
            if (error != 0) {
                throw Libfabric.failed(call, error, what());
            }
        }
    }

    final Origin from() {
        return from;
    }

    /// Hands a piece to the fabric.
    ///
    /// @param own for structures that it reads at once
    /// @param id what it answers with
    /// @return 0, or libfabric's negative number
    abstract long begin(Arena own, int piece, long id) throws FabricException;

    /// The fabric has let go of all memory of it. Once.
    abstract void over(long bytes);

    /// Values for messages.
    abstract String what();

    /// A piece has ended.
    ///
    /// @param with libfabric's number, 0 if it has none
    /// @param bytes as the fabric counted them
    final void ended(int with, long bytes) {
        error = error == 0 ? with : error;
        if (--left == 0) {
            over(bytes);
        }
    }

    @Override
    public final String toString() {
        return call + "[" + what() + (isDone() ? " error=" + error : " waits") + "]";
    }
}
