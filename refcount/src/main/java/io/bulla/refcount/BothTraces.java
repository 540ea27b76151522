// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// Tells two listeners, the second one also if the first one throws.
record BothTraces(LeaseTrace first, LeaseTrace second) implements LeaseTrace {

    private record Kept(Object first, Object second) implements Traced {

        @Override
        public void keptAs(Object traced) {
            if (first instanceof Traced one) {
                one.keptAs(traced);
            }
            if (second instanceof Traced two) {
                two.keptAs(traced);
            }
        }
    }

    @Override
    public Object opened(Lease lease, RefCount count, Object tag) {
        Object one = first.opened(lease, count, tag);
        Object two = null;
        try {
            two = second.opened(lease, count, tag);
            return one == null && two == null ? null : new Kept(one, two);
        } catch (Throwable failure) {
            // the lease will never be: those that know of it must not wait for it
            try {
                closed(lease, one, two);
            } catch (Throwable another) {
                Failures.suppress(failure, another);
            }
            throw failure;
        }
    }

    @Override
    public void closed(Lease lease, Object traced) {
        Kept kept = (Kept) traced;
        closed(lease, kept.first(), kept.second());
    }

    private void closed(Lease lease, Object one, Object two) {
        try {
            if (one != null) {
                first.closed(lease, one);
            }
        } finally {
            if (two != null) {
                second.closed(lease, two);
            }
        }
    }

    @Override
    public void lost(Object traced) {
        Kept kept = (Kept) traced;
        try {
            if (kept.first() != null) {
                first.lost(kept.first());
            }
        } finally {
            if (kept.second() != null) {
                second.lost(kept.second());
            }
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
