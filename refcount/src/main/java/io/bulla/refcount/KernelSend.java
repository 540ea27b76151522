// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;

/// Keeps one lease while the kernel may read the memory of a zero-copy send: to the last notification, not to
/// the last accepted byte.
///
/// A send of one buffer takes one call or several, one after the other. Each call says how many bytes were
/// accepted, or an error, and whether a notification follows; the notification says that the memory is not read
/// any more. It may come late, after further calls, or early, beside the call's own answer.
///
/// ```
/// idle(k)    --begin-->                               calling(k)         k notifications are owed
/// calling(k) --accepted (more to send), notTaken-->   idle(k), or idle(k + 1) if a notification follows
/// calling(k) --accepted (the last byte), failed-->    ended(k), or ended(k + 1)
/// idle(k)    --giveUp-->                              ended(k)
/// any(k)     --notified-->                            any(k - 1); below 0, to -1, beside a call only
/// ended(0)   the lease is closed; final
/// ```
///
/// Whatever does not fit is refused with an [IllegalStateException] that names event and state, and changes
/// nothing.
///
/// Ordering
/// 1. **One close.** The step to ended(0) is a compare-and-set; only the thread that made it closes.
/// 2. **Every event comes before the close.** Each is a volatile compare-and-set of the same word.
/// 3. **One sender.** All but [#notified()] are called by one thread at a time, whose hand-over the word orders
///    ([#begin()] reads what the last call's answer wrote); bytes and error are plain, and shown by the step.
public final class KernelSend {

    private static final int IDLE = 0;
    private static final int CALLING = 1;
    private static final int ENDED = 2;
    private static final int PHASE = 3;
    private static final int PHASE_BITS = 2;

    private final Lease lease;
    // notifications owed, signed, above two bits of phase
    private final AtomicInteger state = new AtomicInteger(IDLE);
    private long remaining;
    private int error;

    /// A send that owns `lease` from now on. One of no bytes has ended: the lease is closed.
    ///
    /// @param lease closed once, by the send alone
    /// @param byteSize bytes to send, at least 0
    /// @throws IllegalArgumentException if `byteSize` is negative; the lease stays the caller's
    public KernelSend(Lease lease, long byteSize) {
        if (byteSize < 0) {
            throw new IllegalArgumentException("number of bytes is negative: byteSize=" + byteSize);
        }
        this.lease = lease;
        this.remaining = byteSize;
        if (byteSize == 0) {
            // volatile: as in step
            state.set(ENDED);
            lease.close();
        }
    }

    /// A call is about to be made: from now on its notification may come.
    ///
    /// @throws IllegalStateException if a call is being made, or the send has ended
    public void begin() {
        step("begin", IDLE, CALLING, false);
    }

    /// The call's answer: some bytes are accepted.
    ///
    /// @param bytes from 1 to [#remaining()]; the last ones end the send
    /// @param notificationFollows whether the kernel goes on reading, and says when it has done
    /// @throws IllegalStateException if no call is being made, or its notification came and should not
    /// @throws IllegalArgumentException if `bytes` is out of range
    public void accepted(long bytes, boolean notificationFollows) {
        check("accepted", CALLING, notificationFollows);
        if (bytes < 1 || bytes > remaining) {
            throw new IllegalArgumentException(
                    "accepted other bytes than there are: bytes=" + bytes + " remaining=" + remaining);
        }
        remaining -= bytes;
        step("accepted", CALLING, remaining == 0 ? ENDED : IDLE, notificationFollows);
    }

    /// The call's answer: nothing was accepted, and another call may be made.
    ///
    /// @param notificationFollows whether a notification comes all the same
    /// @throws IllegalStateException if no call is being made, or its notification came and should not
    public void notTaken(boolean notificationFollows) {
        step("notTaken", CALLING, IDLE, notificationFollows);
    }

    /// The call's answer: an error, which ends the send.
    ///
    /// @param errno the kernel's number, positive
    /// @param notificationFollows whether a notification comes all the same
    /// @throws IllegalStateException if no call is being made, or its notification came and should not
    /// @throws IllegalArgumentException if `errno` is not positive
    public void failed(int errno, boolean notificationFollows) {
        end("failed", CALLING, errno, notificationFollows);
    }

    /// Ends the send between two calls, for a reason that no call has told.
    ///
    /// @param errno what [#error()] says, positive
    /// @throws IllegalStateException if a call is being made, or the send has ended
    /// @throws IllegalArgumentException if `errno` is not positive
    public void giveUp(int errno) {
        end("giveUp", IDLE, errno, false);
    }

    /// The kernel has done with the memory of one call. Callable from any thread.
    ///
    /// @throws IllegalStateException if no notification is owed, and none can be early
    public void notified() {
        while (true) {
            // volatile: ordering 2
            int now = state.get();
            int owed = (now >> PHASE_BITS) - 1;
            if (owed < ((now & PHASE) == CALLING ? -1 : 0)) {
                throw outOfOrder("notified", now);
            }
            if (moved(now, now & PHASE, owed)) {
                return;
            }
        }
    }

    /// Bytes that no call has accepted. For the sender; for others once [#isEnded()].
    ///
    /// @return at least 0
    public long remaining() {
        return remaining;
    }

    /// Why the send ended early. For the sender; for others once [#isEnded()].
    ///
    /// @return the kernel's number, 0 if there was no error
    public int error() {
        return error;
    }

    /// Tells whether no further call will be made: all bytes are accepted, or it failed.
    ///
    /// @return true from then on; the kernel may still read the memory
    public boolean isEnded() {
        // volatile: ordering 3, who sees the end sees bytes and error
        return (state.get() & PHASE) == ENDED;
    }

    /// Tells whether the lease was handed back.
    ///
    /// @return true once the send has ended and no notification is owed
    public boolean isDone() {
        // volatile: who sees the end sees what came before it
        return state.get() == ENDED;
    }

    @Override
    public String toString() {
        return "KernelSend[" + describe(state.get()) + "]";
    }

    private void end(String event, int from, int errno, boolean notificationFollows) {
        check(event, from, notificationFollows);
        if (errno < 1) {
            throw new IllegalArgumentException("no error number: errno=" + errno);
        }
        error = errno;
        step(event, from, ENDED, notificationFollows);
    }

    private void step(String event, int from, int to, boolean owesOne) {
        while (true) {
            int now = check(event, from, owesOne);
            if (moved(now, to, (now >> PHASE_BITS) + (owesOne ? 1 : 0))) {
                return;
            }
        }
    }

    private int check(String event, int from, boolean owesOne) {
        // volatile: ordering 3, the last call's answer is above this line
        int now = state.get();
        boolean surplus = from == CALLING && !owesOne && now >> PHASE_BITS < 0;
        if ((now & PHASE) != from || surplus) {
            throw outOfOrder(event, now);
        }
        return now;
    }

    private boolean moved(int now, int phase, int owed) {
        int next = owed << PHASE_BITS | phase;
        // volatile: orderings 1 and 2
        if (!state.compareAndSet(now, next)) {
            return false;
        }
        if (next == ENDED) {
            lease.close();
        }
        return true;
    }

    private static IllegalStateException outOfOrder(String event, int now) {
        return new IllegalStateException("event out of order: event=" + event + " " + describe(now));
    }

    private static String describe(int now) {
        String phase = switch (now & PHASE) {
            case IDLE -> "idle";
            case CALLING -> "calling";
            default -> "ended";
        };
        return "state=" + phase + " owed=" + (now >> PHASE_BITS);
    }
}
