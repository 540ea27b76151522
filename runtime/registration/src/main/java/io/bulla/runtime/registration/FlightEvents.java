// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.registration;

import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
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

    private static final boolean PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightEvents() {}

    /// Also false while the recorder was never started, so that its classes are not loaded for nothing.
    private static boolean isOn() {
        return PRESENT && FlightRecorder.isInitialized();
    }

    /// An event that runs until the device has answered; `null` when no recording runs.
    static @Nullable Registered registering() {
        if (isOn()) {
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
                begun.device = device;
                begun.slab = fresh.slab().id();
                begun.bytes = fresh.length();
                begun.access = fresh.access().name();
                begun.peer = fresh.peerName();
                begun.commit();
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void free(String device, Marked old, long age) {
        if (isOn()) {
            try {
                Free event = new Free();
                if (event.isEnabled()) {
                    event.device = device;
                    event.slab = old.slab().id();
                    event.bytes = old.length();
                    event.access = old.access().name();
                    event.peer = old.peerName();
                    event.age = age;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void quarantined(String device, Marked left, Duration waited, String why) {
        if (isOn()) {
            try {
                Quarantined event = new Quarantined();
                if (event.isEnabled()) {
                    event.device = device;
                    event.slab = left.slab().id();
                    event.bytes = left.length();
                    event.peer = left.peerName();
                    event.waited = waited.toNanos();
                    event.why = why;
                    event.commit();
                }
            } catch (Throwable dropped) {
                // see above
            }
        }
    }

    static void refused(String device, long bytes, String why) {
        if (isOn()) {
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

    @Name("bulla.MemoryRegistered")
    @Label("Memory Registered")
    @Description("A device was told of memory")
    @Category("Bulla")
    @StackTrace(false)
    static final class Registered extends Event {
        @Label("Device")
        @Nullable
        String device;

        @Label("Slab")
        long slab;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Access")
        @Nullable
        String access;

        @Label("Peer")
        @Nullable
        String peer;
    }

    @Name("bulla.MemoryFree")
    @Label("Memory Free")
    @Description("A device can no longer touch memory")
    @Category("Bulla")
    @StackTrace(false)
    static final class Free extends Event {
        @Label("Device")
        @Nullable
        String device;

        @Label("Slab")
        long slab;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Access")
        @Nullable
        String access;

        @Label("Peer")
        @Nullable
        String peer;

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
    static final class Quarantined extends Event {
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
