// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.runtime.oob.internal.flow.Allowance;
import io.bulla.runtime.oob.topology.Routing;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/// A [Routing] with its answers checked: it is the user's code.
record BroadcastTree(Routing routing, int size) {

    /// @throws IllegalStateException if one is no node, or the node itself
    int[] children(int rank, int origin) {
        int[] children = routing.children(rank, origin, size);
        for (int child : children) {
            if (child < 0 || child >= size || child == rank) {
                throw new IllegalStateException("routing names a child that cannot be: child=" + child + " rank=" + rank
                        + " origin=" + origin + " nodes=" + size);
            }
        }
        return children;
    }

    /// Steps from the origin down to a node.
    ///
    /// @throws IllegalStateException if it is not reached
    int level(int rank, int origin) {
        int level = 0;
        for (int at = rank; at != origin; at = routing.parent(at, origin, size)) {
            if (at < 0 || ++level >= size) {
                throw new IllegalStateException(
                        "routing does not reach a node: rank=" + rank + " origin=" + origin + " nodes=" + size);
            }
        }
        return level;
    }

    /// The class of credit of what is sent to a node: see [Allowance].
    int depth(int rank, int origin) {
        return Math.min(level(rank, origin), Allowance.CLASSES) - 1;
    }

    /// Whether a node is below another one.
    boolean isBelow(int rank, int top, int origin) {
        int at = rank;
        for (int step = 0; step < size && at >= 0 && at != origin; step++) {
            at = routing.parent(at, origin, size);
            if (at == top) {
                return true;
            }
        }
        return false;
    }

    /// How many nodes are below one, with itself.
    int below(int top, int origin) {
        Queue<Integer> next = new ArrayDeque<>(List.of(top));
        int count = 0;
        // a shape that is a ring is not followed for ever
        while (!next.isEmpty() && count < size) {
            count++;
            for (int child : children(next.remove(), origin)) {
                next.add(child);
            }
        }
        return count;
    }
}
