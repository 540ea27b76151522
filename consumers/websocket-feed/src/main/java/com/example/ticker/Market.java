// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.util.SplittableRandom;

/**
 * Instruments whose prices walk at random. An update has whole quotes of a fifth of them, in turn: who misses some is
 * right again after five more.
 */
final class Market {

    private static final int INSTRUMENTS = 1000;
    private static final int AT_ONCE = 200;
    // of a step, relative to the price
    private static final double STEP = 0.0012;

    private final SplittableRandom random = new SplittableRandom(20);
    private final double[] cents = new double[INSTRUMENTS];
    private final long[] volumes = new long[INSTRUMENTS];
    private final StringBuilder text = new StringBuilder();
    private long number;

    Market() {
        for (int i = 0; i < INSTRUMENTS; i++) {
            cents[i] = 2_000 + random.nextInt(38_000);
        }
    }

    /** The next one, as JSON: its number, when it was made, the first instrument, cents and volume of each. */
    String update(long atMillis) {
        int first = (int) (number * AT_ONCE % INSTRUMENTS);
        number++;
        text.setLength(0);
        text.append("{\"n\":").append(number).append(",\"at\":").append(atMillis).append(",\"first\":").append(first);
        text.append(",\"quotes\":[");
        for (int i = first; i < first + AT_ONCE; i++) {
            cents[i] = Math.max(100, cents[i] * (1 + STEP * random.nextGaussian()));
            volumes[i] += random.nextInt(90);
            text.append(i == first ? "[" : ",[").append(Math.round(cents[i]));
            text.append(',').append(volumes[i]).append(']');
        }
        return text.append("]}").toString();
    }
}
