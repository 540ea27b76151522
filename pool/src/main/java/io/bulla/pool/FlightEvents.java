// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.internal.FlightGate;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// What the JDK's flight recorder is told, when it records: `bulla.SlabTaken`, `bulla.SlabGivenBack` and
/// `bulla.PoolTrim` (its duration is that of the trim).
///
/// Without the module `jdk.jfr`, or without a recording, nothing happens here. Slabs are moved under a lock in steps
/// that must not be left half done, so an event that cannot be written is dropped.
final class FlightEvents {

    private FlightEvents() {}

    /// @param again whether the source had the addresses before, and has given their pages back since
    static void taken(long bytes, boolean again, long booked) {
        if (FlightGate.isOpen()) {
            try {
                Taken event = new Taken();
                if (event.isEnabled()) {
                    event.bytes = bytes;
                    event.again = again;
                    event.booked = booked;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void givenBack(long bytes, boolean escaped, long booked) {
        if (FlightGate.isOpen()) {
            try {
                GivenBack event = new GivenBack();
                if (event.isEnabled()) {
                    event.bytes = bytes;
                    event.escaped = escaped;
                    event.booked = booked;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    /// An event that runs until the trim is over, or null when no recording runs.
    static @Nullable Trim trimming(long booked) {
        if (FlightGate.isOpen()) {
            try {
                Trim event = new Trim();
                if (event.isEnabled()) {
                    event.bookedBefore = booked;
                    event.begin();
                    return event;
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
        return null;
    }

    /// What is told of a slab that is taken, or given back.
    abstract static class OfSlab extends Event {
        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Booked")
        @Description("What the pool has from the machine then")
        @DataAmount
        long booked;
    }

    @Name("bulla.SlabTaken")
    @Label("Slab Taken")
    @Description("A pool took memory from the machine")
    @Category("Bulla")
    @StackTrace(false)
    static final class Taken extends OfSlab {
        @Label("Again")
        @Description("The addresses were the pool's before, without pages")
        boolean again;
    }

    @Name("bulla.SlabGivenBack")
    @Label("Slab Given Back")
    @Description("A pool gave the pages of an empty slab back to the machine")
    @Category("Bulla")
    @StackTrace(false)
    static final class GivenBack extends OfSlab {
        @Label("Escaped")
        @Description("A raw view of it was given out: its addresses are not used again")
        boolean escaped;
    }

    @Name("bulla.PoolTrim")
    @Label("Pool Trimmed")
    @Description("A caller had everything given back that is free")
    @Category("Bulla")
    @StackTrace(false)
    static final class Trim extends Event {
        @Label("Booked Before")
        @DataAmount
        long bookedBefore;

        @Label("Booked After")
        @DataAmount
        long bookedAfter;

        void finish(long booked) {
            try {
                bookedAfter = booked;
                commit();
            } catch (Throwable dropped) {
                // see above
            }
        }
    }
}
