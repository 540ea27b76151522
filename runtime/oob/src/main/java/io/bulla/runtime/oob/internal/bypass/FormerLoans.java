// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import java.util.ArrayList;
import java.util.List;

/// What stays of the [LocalLink]s of one peer when their connections are over. One event loop's.
public final class FormerLoans {

    private static final int MOST_FORMER = 4;

    private final List<LocalMemory.Lender> former = new ArrayList<>();
    private boolean declines;

    /// Nothing more is borrowed of this peer: what it lent could not be used.
    void decline() {
        declines = true;
    }

    boolean declines() {
        return declines;
    }

    /// A peer that connects again and again, and keeps what it had, may not have one quota for each
    /// time.
    boolean mayBorrow() {
        former.removeIf(lender -> lender.leases() == 0);
        return former.size() < MOST_FORMER;
    }

    /// The connection is over. What it lent counts, whatever a user's end does.
    void left(LocalMemory.Lender lender) {
        former.add(lender);
        try {
            lender.close();
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.LENDING_NOT_ENDED, failure);
        }
    }

    public int leases() {
        return former.stream().mapToInt(LocalMemory.Lender::leases).sum();
    }

    public long leasedBytes() {
        return former.stream().mapToLong(LocalMemory.Lender::leasedBytes).sum();
    }
}
