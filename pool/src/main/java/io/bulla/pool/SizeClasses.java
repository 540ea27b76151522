// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

/// The sizes in which slabs are carved: four per doubling, so that less than a fifth of a region is unused.
///
/// ```
/// class:   0    1    2    3    4    5    6    7     8 ...       48
/// bytes: 256  320  384  448  512  640  768  896  1024 ... 1048576
/// ```
final class SizeClasses {

    /// Bytes of a slab, and its alignment.
    static final long SLAB = 2 << 20;

    static final int SMALLEST = 256;
    static final int LARGEST = 1 << 20;
    static final int COUNT = 49;

    private static final int STEPS_LOG = 2;
    private static final int SMALLEST_LOG = 8;

    private SizeClasses() {}

    /// The smallest class with room.
    ///
    /// @param bytes from 1 to [#LARGEST]
    static int of(long bytes) {
        if (bytes <= SMALLEST) {
            return 0;
        }
        int last = (int) bytes - 1;
        int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(last);
        int step = last >>> log - STEPS_LOG & 3;
        return (log - SMALLEST_LOG << STEPS_LOG) + step + 1;
    }

    static int bytes(int sizeClass) {
        if (sizeClass == 0) {
            return SMALLEST;
        }
        int group = sizeClass - 1 >> STEPS_LOG;
        int step = sizeClass - 1 & 3;
        return (SMALLEST << group) + (step + 1) * (SMALLEST >> STEPS_LOG << group);
    }
}
