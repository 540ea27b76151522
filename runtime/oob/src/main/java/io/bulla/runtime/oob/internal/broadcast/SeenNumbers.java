// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import java.util.Map;
import java.util.TreeMap;

/// A set of numbers that come mostly in order, as ranges: as large as there are holes, up to a bound. Beyond it what
/// is lowest is forgotten: it counts as here, since it may have been.
public final class SeenNumbers {

    /// The most ranges; of more, the lowest is forgotten.
    public static final int MOST = 4096;

    // first of a range to its last; ranges neither overlap nor touch
    private final TreeMap<Long, Long> ranges = new TreeMap<>();

    // numbers up to this are forgotten
    private long forgotten = Long.MIN_VALUE;

    public boolean contains(long number) {
        if (isForgotten(number)) {
            return true;
        }
        Map.Entry<Long, Long> range = ranges.floorEntry(number);
        return range != null && range.getValue() >= number;
    }

    public void add(long number) {
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
        if (ranges.size() > MOST) {
            forgotten = ranges.pollFirstEntry().getValue();
        }
    }

    public boolean isForgotten(long number) {
        return number <= forgotten;
    }

    public int ranges() {
        return ranges.size();
    }
}
