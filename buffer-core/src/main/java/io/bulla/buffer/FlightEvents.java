// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.internal.FlightGate;
import io.bulla.refcount.LeaseLedger;
import java.util.function.Consumer;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// What the JDK's flight recorder is told, when it records: `bulla.Allocate`, `bulla.Seal`, `bulla.LastClose`
/// (its duration is how long the buffer was held) and `bulla.Leak`.
///
/// Without the module `jdk.jfr`, or without a recording, nothing happens here. Neither the count nor the
/// handles know of it.
public final class FlightEvents {

    private FlightEvents() {}

    /// Tells the recorder of each leak: to be given to [LeaseLedger#onLeak].
    ///
    /// @param next told afterwards
    /// @return a listener
    public static Consumer<LeaseLedger.Holder> leaks(Consumer<LeaseLedger.Holder> next) {
        return lost -> {
            leaked(lost);
            next.accept(lost);
        };
    }

    static void allocated(long bytes) {
        if (FlightGate.isOpen()) {
            Allocate event = new Allocate();
            if (event.isEnabled()) {
                event.bytes = bytes;
                event.commit();
            }
        }
    }

    static void sealed(long bytes, int regions) {
        if (FlightGate.isOpen()) {
            Seal event = new Seal();
            if (event.isEnabled()) {
                event.bytes = bytes;
                event.regions = regions;
                event.commit();
            }
        }
    }

    /// An event that runs until the last close, or null when no recording runs.
    static @Nullable LastClose held(long bytes) {
        if (FlightGate.isOpen()) {
            LastClose event = new LastClose();
            if (event.isEnabled()) {
                event.bytes = bytes;
                event.begin();
                return event;
            }
        }
        return null;
    }

    private static void leaked(LeaseLedger.Holder lost) {
        if (FlightGate.isOpen()) {
            Leak event = new Leak();
            if (event.isEnabled()) {
                event.tag = String.valueOf(lost.tag());
                event.bytes = lost.size();
                event.ageMillis = lost.age().toMillis();
                event.commit();
            }
        }
    }

    @Name("bulla.Allocate")
    @Label("Memory Reserved")
    @Description("A memory source reserved a chunk")
    @Category("Bulla")
    @StackTrace(false)
    static final class Allocate extends Event {
        @Label("Bytes")
        @DataAmount
        long bytes;
    }

    @Name("bulla.Seal")
    @Label("Buffer Sealed")
    @Category("Bulla")
    @StackTrace(false)
    static final class Seal extends Event {
        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Regions")
        int regions;
    }

    @Name("bulla.LastClose")
    @Label("Buffer Held")
    @Description("From the seal to the close of the last handle")
    @Category("Bulla")
    @StackTrace(false)
    static final class LastClose extends Event {
        @Label("Bytes")
        @DataAmount
        long bytes;

        void finish() {
            commit();
        }
    }

    @Name("bulla.Leak")
    @Label("Handle Leaked")
    @Description("A handle was collected unclosed, and healed")
    @Category("Bulla")
    @StackTrace(false)
    static final class Leak extends Event {
        @Label("Tag")
        @Nullable
        String tag;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Age")
        long ageMillis;
    }
}
