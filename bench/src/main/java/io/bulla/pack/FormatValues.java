// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

/// What the benchmarks of the formats pack; `c_formats.c` makes the same.
final class FormatValues {

    private static final long MULTIPLIER = 6364136223846793005L;
    private static final long INCREMENT = 1442695040888963407L;

    private FormatValues() {}

    /// So many numbers, of a kind.
    static int[] ints(String kind, int count) {
        int[] values = new int[count];
        long state = 1;
        for (int i = 0; i < count; i++) {
            state = state * MULTIPLIER + INCREMENT;
            int random = (int) (state >>> Integer.SIZE);
            values[i] = switch (kind) {
                case "small" -> i;
                case "shuffled" -> (random >>> 1) % 1000;
                case "random" -> random;
                default -> throw new IllegalArgumentException("no such values: kind=" + kind);
            };
        }
        return values;
    }

    /// So many strings of 18 characters.
    static String[] strings(int count) {
        String[] strings = new String[count];
        for (int i = 0; i < count; i++) {
            strings[i] = String.format(java.util.Locale.ROOT, "a string no. %05d", i);
        }
        return strings;
    }
}
