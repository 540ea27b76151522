// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.uring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Libc;
import java.lang.foreign.MemorySegment;

/// The owner's loop over one ring: requests go to the kernel, completions come back, one at a time, to one listener.
///
/// ```
/// request, filled in --give--> the kernel --takeUp, await--> the listener
/// ```
///
/// A completion that belongs to none, a cancellation's, is dropped here. The listener may call back, and close the
/// loop: nothing is given or taken up from then on. Belongs to the thread that made it.
public final class CompletionLoop implements AutoCloseable {

    // user data of a request that nothing waits for
    private static final long NONES = 1L << 61;

    private final Thread owner = Thread.currentThread();
    private final String what;
    private final Ring ring;
    private final Ring.Listener listener;
    // made once: what is taken up takes no heap
    private final Ring.Listener each = this::completed;

    /// Takes the ring over.
    ///
    /// @param what the loop is of, for messages
    /// @param listener told of each completion; its user data has no bit 61
    public CompletionLoop(String what, Ring ring, Ring.Listener listener) {
        this.what = what;
        this.ring = ring;
        this.listener = listener;
    }

    /// @throws WrongThreadException if the caller is not the owner
    public void checkOwner() {
        if (!isOwner()) {
            throw new WrongThreadException(what + " belongs to another thread: owner=" + owner.getName());
        }
    }

    public boolean isOwner() {
        return Thread.currentThread() == owner;
    }

    public Thread owner() {
        return owner;
    }

    /// A place for one more request, zeroed, to be filled in before the next call. Completions may be taken up first.
    public MemorySegment request() throws PosixException {
        // until it is filled in its completion belongs to none
        MemorySegment request = ring.next(NONES);
        while (request == null) {
            give();
            request = ring.next(NONES);
        }
        return request;
    }

    /// Asks the kernel to end what was asked for with these user data; it is answered all the same.
    public void cancel(long userData) throws PosixException {
        MemorySegment request = request();
        request.set(JAVA_BYTE, Ring.SQE_OPCODE, Ring.OP_ASYNC_CANCEL);
        request.set(JAVA_INT, Ring.SQE_FD, -1);
        request.set(JAVA_LONG, Ring.SQE_ADDRESS, userData);
    }

    /// Hands the kernel what was filled in. Where it wants completions to be read first, they are taken up, and the
    /// next call hands over the rest.
    public void give() throws PosixException {
        try {
            ring.enter();
        } catch (PosixException busy) {
            if (busy.errno() != Errno.EAGAIN && busy.errno() != Errno.EBUSY) {
                throw busy;
            }
            takeUp();
        }
    }

    /// Hands the kernel what was filled in, and takes up nothing.
    ///
    /// @throws PosixException with `EAGAIN` or `EBUSY` if completions are to be read first
    public void handOver() throws PosixException {
        ring.enter();
    }

    /// Takes up the completions that are there.
    ///
    /// @return how many
    public int takeUp() {
        return ring.reap(each);
    }

    /// Waits for a completion, and takes up those that are there.
    ///
    /// @param millis how long at most; -1 for ever
    public void await(int millis) throws PosixException {
        if (!ring.isOpen()) {
            return;
        }
        long result = Call.current().poll(ring.fd(), Libc.POLLIN, millis);
        if (result < 0) {
            throw CallFailure.of("poll", (int) -result, "ring=" + ring.fd());
        }
        takeUp();
    }

    /// Once nothing is in flight: the kernel would go on in the dark.
    @Override
    public void close() {
        ring.close();
    }

    private void completed(long userData, int result, int flags) {
        if ((userData & NONES) == 0) {
            listener.completed(userData, result, flags);
        }
    }
}
