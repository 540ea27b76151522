// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.internal.FlightGate;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// What the JDK's flight recorder is told of lending, when it records: `bulla.Lent` (its duration is that of the
/// lease), `bulla.LendingRefused`, `bulla.LeasesQuarantined` and `bulla.BorrowerEnded` (its duration is how long it
/// took to close what the borrower had). Each names the borrower.
///
/// Without the module `jdk.jfr`, or without a recording, nothing happens here. An event that cannot be written is
/// dropped: what it tells of has happened, or goes on.
final class FlightEvents {

    private FlightEvents() {}

    /// An event that runs until the lease ends; `null` when no recording runs.
    static @Nullable Lent lending(String borrower, long slab, long bytes) {
        if (FlightGate.isOpen()) {
            try {
                Lent event = new Lent();
                if (event.isEnabled()) {
                    event.borrower = borrower;
                    event.slab = slab;
                    event.bytes = bytes;
                    event.begin();
                    return event;
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
        return null;
    }

    /// @param returned whether the borrower has given it back
    static void ended(@Nullable Lent begun, boolean returned) {
        if (begun != null) {
            try {
                begun.returned = returned;
                begun.commit();
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void refused(String borrower, long bytes, int leases, long leasedBytes) {
        if (FlightGate.isOpen()) {
            try {
                Refused event = new Refused();
                if (event.isEnabled()) {
                    event.borrower = borrower;
                    event.bytes = bytes;
                    event.leases = leases;
                    event.leasedBytes = leasedBytes;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void quarantined(String borrower, int leases, long bytes, String why) {
        if (FlightGate.isOpen()) {
            try {
                Quarantined event = new Quarantined();
                if (event.isEnabled()) {
                    event.borrower = borrower;
                    event.leases = leases;
                    event.bytes = bytes;
                    event.why = why;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    /// An event that runs until all that the borrower had is closed; `null` when no recording runs.
    static @Nullable Ended ending(String borrower, long bytes) {
        if (FlightGate.isOpen()) {
            try {
                Ended event = new Ended();
                if (event.isEnabled()) {
                    event.borrower = borrower;
                    event.bytes = bytes;
                    event.begin();
                    return event;
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
        return null;
    }

    static void closed(@Nullable Ended begun, int leases, String why) {
        if (begun != null) {
            try {
                begun.leases = leases;
                begun.why = why;
                begun.commit();
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    @Name("bulla.Lent")
    @Label("Buffer Lent")
    @Description("Another process had a buffer of this one, until the event's end")
    @Category("Bulla")
    @StackTrace(false)
    static final class Lent extends Event {
        @Label("Borrower")
        String borrower = "";

        @Label("Slab")
        long slab;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Returned")
        @Description("The borrower gave it back; else its process had ended, or let go of everything")
        boolean returned;
    }

    @Name("bulla.LendingRefused")
    @Label("Lending Refused")
    @Description("A borrower's quota was used up")
    @Category("Bulla")
    @StackTrace(false)
    static final class Refused extends Event {
        @Label("Borrower")
        String borrower = "";

        @Label("Bytes")
        @Description("What was to be lent")
        @DataAmount
        long bytes;

        @Label("Leases")
        @Description("What the borrower has")
        int leases;

        @Label("Leased Bytes")
        @DataAmount
        long leasedBytes;
    }

    @Name("bulla.LeasesQuarantined")
    @Label("Leases Quarantined")
    @Description("A borrower's connection has ended, and it may still have the memory mapped")
    @Category("Bulla")
    @StackTrace(false)
    static final class Quarantined extends Event {
        @Label("Borrower")
        String borrower = "";

        @Label("Leases")
        int leases;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Why")
        String why = "";
    }

    @Name("bulla.BorrowerEnded")
    @Label("Borrower Ended")
    @Description("A borrower has no mapping any more; what it had was closed, until the event's end")
    @Category("Bulla")
    @StackTrace(false)
    static final class Ended extends Event {
        @Label("Borrower")
        String borrower = "";

        @Label("Leases")
        @Description("Leases that were closed for it")
        int leases;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Why")
        @Description("Why its connection ended")
        String why = "";
    }
}
