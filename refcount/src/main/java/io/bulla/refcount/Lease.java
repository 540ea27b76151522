// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import io.bulla.refcount.internal.Failures;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/// One holder's claim on a counted resource.
///
/// A handle type extends this class, so that a share is one object. `close()` ends this claim once. A second close,
/// from any thread, does nothing, and can never end another holder's claim. A lease is never reused.
///
/// ```
/// open --close, move--> closed      closed is final; share, from open only, makes another lease
///
/// plain:              attachment = NONE --exchange--> attachment = CLOSED
/// tagged or traced:   attachment = a record of its own, for ever; the exchange is inside it ([Attachment#end])
/// ```
///
/// Ordering
/// 1. **One close counts.** The step to closed is an atomic exchange; only the thread that saw *open* releases.
///    A record is written to `attachment` once, before a fence and before another thread can see the lease. So all
///    threads exchange in the same place, however the lease came to them.
/// 2. **A holder's reads are plain.** The flag tells only whether this holder has closed. A read that races with
///    the close of its own handle may still see *open*. It never sees freed memory of the default source while
///    another holder has a claim.
public abstract class Lease implements AutoCloseable {

    private static final VarHandle ATTACHMENT;

    static {
        try {
            ATTACHMENT = MethodHandles.lookup().findVarHandle(Lease.class, "attachment", Attachment.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        Failures.load();
    }

    private final RefCount count;
    // NONE, CLOSED, or a record of its own; through ATTACHMENT, or plain by ordering 2
    private Attachment attachment = Attachment.NONE;

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
    protected final void retain(@Nullable Object tag, Lease... leases) {
        if (isClosed()) {
            throw closedError();
        }
        if (tag != null || count.trace() != null) {
            openedAll(tag, leases);
        }
        if (!count.retain(leases.length, this)) {
            throw refused(leases);
        }
        // this lease may not be collected, and so healed, while its claim is what makes the step safe
        Reference.reachabilityFence(this);
    }

    /// Counts one more holder and announces its lease. As [#retain(Object, Lease...)], without an array.
    ///
    /// @param tag who will hold it, or `null`
    /// @param lease a lease made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; nothing is counted then
    protected final void retain(@Nullable Object tag, Lease lease) {
        if (isClosed()) {
            throw closedError();
        }
        lease.opened(tag);
        if (!count.retain(1, this)) {
            throw lease.refusedBy(this);
        }
        Reference.reachabilityFence(this);
    }

    /// Hands this lease's claim to another lease and closes this one, without touching the count.
    ///
    /// If the listener fails to hear of it, both leases are closed, and the claim is given back.
    ///
    /// @param tag who will hold it, or `null`
    /// @param lease a lease made with [#Lease(RefCount)] on [#count()], not shown to anybody yet
    /// @throws IllegalStateException ([#closedError()]) if this lease is closed; the other one is not opened then
    protected final void moveTo(@Nullable Object tag, Lease lease) {
        if (isClosed()) {
            throw closedError();
        }
        lease.opened(tag);
        Object traced = takeAttachment();
        if (traced == null) {
            throw lease.refusedBy(this);
        }
        try {
            tellClosed(traced);
        } catch (Throwable failure) {
            lease.closeAfter(failure);
            throw failure;
        }
    }

    private void closeAfter(Throwable failure) {
        try {
            close();
        } catch (Throwable another) {
            Failures.join(failure, another);
        }
    }

    /// Tells the resource's [LeaseTrace] that this lease is open. The first holder of a resource calls it once.
    ///
    /// If the listener throws, this lease is closed, and was never open.
    ///
    /// @param tag who holds it, or `null`
    protected final void opened(@Nullable Object tag) {
        LeaseTrace trace = count.trace();
        if (trace != null || tag != null) {
            // plain: no other thread sees this lease yet; the listener, which does, cannot end what is not counted yet
            attachment = Attachment.CLOSED;
            Object traced = trace == null ? null : trace.opened(this, count, tag);
            keep(trace, tag, traced);
            // release: ordering 1, the record is written before this lease can be seen, be it through a race
            VarHandle.releaseFence();
            // the listener's own record of it is whole before this lease can be collected
            Reference.reachabilityFence(this);
        }
    }

    private void keep(@Nullable LeaseTrace trace, @Nullable Object tag, @Nullable Object traced) {
        try {
            Attachment record = Attachment.of(tag, traced);
            if (traced instanceof Traced kept) {
                kept.keptAs(traced);
            }
            // plain: as above
            attachment = record;
        } catch (Throwable failure) {
            // without a record it never opens: the listener must not wait for its end, nor heal it
            if (trace != null && traced != null) {
                trace.closed(this, traced);
            }
            throw failure;
        }
    }

    /// All, or none: a lease that a listener knows, but that is not counted, would be healed at the others' expense.
    private static void openedAll(@Nullable Object tag, Lease... leases) {
        int done = 0;
        try {
            for (; done < leases.length; done++) {
                leases[done].opened(tag);
            }
        } catch (Throwable failure) {
            notCounted(leases, done, failure);
            throw failure;
        }
    }

    private static void notCounted(Lease[] leases, int opened, Throwable failure) {
        for (int i = 0; i < opened; i++) {
            leases[i].notCounted(failure);
        }
    }

    /// Ends leases that were opened and never counted, for this one is closed: also if that cannot be put into words,
    /// which are a tag's and a listener's, and take heap.
    private IllegalStateException refused(Lease... leases) {
        IllegalStateException closed;
        try {
            closed = closedError();
        } catch (Throwable noWords) {
            notCounted(leases, leases.length, noWords);
            throw noWords;
        }
        notCounted(leases, leases.length, closed);
        return closed;
    }

    /// As [#refused], of one, without an array.
    private IllegalStateException refusedBy(Lease closed) {
        IllegalStateException error;
        try {
            error = closed.closedError();
        } catch (Throwable noWords) {
            notCounted(noWords);
            throw noWords;
        }
        return notCounted(error);
    }

    /// Ends a lease that was opened and never counted.
    private <T extends Throwable> T notCounted(T failure) {
        try {
            tellClosed(takeAttachment());
        } catch (Throwable another) {
            Failures.join(failure, another);
        }
        return failure;
    }

    /// Tells whether this lease has not been closed. Not ordered with anything else; a loop that waits for the close
    /// comes to see it.
    ///
    /// @return false for ever once `close()` was called
    public final boolean isOpen() {
        // opaque: not hoisted out of a loop; no other memory hangs on it
        Attachment now = (Attachment) ATTACHMENT.getOpaque(this);
        return now == Attachment.NONE || now.isOpen();
    }

    /// As [#isOpen()], in one order with the ends of leases and the steps of the count.
    final boolean isOpenInOrder() {
        // volatile: RefCount, ordering 5
        Attachment now = (Attachment) ATTACHMENT.getVolatile(this);
        return now == Attachment.NONE || now.isOpenInOrder();
    }

    /// Tells whether this lease is open and nothing is kept beside it: the usual case, told by one compare of a
    /// plain read. If not, [#isOpen()] and [#isTraced()] say more.
    ///
    /// @return false if it is closed, tagged or traced
    protected final boolean isOpenAndPlain() {
        return attachment == Attachment.NONE;
    }

    /// Tells whether the resource's listener keeps something with this lease: then it may be healed once nothing
    /// reaches it, and views of it must keep it reachable.
    ///
    /// @return false once closed
    protected final boolean isTraced() {
        return attachment != Attachment.NONE && attachment.isTraced();
    }

    /// Who holds this lease, as given when it was opened.
    ///
    /// @return `null` if nothing was given, or the lease is closed
    public final @Nullable Object tag() {
        Attachment now = attachment;
        return now.isOpen() ? now.tag() : null;
    }

    /// Who holds this lease, or held it before it was closed: for errors, which should name the one that came too
    /// late.
    ///
    /// @return `null` if nothing was given
    protected final @Nullable Object lastTag() {
        return attachment.tag();
    }

    /// Ends this claim; the last claim frees the resource. Closing again does nothing.
    ///
    /// Callable from any thread. It does not block. If the listener or the resource throws, the claim is ended all
    /// the same.
    @Override
    public final void close() {
        Object traced = takeAttachment();
        if (traced == Attachment.UNTRACED) {
            count.releaseEnded();
        } else if (traced != null) {
            closeTraced(traced);
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
        Object tag = lastTag();
        return new IllegalStateException("lease already closed: type="
                + getClass().getSimpleName() + " holders=" + holders() + (tag == null ? "" : " tag=" + tag));
    }

    private boolean isClosed() {
        return attachment != Attachment.NONE && !attachment.isOpen();
    }

    private void closeTraced(Object traced) {
        try {
            tellClosed(traced);
        } finally {
            count.releaseEnded();
        }
    }

    /// @param traced what [#takeAttachment] returned
    private void tellClosed(@Nullable Object traced) {
        if (traced != null && traced != Attachment.UNTRACED) {
            count.listener().closed(this, traced);
            // collected only after the listener knows that it was closed
            Reference.reachabilityFence(this);
        }
    }

    /// Ends this lease for its holder.
    ///
    /// @return what the listener kept, [Attachment#UNTRACED] if nothing, null if this lease was ended before
    private @Nullable Object takeAttachment() {
        // plain: ordering 1, a record stays where it is; NONE goes by the exchange below
        Attachment now = attachment;
        if (now != Attachment.NONE) {
            return now.end();
        }
        // volatile exchange: ordering 1; the release of what this holder did is in RefCount.release
        return ATTACHMENT.getAndSet(this, Attachment.CLOSED) == Attachment.NONE ? Attachment.UNTRACED : null;
    }
}
