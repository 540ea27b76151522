// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.Map;
import java.util.TreeMap;

/// A set of numbers that come mostly in order, as ranges: as large as there are holes.
final class SeenNumbers {

    // first of a range to its last; ranges neither overlap nor touch
    private final TreeMap<Long, Long> ranges = new TreeMap<>();

    boolean contains(long number) {
        Map.Entry<Long, Long> range = ranges.floorEntry(number);
        return range != null && range.getValue() >= number;
    }

    void add(long number) {
        if (contains(number)) {
            return;
        }
        long first = number;
        long last = number;
        Map.Entry<Long, Long> below = ranges.floorEntry(number);
        if (below != null && below.getValue() == number - 1) {
            first = below.getKey();
        }
        Long above = ranges.remove(number + 1);
        if (above != null) {
            last = above;
        }
        ranges.put(first, last);
    }

    int ranges() {
        return ranges.size();
    }
}
