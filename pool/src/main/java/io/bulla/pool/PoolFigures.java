// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

/// Counters of a [SlabSource].
///
/// @param taken regions that threads took from what they had at hand
/// @param missed how often a thread had none at hand
/// @param slabs slabs of which something is carved
/// @param magazines threads that have something at hand, or had
/// @param bookedBytes bytes taken from the machine, idle ones included
/// @param idleBytes bytes of empty slabs that wait to be used again, or to be given back
/// @param cachedBytes bytes of free regions that threads have at hand: a guess while they run
/// @param liveBytes bytes of regions that are in use: exact after [SlabSource#trim()] while no thread takes or
///     gives back
/// @param quarantinedBytes bytes that are not used again, since a raw view of them was given out
public record PoolFigures(
        long taken,
        long missed,
        long slabs,
        long magazines,
        long bookedBytes,
        long idleBytes,
        long cachedBytes,
        long liveBytes,
        long quarantinedBytes) {

    /// How often a thread found what it needed at hand.
    ///
    /// @return from 0 to 1; 1 if nothing was taken
    public double hitRate() {
        return taken == 0 ? 1 : Math.max(0, 1 - (double) missed / taken);
    }
}
