// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// Tells two listeners.
record BothTraces(LeaseTrace first, LeaseTrace second) implements LeaseTrace {

    private record Kept(Object first, Object second) {}

    @Override
    public Object opened(Lease lease, RefCount count, Object tag) {
        Object one = first.opened(lease, count, tag);
        Object two;
        try {
            two = second.opened(lease, count, tag);
        } catch (Throwable failure) {
            // the lease will never be: the first one must not wait for it
            if (one != null) {
                first.closed(lease, one);
            }
            throw failure;
        }
        return one == null && two == null ? null : new Kept(one, two);
    }

    @Override
    public void closed(Lease lease, Object traced) {
        Kept kept = (Kept) traced;
        if (kept.first() != null) {
            first.closed(lease, kept.first());
        }
        if (kept.second() != null) {
            second.closed(lease, kept.second());
        }
    }

    @Override
    public Throwable closedBy(Lease lease) {
        Throwable known = first.closedBy(lease);
        return known == null ? second.closedBy(lease) : known;
    }

    @Override
    public String summary() {
        return first.summary().isEmpty() ? second.summary() : first.summary();
    }
}
