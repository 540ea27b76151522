// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import io.bulla.refcount.internal.Failures;
import org.jspecify.annotations.Nullable;

/// Tells two listeners, the second one also if the first one throws.
record CompositeTrace(LeaseTrace first, LeaseTrace second) implements LeaseTrace {

    private record Kept(@Nullable Object first, @Nullable Object second) implements Traced {

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
    public @Nullable Object opened(Lease lease, RefCount count, @Nullable Object tag) {
        @Nullable Object one = first.opened(lease, count, tag);
        @Nullable Object two = null;
        try {
            two = second.opened(lease, count, tag);
            return one == null && two == null ? null : new Kept(one, two);
        } catch (Throwable failure) {
            // the lease will never be: those that know of it must not wait for it
            try {
                closed(lease, one, two);
            } catch (Throwable another) {
                Failures.join(failure, another);
            }
            throw failure;
        }
    }

    @Override
    public void closed(Lease lease, Object traced) {
        Kept kept = (Kept) traced;
        closed(lease, kept.first(), kept.second());
    }

    private void closed(Lease lease, @Nullable Object one, @Nullable Object two) {
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
    public @Nullable Throwable closedBy(Lease lease) {
        Throwable known = first.closedBy(lease);
        return known == null ? second.closedBy(lease) : known;
    }

    @Override
    public String summary() {
        return first.summary().isEmpty() ? second.summary() : first.summary();
    }
}
