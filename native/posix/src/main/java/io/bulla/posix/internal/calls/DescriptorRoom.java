// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

/// Room for the descriptors that one lender has this process keep: at most a quarter of what it may have open, and
/// half for all lenders together. So none of them takes the descriptors that the rest of the process needs.
public final class DescriptorRoom {

    // under the monitor of the class
    private static long all;

    private final long limit = Math.max(0, Call.descriptorLimit());
    // under the monitor of the class, too
    private long own;

    /// @return false if there is no room for one more
    public boolean take() {
        synchronized (DescriptorRoom.class) {
            if (own >= limit / 4 || all >= limit / 2) {
                return false;
            }
            own++;
            all++;
            return true;
        }
    }

    /// One of those taken is closed.
    public void giveBack() {
        synchronized (DescriptorRoom.class) {
            own--;
            all--;
        }
    }

    @Override
    public String toString() {
        synchronized (DescriptorRoom.class) {
            return "descriptors=" + own + " of-all-lenders=" + all + " limit=" + limit;
        }
    }
}
