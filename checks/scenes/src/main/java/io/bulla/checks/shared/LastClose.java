// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import io.bulla.posix.lending.SlabPeer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// When a borrower's last lease was closed.
final class LastClose implements LeaseTrace {

    /// Of one borrower.
    private static final class Close {
        // of the lender's thread, and of those that ask
        private volatile long nanos;
    }

    private final Map<SlabPeer, Close> closes = new ConcurrentHashMap<>();

    /// Forgets the borrower.
    ///
    /// @return `System.nanoTime()` of then; 0 if it had none
    long of(SlabPeer peer) {
        Close last = closes.remove(peer);
        return last == null ? 0 : last.nanos;
    }

    @Override
    public @Nullable Object opened(Lease lease, RefCount count, @Nullable Object tag) {
        return tag instanceof SlabPeer peer ? closes.computeIfAbsent(peer, _ -> new Close()) : null;
    }

    @Override
    public void closed(Lease lease, Object traced) {
        ((Close) traced).nanos = System.nanoTime();
    }
}
