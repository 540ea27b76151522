// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

/// Upper bounds for what a file may announce. No memory is taken for more.
///
/// @param message longest message, in bytes
/// @param state longest state of one name, in bytes
/// @param records most records of a rank's file
public record RestoreLimits(long message, long state, int records) {

    /// 1 GiB each, and 16 Mi records.
    public static final RestoreLimits DEFAULT = new RestoreLimits(1L << 30, 1L << 30, 1 << 24);

    /// Checks the limits.
    ///
    /// @throws IllegalArgumentException if one is negative
    public RestoreLimits {
        if (message < 0 || state < 0 || records < 0) {
            throw new IllegalArgumentException(
                    "limit is negative: message=" + message + " state=" + state + " records=" + records);
        }
    }
}
