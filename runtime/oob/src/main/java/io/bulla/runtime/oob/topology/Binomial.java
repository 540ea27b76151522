// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.util.stream.IntStream;

/// A binomial tree: with the origin at place 0, the children of place `p` are the places `p + 2^k` for every
/// `2^k` that is less than the lowest bit set in `p`, the largest subtree first. As many have a message after
/// each step as before it, twice over.
public record Binomial() implements Routing {

    @Override
    public int[] children(int rank, int origin, int size) {
        int place = Math.floorMod(rank - origin, size);
        int bits = place == 0 ? Integer.SIZE - 2 : Integer.numberOfTrailingZeros(place);
        return IntStream.iterate(bits - (place == 0 ? 0 : 1), k -> k >= 0, k -> k - 1)
                .mapToLong(k -> place + (1L << k))
                .filter(child -> child < size)
                .mapToInt(child -> (int) ((child + origin) % size))
                .toArray();
    }

    @Override
    public int parent(int rank, int origin, int size) {
        int place = Math.floorMod(rank - origin, size);
        return (int) (((long) (place & place - 1) + origin) % size);
    }
}
