// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

/// Counters of one lender since it was opened. Any thread may count, or look.
final class LenderCounts {

    // all under the monitor
    private long cutOff;
    private long refused;
    private long hungUp;
    private long reclaimed;
    private long failures;

    synchronized void cutOff() {
        cutOff++;
    }

    synchronized void refused() {
        refused++;
    }

    /// @param leases that were closed for it
    synchronized void hungUp(int leases) {
        hungUp++;
        reclaimed += leases;
    }

    synchronized void failed() {
        failures++;
    }

    /// With what there is now.
    synchronized SlabLenderFigures with(int peers, int leases, long bytes, int quarantined) {
        return new SlabLenderFigures(peers, leases, bytes, quarantined, cutOff, refused, hungUp, reclaimed, failures);
    }
}
