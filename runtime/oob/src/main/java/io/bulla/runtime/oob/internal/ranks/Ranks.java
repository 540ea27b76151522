// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.ranks;

/// Ranks that a program names.
public final class Ranks {

    private Ranks() {}

    /// @return the rank
    /// @throws IllegalArgumentException if it is not one of the job's
    public static int check(int rank, int nodes) {
        if (rank < 0 || rank >= nodes) {
            throw new IllegalArgumentException("rank is not a node: rank=" + rank + " nodes=" + nodes);
        }
        return rank;
    }
}
