// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/// The shape of a broadcast. Every node computes the same answers.
public interface Routing {

    /// Whom a node hands a broadcast on to.
    ///
    /// @param rank the node, 0 to `size - 1`
    /// @param origin the node that the broadcast started from
    /// @param size number of nodes
    /// @return ranks; following them from the origin reaches every other node exactly once
    int[] children(int rank, int origin, int size);

    /// The node that a node gets a broadcast from. By default it is looked for from the origin on, which takes
    /// as long as there are nodes.
    ///
    /// @param rank the node, not the origin
    /// @param origin the node that the broadcast started from
    /// @param size number of nodes
    /// @return the node that has `rank` among its children, or -1 if there is none
    default int parent(int rank, int origin, int size) {
        Queue<Integer> next = new ArrayDeque<>(List.of(origin));
        // a shape that is a ring is not followed for ever
        for (int seen = 0; !next.isEmpty() && seen < size; seen++) {
            int of = next.remove();
            for (int child : children(of, origin, size)) {
                if (child == rank) {
                    return of;
                }
                next.add(child);
            }
        }
        return -1;
    }
}
