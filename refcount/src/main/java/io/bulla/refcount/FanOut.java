// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// One lease for many sends that end on one thread: counts their completions itself, and closes the lease with
/// the last.
///
/// An event loop that sends one buffer to 64 peers needs one claim, not 64. The countdown is a plain `int`;
/// sends that end on several threads take a lease each, or a [SendTicket].
///
/// ```
/// waiting(n) --completed--> waiting(n - 1), or done when n = 1: the lease is closed; done is final
/// ```
public final class FanOut {

    private final Lease lease;
    private final Thread owner;
    private final int sends;
    private int waiting;

    /// A fan-out that owns `lease` from now on, and belongs to the calling thread.
    ///
    /// @param lease closed once, by the fan-out alone
    /// @param sends how many completions end it, at least 1
    /// @throws IllegalArgumentException if `sends` is less than 1; the lease stays the caller's
    public FanOut(Lease lease, int sends) {
        if (sends < 1) {
            throw new IllegalArgumentException("a fan-out waits for at least one send: sends=" + sends);
        }
        this.lease = lease;
        this.owner = Thread.currentThread();
        this.sends = sends;
        this.waiting = sends;
    }

    /// One of the sends has ended, whatever its outcome; the last one closes the lease.
    ///
    /// @throws IllegalStateException if another thread calls it, or more sends end than were announced; nothing
    ///     is counted then
    public void completed() {
        if (Thread.currentThread() != owner || waiting == 0) {
            throw misused();
        }
        if (--waiting == 0) {
            lease.close();
        }
    }

    /// Sends that have not ended yet.
    ///
    /// @return 0 once the lease was handed back; a guess on any thread but the owner
    public int waiting() {
        return waiting;
    }

    private IllegalStateException misused() {
        return new IllegalStateException(
                waiting == 0
                        ? "more sends ended than announced: sends=" + sends
                        : "fan-out belongs to another thread: owner=" + owner.getName() + " caller="
                                + Thread.currentThread().getName());
    }
}
