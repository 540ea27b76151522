// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import org.jspecify.annotations.Nullable;

/// Listens to the leases of a resource. The count itself knows nothing of what a listener does with it.
///
/// Calls come from the threads that open and close, beside each other; a listener must be thread-safe, must not block
/// and must not throw: if it does, the exception reaches the thread that opens or closes, and no claim is lost or
/// given back twice. [LeaseTally] counts, [LeaseLedger] lists who holds what.
public interface LeaseTrace {

    /// A lease is being opened: called before the lease is counted and before anybody else can see it.
    ///
    /// @param lease the new lease
    /// @param count what it stands on
    /// @param tag who will hold it, or `null`
    /// @return kept with the lease and given to the one call of `closed` that follows, unless the lease is lost
    ///     by its holder; `null` to hear no more of this lease
    @Nullable
    Object opened(Lease lease, RefCount count, @Nullable Object tag);

    /// A lease was closed; its resource is not freed yet.
    ///
    /// @param lease the lease, announced before by `opened`
    /// @param traced what `opened` returned for it, not `null`
    void closed(Lease lease, Object traced);

    /// A lease was collected by the garbage collector unclosed, and its claim is being given back for its holder:
    /// the last that is heard of it. Told by a [LeaseLedger] to every listener on the same count, on the ledger's
    /// own thread.
    ///
    /// @param traced what `opened` returned for the lease, not `null`
    default void lost(Object traced) {}

    /// Where a lease was closed, if the listener remembers: the cause of the error that a use after close gets.
    ///
    /// @param lease a closed lease
    /// @return `null` if it does not remember
    default @Nullable Throwable closedBy(Lease lease) {
        return null;
    }

    /// Who holds what, in short: for the message of a limit that was hit.
    ///
    /// @return one line, empty if the listener does not know
    default String summary() {
        return "";
    }

    /// A listener that tells two others. Each hears everything, also when the other one throws; a lease that is
    /// lost is healed once, even if both are ledgers.
    ///
    /// @param first told first
    /// @param second told second
    /// @return a listener
    static LeaseTrace both(LeaseTrace first, LeaseTrace second) {
        return new CompositeTrace(first, second);
    }
}
