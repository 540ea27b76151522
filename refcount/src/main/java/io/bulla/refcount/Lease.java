// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;

/// One holder's claim on a counted resource.
///
/// A type that hands out claims extends it, so that a share is one object. `close()` ends this claim once;
/// closing it again does nothing, whoever does it, and can never end another holder's claim. A lease is never
/// reused.
///
/// ```
/// open(side record) --close, move--> closed = null      closed is final; share, from open only, makes another
/// lease
/// ```
///
/// Ordering
/// 1. **One close counts.** The step to closed is an atomic exchange; only the thread that saw *open* releases.
/// 2. **A holder's reads are plain.** The flag says what this holder has done. A thread that reads through a
///    handle which another thread closes meanwhile races with its own program: it may still see *open*, never
///    freed memory of the default source beneath a claim that somebody else holds.
public abstract class Lease implements AutoCloseable {

    private static final VarHandle SIDE;

    static {
        try {
            SIDE = MethodHandles.lookup().findVarHandle(Lease.class, "side", SideRecord.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RefCount count;
    // null once closed; through SIDE as soon as anybody else can see this lease
    private SideRecord side = SideRecord.NONE;

    /// A lease that takes over a claim which is counted already, or will be by [#retain] before the lease is
    /// shown to anybody: the first holder of a fresh resource, or one of several shares.
    ///
    /// @param count the resource's count
    protected Lease(RefCount count) {
        this.count = count;
    }

    /// Counts `leases.length` more holders in one atomic step (one per cell when the count is striped), and
    /// announces the leases, which stand on the same count.
    ///
    /// The leases exist before the step, so that running out of heap cannot lose a claim.
    ///
    /// @param tag who will hold them, or `null`
    /// @param leases leases made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; nothing is counted then
    protected final void retain(Object tag, Lease... leases) {
        if (side == null) {
            throw closedError();
        }
        if (tag != null || count.trace() != null) {
            openedAll(tag, leases);
        }
        if (!count.retain(leases.length)) {
            for (Lease lease : leases) {
                lease.takeSide();
            }
            throw closedError();
        }
        // this lease may not be collected, and so healed, while its claim is what makes the step safe
        Reference.reachabilityFence(this);
    }

    /// Counts one more holder and announces its lease. As [#retain(Object, Lease...)], without an array.
    ///
    /// @param tag who will hold it, or `null`
    /// @param lease a lease made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; nothing is counted then
    protected final void retain(Object tag, Lease lease) {
        if (side == null) {
            throw closedError();
        }
        lease.opened(tag);
        if (!count.retain(1)) {
            lease.takeSide();
            throw closedError();
        }
        Reference.reachabilityFence(this);
    }

    /// Hands this lease's claim to another lease and closes this one, without touching the count.
    ///
    /// @param tag who will hold it, or `null`
    /// @param lease a lease made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; the other one is not opened then
    protected final void moveTo(Object tag, Lease lease) {
        lease.opened(tag);
        if (takeSide() == null) {
            lease.takeSide();
            throw closedError();
        }
    }

    /// Tells the resource's [LeaseTrace] that this lease is open. The first holder of a resource calls it once.
    ///
    /// @param tag who holds it, or `null`
    protected final void opened(Object tag) {
        LeaseTrace trace = count.trace();
        if (trace != null || tag != null) {
            // plain: nobody else sees this lease yet
            side = SideRecord.of(tag, trace == null ? null : trace.opened(this, count, tag));
        }
    }

    /// All, or none: a lease that a listener knows, but nobody counts, would be healed at the others' expense.
    private static void openedAll(Object tag, Lease... leases) {
        int done = 0;
        try {
            for (; done < leases.length; done++) {
                leases[done].opened(tag);
            }
        } catch (Throwable failure) {
            for (int i = 0; i < done; i++) {
                leases[i].takeSide();
            }
            throw failure;
        }
    }

    /// Tells whether this lease has not been closed. A plain read of the lease's own flag.
    ///
    /// @return false for ever once `close()` was called
    public final boolean isOpen() {
        return side != null;
    }

    /// Tells whether this lease is open and nothing is kept beside it: the usual case, told by one compare. If
    /// not, [#isOpen()] and [#isTraced()] say more.
    ///
    /// @return false if it is closed, tagged or traced
    protected final boolean isOpenAndPlain() {
        return side == SideRecord.NONE;
    }

    /// Tells whether the resource's listener keeps something with this lease: then it may be healed once nothing
    /// reaches it, and views of it must keep it reachable.
    ///
    /// @return false once closed
    protected final boolean isTraced() {
        SideRecord now = side;
        return now != null && now != SideRecord.NONE && now.traced() != null;
    }

    /// Who holds this lease, as given when it was opened.
    ///
    /// @return `null` if nothing was given, or the lease is closed
    public final Object tag() {
        SideRecord now = side;
        return now == null ? null : now.tag();
    }

    /// Ends this claim; the last claim frees the resource. Closing again does nothing.
    ///
    /// Callable from any thread. It does not block.
    @Override
    public final void close() {
        if (takeSide() != null) {
            count.release();
        }
    }

    /// The count that this lease stands on.
    ///
    /// @return the same object for all leases of one resource
    protected final RefCount count() {
        return count;
    }

    /// How many leases on the same resource are open at this moment, this one included: a snapshot for reports
    /// and tests.
    ///
    /// @return the number of open leases, 0 when the resource is freed
    public final long holders() {
        return count.holders();
    }

    /// The error for an operation on a closed lease.
    ///
    /// @return a fresh exception, to be thrown by the caller
    protected IllegalStateException closedError() {
        return new IllegalStateException("lease already closed");
    }

    private SideRecord takeSide() {
        // volatile exchange: ordering 1; the release of what this holder did is in RefCount.release
        SideRecord taken = (SideRecord) SIDE.getAndSet(this, null);
        if (taken != SideRecord.NONE && taken != null && taken.traced() != null) {
            count.trace().closed(this, taken.traced());
            // collected only after the listener knows that it was closed
            Reference.reachabilityFence(this);
        }
        return taken;
    }
}
