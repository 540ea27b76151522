// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.FirstFailure;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.stream.StreamSocket;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/// Sends sealed buffers over one TCP socket with `MSG_ZEROCOPY`: the kernel sends from the buffer's own memory
/// and says on the socket's error queue when it has done with it.
///
/// A send owns a handle, which is closed at the last notification of the buffer's calls, not when the bytes
/// are accepted. Notifications are taken up by [#reap()], [#finish(Duration)] and further sends: no thread takes
/// them up by itself.
///
/// ```
/// open --socket closed--> the kernel sends what it has; notifications still come     --close--> closed
/// ```
///
/// The descriptor stays until [#close()], even when the socket is closed: without it the program would never hear
/// that the memory is free. A peer that does not read keeps the memory, a plain close or not. [#close()] and
/// [PosixSocket#abort()] take it back, and reset the connection.
///
/// Where the kernel may not lock so much memory, or has too many notifications to tell (`ENOBUFS`), that
/// window goes out as a plain `sendmsg`, and [#plainCalls()] counts it. Callable from any thread; sends take
/// turns.
///
/// What a user's release or a listener of handles throws holds up nothing: the next [#reap()], [#finish(Duration)] or
/// [#close()] throws the first failure when it has done all else, with the others suppressed.
public final class ZeroCopySocket implements AutoCloseable {

    private static final int SO_ZEROCOPY = 60;
    private static final int MSG_ZEROCOPY = 0x4000000;
    private static final Duration KERNEL_LETS_GO = Duration.ofSeconds(10);
    private static final int LONGEST_POLL_MILLIS = 50;
    private static final long PAUSE_NANOS = 1_000_000;

    // what the kernel reads stays reachable, also if the program forgets the socket: healing must not free it
    private static final Set<ZeroCopySocket> OPEN = ConcurrentHashMap.newKeySet();

    private final PosixSocket socket;
    private final int fd;
    private final ReentrantLock sending = new ReentrantLock();
    // volatile: one of several closers; the atomic step is all it needs
    private final AtomicBoolean closed = new AtomicBoolean();
    // below: under this object's lock
    private final UnnotifiedCalls calls = new UnnotifiedCalls(0);
    // of users' releases and listeners, until they are thrown
    private final FirstFailure failures = new FirstFailure();
    private long notifiedCalls;
    private long copiedCalls;
    private long plainCalls;

    private ZeroCopySocket(PosixSocket socket, int fd) {
        this.socket = socket;
        this.fd = fd;
    }

    /// Takes a connected socket over, on which nothing was sent with `MSG_ZEROCOPY` before.
    ///
    /// @param socket closed with the result; the caller's if this fails
    /// @return what sends on it
    /// @throws PosixException with [Errno#EOPNOTSUPP] if it is a socket without zero copy, such as a unix
    ///     socket: the kernel would copy in silence, and never notify; or if it is closed
    public static ZeroCopySocket over(PosixSocket socket) throws PosixException {
        int fd = socket.stream().descriptor().enter("setsockopt");
        int result = Call.current().setsockopt(fd, Libc.SOL_SOCKET, SO_ZEROCOPY, 1);
        if (result < 0) {
            socket.stream().descriptor().leave();
            throw CallFailure.of("setsockopt", -result, "option=SO_ZEROCOPY socket=" + fd);
        }
        try {
            ZeroCopySocket sender = new ZeroCopySocket(socket, fd);
            OPEN.add(sender);
            return sender;
        } catch (Throwable failure) {
            socket.stream().descriptor().leave();
            throw failure;
        }
    }

    /// Sends a whole buffer as [#moveAndSend], but the caller keeps its handle.
    ///
    /// @param buffer of native memory; stays open, and the caller's: it may be closed as soon as this returns
    /// @return the send, to be asked whether it is done
    /// @throws PosixException as [#moveAndSend]
    /// @throws IllegalArgumentException if a region lies on the heap
    /// @throws IllegalStateException as [#moveAndSend], or if `buffer` is closed
    public SocketSend shareAndSend(SealedBuffer buffer) throws PosixException {
        return moveAndSend(buffer.share());
    }

    /// Sends a whole buffer, waiting for the peer as long as it takes to have all bytes accepted. If it fails on
    /// the way, the memory comes back as after a success: when the kernel has done with what it took. The stream
    /// is broken then: the connection is aborted, and every later send is refused with the reason.
    ///
    /// @param handle of native memory; moved into the send, so this one is closed when it returns
    /// @return the send, to be asked whether it is done
    /// @throws PosixException.PeerClosed if the peer is gone; any number of bytes may have been taken
    /// @throws PosixException if the socket is closed or its stream broken, or the system refuses
    /// @throws IllegalArgumentException if a region lies on the heap
    /// @throws IllegalStateException if a release or a listener calls it in the middle of another send of its
    ///     thread, whose bytes it would part; the handle is closed
    public SocketSend moveAndSend(SealedBuffer handle) throws PosixException {
        if (sending.isHeldByCurrentThread()) {
            handle.close();
            throw new IllegalStateException(
                    "send out of order: a release sends in the middle of another send: " + this);
        }
        SocketSend send = SocketSend.of(socket, handle);
        sending.lock();
        try {
            push(send);
        } catch (Throwable failure) {
            try {
                if (!send.isEnded()) {
                    send.giveUp(Errno.ECANCELED.number());
                }
            } catch (RuntimeException | Error release) {
                failure.addSuppressed(release);
            }
            if (send.hasBegun()) {
                socket.stream().breakStream(failure);
            }
            throw failure;
        } finally {
            sending.unlock();
        }
        return send;
    }

    private void push(SocketSend send) throws PosixException {
        if (!closed.get()) {
            socket.stream().descriptor().checkNotBroken("send");
        }
        while (!send.isEnded()) {
            if (!call(send)) {
                socket.stream().awaitReady(fd, Libc.POLLOUT);
            }
        }
        PosixException failure = send.failure();
        if (failure != null) {
            socket.stream().breakStream(failure);
            throw failure;
        }
    }

    /// Takes up the notifications that are there.
    ///
    /// @return calls that the kernel has done with since it was asked last
    /// @throws PosixException if the system refuses
    public synchronized int reap() throws PosixException {
        int done = drain();
        failures.rethrow();
        return done;
    }

    private synchronized int drain() throws PosixException {
        if (closed.get()) {
            return 0;
        }
        long before = notifiedCalls;
        while (!closed.get() && ErrorQueue.next(fd, this::notified)) {}
        return (int) (notifiedCalls - before);
    }

    /// Waits until the kernel has done with all that was sent.
    ///
    /// @param time how long at most
    /// @return false if the time is over
    /// @throws PosixException if the system refuses
    public boolean finish(Duration time) throws PosixException {
        boolean finished = awaitAll(time);
        rethrow();
        return finished;
    }

    private synchronized void rethrow() {
        failures.rethrow();
    }

    private boolean awaitAll(Duration time) throws PosixException {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(time);
        while (!isFinished()) {
            if (drain() > 0) {
                continue;
            }
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            // the error queue is told by POLLERR, which needs no asking
            Call.current().poll(fd, (short) 0, (int) Math.min(LONGEST_POLL_MILLIS, left / 1_000_000));
            if (drain() == 0) {
                // a broken connection is always ready
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        return true;
    }

    /// Tells whether the kernel has done with all that was sent, as far as notifications were taken up.
    ///
    /// @return true if no handle is kept for the kernel
    public synchronized boolean isFinished() {
        return calls.isEmpty();
    }

    /// Calls whose bytes the kernel copied after all, as it does on the loopback and where the network card
    /// cannot gather. If that is most of them, plain sends are cheaper.
    ///
    /// @return at least 0
    public synchronized long copiedCalls() {
        return copiedCalls;
    }

    /// Calls that the kernel has done with.
    ///
    /// @return at least 0
    public synchronized long notifiedCalls() {
        return notifiedCalls;
    }

    /// Calls that were made without zero copy, for want of memory that may be locked.
    ///
    /// @return at least 0
    public synchronized long plainCalls() {
        return plainCalls;
    }

    /// Closes the socket. If the kernel still reads memory, what the peer has not taken is thrown away and the
    /// connection reset, so that every handle is closed when this returns: ask [#finish(Duration)] first.
    ///
    /// @throws IllegalStateException if the kernel does not let go, or a release calls this while another thread
    ///     sends; the handles stay open, and it may be called again
    @Override
    public void close() {
        if (closed.get()) {
            return;
        }
        try {
            if (!awaitAll(Duration.ZERO)) {
                socket.abort();
            }
            socket.close();
            awaitSender();
            if (!awaitAll(Duration.ZERO)) {
                StreamSocket.disconnect(fd);
            }
            if (!awaitAll(KERNEL_LETS_GO)) {
                throw new IllegalStateException("the kernel still reads what was sent: socket=" + fd);
            }
        } catch (PosixException refused) {
            throw new IllegalStateException("the kernel does not tell what it reads: socket=" + fd, refused);
        }
        synchronized (this) {
            if (closed.compareAndSet(false, true)) {
                OPEN.remove(this);
                socket.stream().descriptor().leave();
            }
        }
        rethrow();
    }

    /// A sender that waits is awake now, and fails.
    private void awaitSender() {
        if (!Thread.holdsLock(this)) {
            sending.lock();
        } else if (!sending.tryLock()) {
            // out of a release: the sender may wait for this lock
            throw new IllegalStateException("a send is under way, and a release closes: socket=" + fd);
        }
        sending.unlock();
    }

    @Override
    public String toString() {
        return "ZeroCopySocket[" + socket + "]";
    }

    /// @return false if it would block
    private synchronized boolean call(SocketSend send) throws PosixException {
        drain();
        if (closed.get()) {
            send.giveUp(Errno.EBADF.number());
            return true;
        }
        Call call = Call.current();
        // first what may fail
        calls.makeRoom();
        MemorySegment window = send.window();
        send.begin(SendPath.ZEROCOPY);
        int flags = Libc.MSG_DONTWAIT | MSG_ZEROCOPY;
        long result = call.sendmsg(fd, window, send.windowEntries(), flags);
        boolean zeroCopy = true;
        if (result == -Errno.ENOBUFS.number()) {
            send.kernel.notTaken(false);
            send.begin(SendPath.SENDMSG);
            zeroCopy = false;
            plainCalls++;
            result = call.sendmsg(fd, window, send.windowEntries(), Libc.MSG_DONTWAIT);
        }
        if (result > 0) {
            if (zeroCopy) {
                calls.add(send);
            }
            try {
                send.accepted(result, zeroCopy);
            } catch (RuntimeException | Error failure) {
                // a release or a listener; the bytes are accepted all the same
                failures.add(failure);
            }
        } else if (result == -Libc.EAGAIN) {
            send.kernel.notTaken(false);
            return false;
        } else {
            try {
                send.failed((int) -result, false);
            } catch (RuntimeException | Error failure) {
                failures.add(failure);
            }
        }
        return true;
    }

    private void notified(int low, int high, boolean copied) {
        int count = high - low + 1;
        try {
            calls.notified(low, high);
        } catch (RuntimeException | Error failure) {
            failures.add(failure);
        }
        notifiedCalls += count;
        copiedCalls += copied ? count : 0;
    }
}
