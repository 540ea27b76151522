// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.FirstFailure;
import io.bulla.posix.internal.calls.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/// An outbox over `sendmsg`, for kernels without io_uring: the kernel copies, so a send is done when it is
/// accepted. Belongs to the thread that opened it.
final class CallOutbox implements Outbox {

    private static final long POLLFD_BYTES = 8;

    private final Thread owner = Thread.currentThread();
    private final Map<PosixSocket, Lane> lanes = new IdentityHashMap<>();
    // of users' releases and listeners, until the call that met them ends
    private final FirstFailure failures = new FirstFailure();
    private int unfinished;
    private int doneSinceAsked;
    private boolean closed;

    @Override
    public SendPath path() {
        return SendPath.SENDMSG;
    }

    @Override
    public SocketSend moveAndSend(PosixSocket socket, SealedBuffer handle) throws PosixException {
        Lane lane;
        try {
            checkOwner();
            if (closed) {
                throw new IllegalStateException("outbox already closed");
            }
            lane = lanes.computeIfAbsent(socket, Lane::new);
        } catch (RuntimeException | Error refused) {
            handle.close();
            throw refused;
        }
        SocketSend send;
        try {
            send = lane.add(handle);
        } finally {
            if (lane.isFinished()) {
                lanes.remove(socket);
            }
        }
        if (closed) {
            // by a listener of the handle's
            lane.takeBack(send);
            throw new IllegalStateException("outbox already closed");
        }
        unfinished++;
        if (send.isEnded()) {
            lane.waiting.removeLastOccurrence(send);
            done(lane);
        }
        return send;
    }

    @Override
    public int progress(int millis) throws PosixException {
        checkOwner();
        push();
        if (doneSinceAsked == 0 && unfinished > 0 && millis != 0) {
            poll(millis);
            push();
        }
        failures.rethrow();
        int done = doneSinceAsked;
        doneSinceAsked = 0;
        return done;
    }

    @Override
    public int unfinished() {
        return unfinished;
    }

    @Override
    public void close() {
        checkOwner();
        closed = true;
        for (Lane lane : List.copyOf(lanes.values())) {
            if (!lane.isFinished()) {
                lane.abort();
                giveUp(lane, Errno.ECANCELED.number());
            }
        }
        lanes.clear();
        failures.rethrow();
    }

    private void push() {
        // a copy: a release may send, or close this
        for (Lane lane : List.copyOf(lanes.values())) {
            try {
                push(lane);
            } catch (RuntimeException | Error failure) {
                failures.add(failure);
            }
        }
        lanes.values().removeIf(Lane::isFinished);
    }

    private void push(Lane lane) {
        while (!lane.waiting.isEmpty()) {
            SocketSend send = lane.waiting.peek();
            // first what may fail
            Call call = Call.current();
            MemorySegment window = send.window();
            send.begin(SendPath.SENDMSG);
            long result = call.sendmsg(lane.fd(), window, send.windowEntries(), Libc.MSG_DONTWAIT);
            if (result == -Libc.EAGAIN) {
                send.kernel.notTaken(false);
                return;
            }
            boolean ends = result <= 0 || result == send.kernel.remaining();
            if (ends) {
                // first: a release may call back, and then this send waits no more
                lane.waiting.remove();
            }
            try {
                if (result > 0) {
                    send.accepted(result, false);
                } else {
                    send.failed((int) -result, false);
                }
            } catch (RuntimeException | Error failure) {
                // a release or a listener; the send has ended all the same
                failures.add(failure);
            }
            if (ends) {
                done(lane);
            }
            if (send.failure() != null) {
                lane.socket.stream().breakStream(send.failure());
                giveUp(lane, (int) -result);
            }
        }
    }

    private void giveUp(Lane lane, int errno) {
        for (SocketSend send = lane.waiting.poll(); send != null; send = lane.waiting.poll()) {
            try {
                send.giveUp(errno);
            } catch (RuntimeException | Error failure) {
                failures.add(failure);
            }
            done(lane);
        }
    }

    private void done(Lane lane) {
        unfinished--;
        doneSinceAsked++;
        lane.done();
    }

    private void poll(int millis) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            MemorySegment sockets = arena.allocate(POLLFD_BYTES * lanes.size(), 8);
            long at = 0;
            for (Lane lane : lanes.values()) {
                sockets.set(JAVA_INT, at, lane.fd());
                sockets.set(JAVA_SHORT, at + 4, Libc.POLLOUT);
                at += POLLFD_BYTES;
            }
            int result = (int) Libc.POLL.invokeExact(errno, sockets, (long) lanes.size(), millis);
            if (result < 0 && errno.get(JAVA_INT, 0) != Libc.EINTR) {
                throw CallFailure.of("poll", errno.get(JAVA_INT, 0), "sockets=" + lanes.size());
            }
        } catch (PosixException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libc.impossible(thrown);
        }
    }

    private void checkOwner() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException("outbox belongs to another thread: owner=" + owner.getName());
        }
    }
}
