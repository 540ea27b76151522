// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.buffer.internal.FlightGate;
import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/// What the JDK's flight recorder is told, when it records: `bulla.MemoryRegistered` (its duration is that of the
/// device's call), `bulla.MemoryFree`, `bulla.MemoryQuarantined` and `bulla.RegistrationRefused`.
///
/// Without the module `jdk.jfr`, or without a recording, nothing happens here. An event that cannot be written is
/// dropped: what it tells of has happened.
final class FlightEvents {

    private FlightEvents() {}

    /// An event that runs until the device has answered; `null` when no recording runs.
    static @Nullable Registered registering() {
        if (FlightGate.isOpen()) {
            try {
                Registered event = new Registered();
                if (event.isEnabled()) {
                    event.begin();
                    return event;
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
        return null;
    }

    static void registered(@Nullable Registered begun, String device, Marked fresh) {
        if (begun != null) {
            try {
                begun.access = fresh.access().name();
                begun.tell(device, fresh);
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void free(String device, Marked old) {
        if (FlightGate.isOpen()) {
            try {
                Free event = new Free();
                if (event.isEnabled()) {
                    event.access = old.access().name();
                    event.age = old.marks().now() - old.since();
                    event.tell(device, old);
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void quarantined(String device, Marked left, Duration waited, String why) {
        if (FlightGate.isOpen()) {
            try {
                Quarantined event = new Quarantined();
                if (event.isEnabled()) {
                    event.waited = waited.toNanos();
                    event.why = why;
                    event.tell(device, left);
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void refused(String device, long bytes, String why) {
        if (FlightGate.isOpen()) {
            try {
                Refused event = new Refused();
                if (event.isEnabled()) {
                    event.device = device;
                    event.bytes = bytes;
                    event.why = why;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    /// Fields of each event about a mark.
    abstract static class OfMark extends Event {
        @Label("Device")
        @Nullable
        String device;

        @Label("Slab")
        long slab;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Peer")
        @Nullable
        String peer;

        void tell(String by, Marked mark) {
            device = by;
            slab = mark.slab().id();
            bytes = mark.length();
            peer = mark.peerName();
            commit();
        }
    }

    @Name("bulla.MemoryRegistered")
    @Label("Memory Registered")
    @Description("A device was told of memory")
    @Category("Bulla")
    @StackTrace(false)
    static final class Registered extends OfMark {
        @Label("Access")
        @Nullable
        String access;
    }

    @Name("bulla.MemoryFree")
    @Label("Memory Free")
    @Description("A device can no longer touch memory")
    @Category("Bulla")
    @StackTrace(false)
    static final class Free extends OfMark {
        @Label("Access")
        @Nullable
        String access;

        @Label("Age")
        @Description("Since the device was asked")
        @Timespan
        long age;
    }

    @Name("bulla.MemoryQuarantined")
    @Label("Memory Quarantined")
    @Description("A device has not stopped in time: the memory stays out of use until it has")
    @Category("Bulla")
    @StackTrace(false)
    static final class Quarantined extends OfMark {
        @Label("Waited")
        @Timespan
        long waited;

        @Label("Why")
        @Nullable
        String why;
    }

    @Name("bulla.RegistrationRefused")
    @Label("Registration Refused")
    @Description("Memory is not registered: the caller goes the plain way")
    @Category("Bulla")
    @StackTrace(false)
    static final class Refused extends Event {
        @Label("Device")
        @Nullable
        String device;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Why")
        @Nullable
        String why;
    }
}
