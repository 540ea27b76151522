// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Counts leases as they open and close.
///
/// The difference is exact once the threads that open and close have come to rest; while they run it is a
/// snapshot.
public final class LeaseTally implements LeaseTrace {

    private final LongAdder opened = new LongAdder();
    private final LongAdder closed = new LongAdder();

    /// A tally of nothing yet.
    public LeaseTally() {}

    @Override
    public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
        opened.increment();
        return this;
    }

    @Override
    public void closed(Lease lease, Object traced) {
        closed.increment();
    }

    /// A lease that was healed is closed: its claim is given back.
    @Override
    public void lost(Object traced) {
        closed.increment();
    }

    /// Leases ever opened.
    ///
    /// @return a number that only grows
    public long totalOpened() {
        return opened.sum();
    }

    /// Leases open now.
    ///
    /// @return opened less closed
    public long open() {
        // volatile (a sum of such reads): who sees a close below sees its opening in the sum after it
        long closedFirst = closed.sum();
        return opened.sum() - closedFirst;
    }
}
