// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench;

/// A measured number in three digits, in the unit that a person reads: µs and ms, KiB and MiB.
final class Units {

    private static final double KIBI = 1 << 10;
    private static final double THOUSAND = 1e3;

    private Units() {}

    static String human(double number, String unit) {
        if (Double.isNaN(number)) {
            return "-";
        }
        return switch (unit) {
            case "ns" -> scaled(number, THOUSAND, "ns", "µs", "ms", "s");
            case "us" -> scaled(number, THOUSAND, "µs", "ms", "s");
            case "ms" ->
                number < 1 ? scaled(number * THOUSAND, THOUSAND, "µs", "ms") : scaled(number, THOUSAND, "ms", "s");
            case "bytes" -> scaled(number, KIBI, "B", "KiB", "MiB", "GiB");
            default -> Scoreboard.rounded(number) + " " + unit;
        };
    }

    private static String scaled(double number, double step, String... units) {
        double left = number;
        int unit = 0;
        while (left >= step && unit < units.length - 1) {
            left /= step;
            unit++;
        }
        return Scoreboard.rounded(left) + " " + units[unit];
    }
}
