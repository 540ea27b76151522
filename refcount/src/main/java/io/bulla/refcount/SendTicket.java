// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.AtomicInteger;

/// Keeps one lease until every event it waits for has happened, in any order, then closes it.
///
/// A send ends twice: when its bytes are accepted, and when the memory is not read any more. The lease goes at
/// the later of the two. A send in several pieces waits for one event more per piece. Where the kernel tells only
/// as it goes how many events there are, [KernelSend] keeps the lease instead.
///
/// ```
/// waiting(n) --happened--> waiting(n - 1), or done when n = 1: the lease is closed; done is final
/// ```
public final class SendTicket {

    private final Lease lease;
    private final AtomicInteger waiting;

    /// A ticket that owns `lease` from now on.
    ///
    /// @param lease closed once, by the ticket alone
    /// @param events how many [#happened()] calls end the send, at least 1
    /// @throws IllegalArgumentException if `events` is less than 1; the lease stays the caller's
    public SendTicket(Lease lease, int events) {
        if (events < 1) {
            throw new IllegalArgumentException("a send waits for at least one event: events=" + events);
        }
        this.lease = lease;
        this.waiting = new AtomicInteger(events);
    }

    /// One of the events has happened; the last one closes the lease.
    ///
    /// @throws IllegalStateException if more events happen than were announced; the lease is not touched
    public void happened() {
        // volatile: every earlier event's use of the memory is before the close
        int left = waiting.decrementAndGet();
        if (left == 0) {
            lease.close();
        } else if (left < 0) {
            throw new IllegalStateException("more events than announced: surplus=" + -left);
        }
    }

    /// Tells whether the lease was handed back.
    ///
    /// @return true after the last event
    public boolean isDone() {
        // volatile: who sees the end sees what came before it
        return waiting.get() <= 0;
    }
}
