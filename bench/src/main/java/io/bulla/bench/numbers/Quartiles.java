// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.numbers;

import java.util.Arrays;

/// The lower quarter of some numbers.
public final class Quartiles {

    private Quartiles() {}

    /// The least number that a quarter of them is below; of three or fewer, the least.
    public static double lower(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 4];
    }
}
