// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.numbers;

import java.util.Arrays;

/// The middle of some numbers.
public final class Medians {

    private Medians() {}

    /// Of an even number, the mean of the two in the middle.
    public static double of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
