// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.runtime.oob.SendOptions;
import java.time.Duration;

/// Deadlines as a clock of nanoseconds counts them. Any thread.
public final class Deadlines {

    private static final Duration CENTURY = Duration.ofDays(36_525);

    private Deadlines() {}

    /// @return at most a century, which a clock of nanoseconds can add to now
    public static long nanos(Duration duration) {
        return (duration.compareTo(CENTURY) > 0 ? CENTURY : duration).toNanos();
    }

    /// Whether a send with these options has one.
    public static boolean has(SendOptions options) {
        return options.deadline().isPresent() && options.deadline().get().compareTo(CENTURY) < 0;
    }
}
