package io.bulla.refcount;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// One holder's claim on a counted resource.
///
/// A type that hands out claims extends it, so that a share is one object. `close()` ends this claim once; closing it
/// again does nothing, whoever does it, and can never end another holder's claim. A lease is never reused.
///
/// ```
/// open --close--> closed      closed is final; share, from open only, makes another lease
/// ```
///
/// Ordering
/// 1. **One close counts.** The step to closed is an atomic exchange; only the thread that saw *open* releases.
/// 2. **A holder's reads are plain.** The flag says what this holder has done. A thread that reads through a handle
///    which another thread closes meanwhile races with its own program: it may still see *open*, never freed
///    memory of the default source beneath a claim that somebody else holds.
public abstract class Lease implements AutoCloseable {

    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(Lease.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RefCount count;
    // written through CLOSED only
    private boolean closed;

    /// A lease that takes over a claim which is counted already, or will be by [#retain] before the lease is shown to
    /// anybody: the first holder of a fresh resource, or one of several shares.
    ///
    /// @param count the resource's count
    protected Lease(RefCount count) {
        this.count = count;
    }

    /// Counts `leases.length` more holders in one atomic step and announces the leases, which stand on the same
    /// count.
    ///
    /// The leases exist before the step, so that running out of heap cannot lose a claim.
    ///
    /// @param leases leases made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; nothing is counted then
    protected final void retain(Lease... leases) {
        if (closed || !count.retain(leases.length)) {
            throw closedError();
        }
        for (Lease lease : leases) {
            lease.opened();
        }
    }

    /// Counts one more holder and announces its lease. As [#retain(Lease...)], without an array.
    ///
    /// @param lease a lease made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; nothing is counted then
    protected final void retain(Lease lease) {
        if (closed || !count.retain(1)) {
            throw closedError();
        }
        lease.opened();
    }

    /// Tells the resource's [LeaseTrace] that this lease is open. The first holder of a resource calls it once.
    protected final void opened() {
        LeaseTrace trace = count.trace();
        if (trace != null) {
            trace.opened(this);
        }
    }

    /// Tells whether this lease has not been closed. A plain read of the lease's own flag.
    ///
    /// @return false for ever once `close()` was called
    public final boolean isOpen() {
        return !closed;
    }

    /// Ends this claim; the last claim frees the resource. Closing again does nothing.
    ///
    /// Callable from any thread. It does not block.
    @Override
    public final void close() {
        // volatile exchange: ordering 1; the release of what this holder did is in RefCount.release
        if (!(boolean) CLOSED.getAndSet(this, true)) {
            LeaseTrace trace = count.trace();
            if (trace != null) {
                trace.closed(this);
            }
            count.release();
        }
    }

    /// The count that this lease stands on.
    ///
    /// @return the same object for all leases of one resource
    protected final RefCount count() {
        return count;
    }

    /// How many leases on the same resource are open at this moment, this one included: a snapshot for reports and
    /// tests.
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
}
