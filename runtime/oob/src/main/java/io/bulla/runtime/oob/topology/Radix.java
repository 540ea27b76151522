// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.util.stream.IntStream;

/// A tree in which every node has up to `radix` children: with the origin at place 0, the children of place `p`
/// are places `p * radix + 1` to `p * radix + radix`.
///
/// @param radix at least 1, where 1 is a chain
public record Radix(int radix) implements Routing {

    /// Checks the radix.
    ///
    /// @throws IllegalArgumentException if it is less than 1
    public Radix {
        if (radix < 1) {
            throw new IllegalArgumentException("a radix is at least 1: radix=" + radix);
        }
    }

    @Override
    public int[] children(int rank, int origin, int size) {
        long place = Math.floorMod(rank - origin, size);
        return IntStream.rangeClosed(1, radix)
                .takeWhile(i -> place * radix + i < size)
                .map(i -> (int) ((place * radix + i + origin) % size))
                .toArray();
    }

    @Override
    public int parent(int rank, int origin, int size) {
        int place = Math.floorMod(rank - origin, size);
        return (int) (((long) (place - 1) / radix + origin) % size);
    }

    /// How far a node is from the origin.
    ///
    /// @param rank the node
    /// @param origin the node that the broadcast starts from
    /// @param size number of nodes
    /// @return 0 for the origin
    public int level(int rank, int origin, int size) {
        int level = 0;
        for (int place = Math.floorMod(rank - origin, size); place > 0; place = (place - 1) / radix) {
            level++;
        }
        return level;
    }
}
