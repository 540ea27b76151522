// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Lengths of waits, of which none is too long to count.
public final class Waits {

    private Waits() {}

    /// Nanoseconds, at least 0.
    public static long nanos(Duration time) {
        try {
            return Math.max(0, TimeUnit.NANOSECONDS.convert(time));
        } catch (ArithmeticException centuries) {
            return Long.MAX_VALUE;
        }
    }

    /// A wait as the server takes it: whole seconds, rounded up.
    ///
    /// @throws IllegalArgumentException if it is negative
    public static int seconds(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("wait is negative: given=" + wait);
        }
        long nanos = nanos(wait);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(nanos) + (nanos % 1_000_000_000 == 0 ? 0 : 1);
        return (int) Math.min(seconds, Integer.MAX_VALUE);
    }

    /// One wait and then another.
    public static Duration sum(Duration wait, Duration more) {
        long sum = nanos(wait) + nanos(more);
        return Duration.ofNanos(sum < 0 ? Long.MAX_VALUE : sum);
    }
}
