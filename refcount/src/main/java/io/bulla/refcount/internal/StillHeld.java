// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.internal;

import java.util.function.Consumer;
import java.util.function.Supplier;

/// Says once, at `WARNING`, that a closed source is held a while after its end. Not at once: a source may be closed
/// while sends are in flight, and they have this time to end.
///
/// It belongs to the source's own thread.
public final class StillHeld {

    /// How long sends may take, by default.
    public static final long GRACE_NANOS = 10_000_000_000L;

    private final String unit;
    private final long graceNanos;
    private final Supplier<String> holders;
    private final Consumer<String> warning;
    private boolean looked;
    private boolean said;
    private long since;

    /// For one source.
    ///
    /// @param unit of memory that is held, as `chunks`
    /// @param graceNanos from the first look on
    /// @param holders asked when it is said
    /// @param warning told the line
    public StillHeld(String unit, long graceNanos, Supplier<String> holders, Consumer<String> warning) {
        this.unit = unit;
        this.graceNanos = graceNanos;
        this.holders = holders;
        this.warning = warning;
    }

    /// A line in the log.
    ///
    /// @param logger by name
    /// @return what writes it
    public static Consumer<String> warning(String logger) {
        return line -> System.getLogger(logger).log(System.Logger.Level.WARNING, line);
    }

    /// Looks from time to time, once the source is closed.
    ///
    /// @param open how much is held now
    /// @param now in the thread's nanoseconds
    public void look(long open, long now) {
        if (said || open == 0) {
            return;
        }
        if (!looked) {
            looked = true;
            since = now;
        } else if (now - since >= graceNanos) {
            said = true;
            warning.accept(message(open, now - since));
        }
    }

    private String message(long open, long nanos) {
        return "memory source closed with open handles: " + unit + "=" + open + " waited=" + nanos / 1_000_000
                + "ms held by [" + holders.get() + "]";
    }
}
