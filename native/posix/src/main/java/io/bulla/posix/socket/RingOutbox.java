// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.FirstFailure;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.uring.CompletionLoop;
import io.bulla.posix.internal.uring.Ring;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// An outbox over io_uring. A request's user data is its send's slot; a completion with the mark of a
/// notification ends one call's reading, any other is a call's answer. Belongs to the thread that opened it.
final class RingOutbox implements Outbox {

    private static final int ENTRIES = 256;
    private static final long READY = 1L << 62;
    private static final int SLOT = 0x7fffffff;
    private static final long KERNEL_LETS_GO_NANOS = Duration.ofSeconds(10).toNanos();

    // what the kernel reads stays reachable, also if the program forgets the outbox: healing must not free it
    private static final Set<RingOutbox> OPEN = ConcurrentHashMap.newKeySet();

    private record Slot(Lane lane, SocketSend send) {}

    private final CompletionLoop loop;
    private final boolean zeroCopy;
    private final Map<PosixSocket, Lane> lanes = new IdentityHashMap<>();
    private final ReadyLanes ready = new ReadyLanes();
    private final List<Slot> slots = new ArrayList<>();
    // links: an add that finds no heap leaves the others
    private final Deque<Integer> freeSlots = new LinkedList<>();
    private final Map<SocketSend, Integer> slotOf = new IdentityHashMap<>();
    // of users' releases and listeners, until the call that met them ends
    private final FirstFailure failures = new FirstFailure();
    private int doneSinceAsked;
    private boolean closing;
    private boolean closed;

    private RingOutbox(Ring ring, boolean zeroCopy) {
        this.loop = new CompletionLoop("outbox", ring, this::reaped);
        this.zeroCopy = zeroCopy;
    }

    /// @throws PosixException if the kernel has no such ring
    static RingOutbox open(SendPath best) throws PosixException {
        Ring ring = new Ring(ENTRIES);
        boolean open = false;
        try {
            if (!ring.supports(Ring.OP_WRITEV)
                    || !ring.supports(Ring.OP_POLL_ADD)
                    || !ring.supports(Ring.OP_ASYNC_CANCEL)) {
                throw new PosixException("io_uring_register", Errno.ENOSYS.number(), "opcode=WRITEV");
            }
            RingOutbox outbox = new RingOutbox(ring, best == SendPath.URING_ZC && ring.supports(Ring.OP_SENDMSG_ZC));
            OPEN.add(outbox);
            open = true;
            return outbox;
        } finally {
            if (!open) {
                ring.close();
            }
        }
    }

    @Override
    public SendPath path() {
        return zeroCopy ? SendPath.URING_ZC : SendPath.URING;
    }

    @Override
    public SocketSend moveAndSend(PosixSocket socket, SealedBuffer handle) throws PosixException {
        Lane lane;
        try {
            loop.checkOwner();
            if (closing) {
                throw new IllegalStateException("outbox already closed");
            }
            lane = laneOf(socket);
        } catch (RuntimeException | Error refused) {
            handle.close();
            throw refused;
        }
        SocketSend send = lane.add(handle);
        try {
            if (closing) {
                // by a listener of the handle's
                throw new IllegalStateException("outbox already closed");
            }
            takeSlot(lane, send);
        } catch (Throwable failure) {
            lane.takeBack(send);
            throw failure;
        }
        if (send.isEnded()) {
            lane.waiting.removeLastOccurrence(send);
            settle(lane, send);
        } else if (lane.waiting.size() == 1) {
            ready.add(lane);
        }
        return send;
    }

    private Lane laneOf(PosixSocket socket) {
        Lane lane = lanes.get(socket);
        if (lane == null) {
            lanes.values().removeIf(old -> old.isFinished() && !old.socket.isOpen());
            lane = new Lane(socket);
            lanes.put(socket, lane);
        }
        return lane;
    }

    @Override
    public int progress(int millis) throws PosixException {
        loop.checkOwner();
        if (closed) {
            return 0;
        }
        advance(millis);
        failures.rethrow();
        int done = doneSinceAsked;
        doneSinceAsked = 0;
        return done;
    }

    private void advance(int millis) throws PosixException {
        give();
        if (loop.takeUp() == 0 && doneSinceAsked == 0 && millis != 0) {
            loop.await(millis);
        }
        give();
    }

    @Override
    public int unfinished() {
        return slotOf.size();
    }

    @Override
    public void close() {
        loop.checkOwner();
        if (closed) {
            return;
        }
        closing = true;
        long end = System.nanoTime() + KERNEL_LETS_GO_NANOS;
        try {
            cancelAll();
            while (unfinished() > 0) {
                settleDone();
                if (unfinished() == 0) {
                    break;
                }
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("the kernel still reads what was sent: sends=" + unfinished());
                }
                doneSinceAsked = 0;
                advance(10);
                // again: some kernels refuse while a call waits on the socket
                lanes.values().stream().filter(lane -> !lane.isFinished()).forEach(Lane::disconnect);
            }
        } catch (PosixException refused) {
            throw new IllegalStateException("the ring does not tell what it reads: sends=" + unfinished(), refused);
        }
        closed = true;
        OPEN.remove(this);
        loop.close();
        failures.rethrow();
    }

    /// A release that closes the outbox is called before its send is settled.
    private void settleDone() {
        for (Slot each : new ArrayList<>(slots)) {
            if (each != null) {
                settle(each.lane(), each.send());
            }
        }
    }

    private void cancelAll() throws PosixException {
        for (Lane lane : lanes.values()) {
            if (lane.isFinished()) {
                continue;
            }
            lane.abort();
            if (!lane.busy) {
                giveUp(lane, Errno.ECANCELED.number());
            }
        }
        ready.clear();
        for (Lane lane : lanes.values()) {
            if (lane.busy) {
                int slot = slotOf(lane.waiting.element());
                loop.cancel(slot);
                loop.cancel(slot | READY);
            }
        }
    }

    /// Gives the kernel the next call of every lane that waits for one.
    private void give() throws PosixException {
        for (Lane lane = ready.first(); lane != null; lane = ready.first()) {
            if (lane.waiting.isEmpty() || lane.busy) {
                ready.removeFirst();
                continue;
            }
            MemorySegment request = loop.request();
            if (ready.first() != lane || lane.waiting.isEmpty() || lane.busy) {
                // completions came first, and a release that called back
                continue;
            }
            // from then on it is busy, and leaves; if there is no heap for the call, it is made the next time
            if (lane.wantsReady) {
                awaitReady(lane, request);
            } else {
                call(lane, request);
            }
        }
        loop.give();
    }

    void call(Lane lane, MemorySegment request) {
        SocketSend send = lane.waiting.peek();
        boolean withoutCopy = zeroCopy && lane.zeroCopy;
        MemorySegment image = withoutCopy ? send.message() : send.window();
        int slot = slotOf(send);
        send.begin(withoutCopy ? SendPath.URING_ZC : SendPath.URING);
        lane.busy = true;
        request.set(JAVA_INT, Ring.SQE_FD, lane.fd());
        request.set(JAVA_LONG, Ring.SQE_USER_DATA, slot);
        if (withoutCopy) {
            request.set(JAVA_BYTE, Ring.SQE_OPCODE, Ring.OP_SENDMSG_ZC);
            request.set(JAVA_LONG, Ring.SQE_ADDRESS, image.address());
            request.set(JAVA_INT, Ring.SQE_LENGTH, 1);
            request.set(JAVA_INT, Ring.SQE_OP_FLAGS, Libc.MSG_NOSIGNAL);
        } else {
            // no message header between the ring and the image
            request.set(JAVA_BYTE, Ring.SQE_OPCODE, Ring.OP_WRITEV);
            request.set(JAVA_LONG, Ring.SQE_ADDRESS, image.address());
            request.set(JAVA_INT, Ring.SQE_LENGTH, send.windowEntries());
        }
    }

    /// A socket that does not wait by itself: the kernel is asked to tell when it is ready.
    private void awaitReady(Lane lane, MemorySegment request) {
        lane.busy = true;
        lane.wantsReady = false;
        request.set(JAVA_BYTE, Ring.SQE_OPCODE, Ring.OP_POLL_ADD);
        request.set(JAVA_INT, Ring.SQE_FD, lane.fd());
        request.set(JAVA_INT, Ring.SQE_OP_FLAGS, Libc.POLLOUT);
        request.set(JAVA_LONG, Ring.SQE_USER_DATA, slotOf(lane.waiting.element()) | READY);
    }

    private void reaped(long userData, int result, int flags) {
        try {
            completed(userData, result, flags);
        } catch (RuntimeException | Error failure) {
            // the completions behind it are there, and are looked at
            failures.add(failure);
        }
    }

    void completed(long userData, int result, int flags) {
        int slot = (int) userData & SLOT;
        Lane lane = slots.get(slot).lane();
        SocketSend send = slots.get(slot).send();
        try {
            if ((flags & Ring.CQE_NOTIF) != 0) {
                send.kernel.notified();
            } else if ((userData & READY) != 0) {
                lane.busy = false;
                again(lane);
            } else {
                lane.busy = false;
                answered(lane, send, result, (flags & Ring.CQE_MORE) != 0);
            }
        } finally {
            // also if a listener of the handle's threw: no completion tells of this send again
            settle(lane, send);
        }
    }

    private void answered(Lane lane, SocketSend send, int result, boolean more) {
        if (result > 0) {
            if (result == send.kernel.remaining()) {
                // first: a release may call back, and then this send waits no more
                lane.waiting.remove();
            }
            try {
                send.accepted(result, more);
            } catch (RuntimeException | Error failure) {
                // a release or a listener; the bytes are accepted all the same
                failures.add(failure);
            }
            again(lane);
            return;
        }
        // no switch: it needs a class of its own, and what is said of a send must need no heap
        Errno refused = Errno.of(-result);
        if (refused == Errno.EAGAIN) {
            send.kernel.notTaken(more);
            lane.wantsReady = true;
            again(lane);
        } else if (send.path() != SendPath.URING && isWithoutZeroCopy(refused)) {
            lane.zeroCopy = false;
            send.kernel.notTaken(more);
            again(lane);
        } else {
            fail(lane, send, result == 0 ? Errno.EPIPE.number() : -result, more);
        }
    }

    /// The kernel or the socket has none, or no more memory may be locked.
    private static boolean isWithoutZeroCopy(Errno refused) {
        return refused == Errno.EOPNOTSUPP || refused == Errno.ENOMEM || refused == Errno.ENOBUFS;
    }

    private void again(Lane lane) {
        if (closing) {
            giveUp(lane, Errno.ECANCELED.number());
        } else if (!lane.waiting.isEmpty()) {
            ready.add(lane);
        }
    }

    private void fail(Lane lane, SocketSend send, int errno, boolean more) {
        lane.waiting.remove();
        try {
            send.failed(errno, more);
        } catch (RuntimeException | Error failure) {
            failures.add(failure);
        }
        try {
            lane.socket.stream().breakStream(why(send));
        } finally {
            giveUp(lane, errno);
        }
    }

    /// Nothing follows a hole, also if there is no heap for the reason.
    private static Throwable why(SocketSend failed) {
        try {
            return Objects.requireNonNull(failed.failure(), "failure");
        } catch (OutOfMemoryError full) {
            return full;
        }
    }

    private void giveUp(Lane lane, int errno) {
        for (SocketSend send = lane.waiting.poll(); send != null; send = lane.waiting.poll()) {
            try {
                send.giveUp(errno);
            } catch (RuntimeException | Error failure) {
                failures.add(failure);
            }
            settle(lane, send);
        }
    }

    private void takeSlot(Lane lane, SocketSend send) {
        int slot;
        if (freeSlots.isEmpty()) {
            slot = slots.size();
            slots.add(new Slot(lane, send));
        } else {
            slot = freeSlots.pop();
            slots.set(slot, new Slot(lane, send));
        }
        try {
            slotOf.put(send, slot);
        } catch (OutOfMemoryError full) {
            // a map that has no heap to grow has taken the entry already
            slotOf.remove(send);
            slots.set(slot, null);
            throw full;
        }
    }

    private int slotOf(SocketSend send) {
        return Objects.requireNonNull(slotOf.get(send), "slot");
    }

    @Nullable
    Lane lane(PosixSocket socket) {
        return lanes.get(socket);
    }

    /// Gives the slot back once no completion will name it.
    private void settle(Lane lane, SocketSend send) {
        if (!send.isDone()) {
            return;
        }
        Integer slot = slotOf.remove(send);
        if (slot != null) {
            slots.set(slot, null);
            doneSinceAsked++;
            lane.done();
            // last, for it may need memory: without it a slot is lost and nothing else
            freeSlots.push(slot);
        }
    }
}
