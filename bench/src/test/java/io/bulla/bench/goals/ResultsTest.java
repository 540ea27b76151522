// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.bench.numbers.Quartiles;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/// What a run says of itself.
class ResultsTest {

    @Test
    @DisplayName("A run's spread is its middle case's, of cases that ran more than once")
    void spreadIsTheMiddleCases() {
        assertEquals(
                1.5,
                results(new double[] {10, 11}, new double[] {4, 6, 5}, new double[] {1, 9})
                        .spread());
        assertEquals(
                1.5,
                results(new double[] {7}, new double[] {0, 3}, new double[] {4, 6})
                        .spread());
        assertEquals(Double.NaN, results(new double[] {7}).spread());
    }

    @Test
    @DisplayName("A run whose rounds lie more than a quarter apart is not published")
    void roundsThatLieFarApartAreNotPublished() {
        assertEquals(null, results(new double[] {4, 5}).unfit());
        assertEquals(null, results(new double[] {7}).unfit());
        assertEquals(
                "rounds lie too far apart to publish: spread=1.26 most=1.25",
                results(new double[] {100, 126}).unfit());
    }

    @Test
    @DisplayName("A quarter of the windows stays below the figure")
    void figureIsTheLowerQuartile() {
        assertEquals(3, Quartiles.lower(8, 7, 6, 5, 4, 3, 2, 1));
        assertEquals(1, Quartiles.lower(3, 1, 2));
    }

    private static Results results(double[]... rounds) {
        Map<String, Results.Measured> cases = new HashMap<>();
        for (double[] each : rounds) {
            cases.put("case " + cases.size(), new Results.Measured("ns", each));
        }
        return new Results("here", cases, Map.of());
    }
}
