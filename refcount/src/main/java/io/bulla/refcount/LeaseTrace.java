package io.bulla.refcount;

/// Listens to the leases of a resource. The count itself knows nothing of what a listener does with it.
///
/// Calls come from the threads that open and close, beside each other; a listener must be thread-safe, must not block
/// and must not throw.
public interface LeaseTrace {

    /// A lease was opened.
    ///
    /// @param lease the new lease; one `closed` call will follow for it
    void opened(Lease lease);

    /// A lease was closed; its resource is not freed yet.
    ///
    /// @param lease the lease, announced before by [#opened(Lease)]
    void closed(Lease lease);
}
