// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Libc;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/// How long a send waits for its peer. It ends with the time, with the socket, or with an interrupt of the thread,
/// which stays interrupted. One thread's.
public final class Patience {

    public static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE / 2_000_000_000);

    // no signal wakes a poll for an interrupt: it is asked for after each
    private static final int LOOK_MILLIS = 50;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Duration patience;
    private final Object peer;
    private final long end;

    /// @param peer for messages
    public Patience(Duration patience, Object peer) {
        this.patience = patience;
        this.peer = peer;
        Duration most = patience.compareTo(FOR_EVER) > 0 ? FOR_EVER : patience;
        this.end = System.nanoTime() + most.toNanos();
    }

    /// @throws PosixException if it is not free in time, or the thread is interrupted
    public void lock(Lock turn) throws PosixException {
        try {
            if (!turn.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw over();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw interrupted();
        }
    }

    /// Waits until a send would take something, or the connection has ended.
    ///
    /// @param fd that the caller has entered
    /// @throws PosixException if the time is over, the thread is interrupted, or the system refuses
    public void awaitWritable(Descriptor socket, int fd) throws PosixException {
        while (true) {
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted();
            }
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw over();
            }
            long events =
                    Call.current().poll(fd, Libc.POLLOUT, (int) Math.min(LOOK_MILLIS, left / NANOS_PER_MILLI + 1));
            if (events < 0) {
                throw CallFailure.of("poll", (int) -events, socket.toString());
            }
            if (events != 0) {
                return;
            }
        }
    }

    private PosixException over() {
        return new PosixException(
                "sendmsg", Errno.ETIMEDOUT.number(), "peer=[" + peer + "] waited=" + patience.toMillis() + "ms");
    }

    private PosixException interrupted() {
        return new PosixException("sendmsg", Errno.EINTR.number(), "peer=[" + peer + "] thread=interrupted");
    }
}
