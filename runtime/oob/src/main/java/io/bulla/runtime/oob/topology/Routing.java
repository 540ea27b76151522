// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

/// The shape of a broadcast. Every node computes the same answers.
public interface Routing {

    /// Whom a node hands a broadcast on to.
    ///
    /// @param rank the node, 0 to `size - 1`
    /// @param origin the node that the broadcast started from
    /// @param size number of nodes
    /// @return ranks; following them from the origin reaches every other node exactly once
    int[] children(int rank, int origin, int size);
}
