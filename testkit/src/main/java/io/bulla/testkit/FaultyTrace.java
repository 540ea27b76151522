// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import org.jspecify.annotations.Nullable;

/// A listener each of whose calls is a fault point: `opened` fails before the lease is noted, `closed` and
/// `lost` after they were.
public final class FaultyTrace implements LeaseTrace {

    private final FaultPoints points;
    private final LeaseTrace trace;

    /// A listener around another.
    ///
    /// @param points which call fails
    /// @param trace does the work
    public FaultyTrace(FaultPoints points, LeaseTrace trace) {
        this.points = points;
        this.trace = trace;
    }

    @Override
    public @Nullable Object opened(Lease lease, RefCount count, @Nullable Object tag) {
        points.reach("LeaseTrace.opened");
        return trace.opened(lease, count, tag);
    }

    @Override
    public void closed(Lease lease, Object traced) {
        trace.closed(lease, traced);
        points.reach("LeaseTrace.closed, done");
    }

    @Override
    public void lost(Object traced) {
        trace.lost(traced);
        points.reach("LeaseTrace.lost, done");
    }

    @Override
    public @Nullable Throwable closedBy(Lease lease) {
        points.reach("LeaseTrace.closedBy");
        return trace.closedBy(lease);
    }

    @Override
    public String summary() {
        points.reach("LeaseTrace.summary");
        return trace.summary();
    }
}
