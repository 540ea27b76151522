// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.NativeAccess;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Sends sealed buffers to many sockets at once, from one thread that never waits for a single peer.
///
/// ```
/// send: queued  --progress-->  given to the kernel  --progress-->  accepted  --progress-->  done: handle closed
/// ```
///
/// A send owns a handle until the kernel has done with the memory, whatever the outcome: its own
/// ([#shareAndSend]), or the caller's ([#moveAndSend]).
/// Sends on one socket go out in order. Nothing happens by itself: [#progress(int)] gives the kernel what is
/// queued, and takes up what it has done.
///
/// Sockets stay their owners'. One with a send that is not done keeps its descriptor when it is closed: the
/// kernel sends on, and [PosixSocket#abort()] or [#close()] takes the memory back. A send that fails breaks the
/// stream: those queued behind it on the same socket fail as well, the connection is aborted, and every later
/// send on it is refused with the reason.
///
/// What a user's release or a listener of handles throws ends nothing of an outbox: all that a call was to do is
/// done, and then it throws the first failure, with the others suppressed.
///
/// Belongs to the platform thread that opened it, which must live until it is closed; others get a
/// [WrongThreadException]. A virtual thread gets none: the kernel cancels what a thread has asked for when that
/// thread ends, and a virtual one's carrier ends by itself.
public sealed interface Outbox extends AutoCloseable permits RingOutbox, CallOutbox {

    /// An outbox on the best path that the kernel has.
    ///
    /// @return one whose [#path()] says which
    /// @throws WrongThreadException if the calling thread is virtual
    /// @throws UnsupportedOperationException if native access is not enabled
    static Outbox open() {
        return open(SendPath.URING_ZC);
    }

    /// An outbox on the best path that the kernel has, and none better than `best`.
    ///
    /// @param best [SendPath#URING_ZC], [SendPath#URING] or [SendPath#SENDMSG]
    /// @return one whose [#path()] says which
    /// @throws IllegalArgumentException if `best` is [SendPath#ZEROCOPY], which belongs to one socket: see
    ///     [ZeroCopySocket]
    /// @throws WrongThreadException if the calling thread is virtual
    /// @throws UnsupportedOperationException if native access is not enabled
    static Outbox open(SendPath best) {
        // here: an error in an initializer would come wrapped
        NativeAccess.linker();
        if (best == SendPath.ZEROCOPY) {
            throw new IllegalArgumentException("not a path of an outbox: path=" + best);
        }
        Thread caller = Thread.currentThread();
        if (caller.isVirtual()) {
            throw new WrongThreadException(
                    "an outbox belongs to a platform thread: caller=" + caller.getName() + " virtual=true");
        }
        if (best == SendPath.SENDMSG) {
            return new CallOutbox();
        }
        try {
            return RingOutbox.open(best);
        } catch (PosixException unavailable) {
            return new CallOutbox();
        }
    }

    /// The best that this outbox does. A socket without zero copy is served by the next one: see
    /// [SocketSend#path()].
    ///
    /// @return not [SendPath#ZEROCOPY]
    SendPath path();

    /// Queues a buffer. The caller keeps its handle.
    ///
    /// @param socket connected; no other thread sends on it meanwhile
    /// @param buffer of native memory; stays open, and the caller's: it may be closed as soon as this returns
    /// @return the send, to be asked whether it is done
    /// @throws PosixException if the socket is closed, or an earlier send broke its stream
    /// @throws IllegalArgumentException if a region lies on the heap
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    default SocketSend shareAndSend(PosixSocket socket, SealedBuffer buffer) throws PosixException {
        return moveAndSend(socket, buffer.share());
    }

    /// Queues a buffer, and takes the caller's handle.
    ///
    /// @param socket connected; no other thread sends on it meanwhile
    /// @param handle of native memory; moved into the send, so this one is closed when it returns
    /// @return the send, to be asked whether it is done
    /// @throws PosixException if the socket is closed, or an earlier send broke its stream; the handle is closed
    /// @throws IllegalArgumentException if a region lies on the heap; the handle is closed
    SocketSend moveAndSend(PosixSocket socket, SealedBuffer handle) throws PosixException;

    /// Gives the kernel what is queued and takes up what it has done.
    ///
    /// @param millis how long to wait if nothing is there; 0 not to wait, -1 for ever
    /// @return sends that are done since it was asked last
    /// @throws PosixException if the system refuses
    int progress(int millis) throws PosixException;

    /// Sends that are not done.
    ///
    /// @return at least 0
    int unfinished();

    /// Makes progress until every send is done.
    ///
    /// @param time how long at most
    /// @return false if the time is over
    /// @throws PosixException if the system refuses
    default boolean finish(Duration time) throws PosixException {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(time);
        while (unfinished() > 0) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            progress((int) Math.min(1000, left / 1_000_000 + 1));
        }
        return true;
    }

    /// Ends what is not done: sockets on which the kernel still sends are aborted, and every handle is closed
    /// when this returns. Ask [#finish(Duration)] first.
    ///
    /// @throws IllegalStateException if the kernel does not let go; the handles stay open, and it may be
    ///     called again
    @Override
    void close();
}
