// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.topology;

import java.util.stream.IntStream;

/// No tree: the origin sends to every other node.
public record Star() implements Routing {

    @Override
    public int[] children(int rank, int origin, int size) {
        return rank != origin
                ? new int[0]
                : IntStream.range(1, size)
                        .map(place -> (int) (((long) place + origin) % size))
                        .toArray();
    }

    @Override
    public int parent(int rank, int origin, int size) {
        return origin;
    }
}
