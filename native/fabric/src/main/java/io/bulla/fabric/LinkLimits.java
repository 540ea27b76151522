// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Limits of one end of a [FabricLink] for the other.
///
/// @param mostBytes of one buffer
/// @param mostAtOnce buffers that are on their way to this end
/// @param patience how long a buffer may take from its request to its last byte, and the longest wait for the
///     fabric when the link ends
public record LinkLimits(long mostBytes, int mostAtOnce, Duration patience) {

    /// A GiB, 16 at once, 30 seconds.
    public static final LinkLimits USUAL = new LinkLimits(1L << 30, 16, Duration.ofSeconds(30));

    /// Checks the numbers.
    ///
    /// @throws IllegalArgumentException if one of them is less than 1
    public LinkLimits {
        if (mostBytes < 1 || mostAtOnce < 1 || TimeUnit.NANOSECONDS.convert(patience) < 1) {
            throw new IllegalArgumentException("limits less than 1: mostBytes=" + mostBytes + " mostAtOnce="
                    + mostAtOnce + " patience=" + patience);
        }
    }
}
