// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.numbers;

import java.math.BigDecimal;
import java.math.MathContext;

/// A measured number in three digits, in the unit that a person reads: µs and ms, KiB and MiB.
public final class Units {

    private static final int DIGITS = 3;
    private static final double KIBI = 1 << 10;
    private static final double THOUSAND = 1e3;

    private Units() {}

    public static String human(double number, String unit) {
        if (Double.isNaN(number)) {
            return "-";
        }
        return switch (unit) {
            case "ns" -> scaled(number, THOUSAND, "ns", "µs", "ms", "s");
            case "us" -> scaled(number, THOUSAND, "µs", "ms", "s");
            case "ms" ->
                number < 1 ? scaled(number * THOUSAND, THOUSAND, "µs", "ms") : scaled(number, THOUSAND, "ms", "s");
            case "bytes" -> scaled(number, KIBI, "B", "KiB", "MiB", "GiB");
            default -> rounded(number) + " " + unit;
        };
    }

    private static String scaled(double number, double step, String... units) {
        double left = number;
        int unit = 0;
        while (left >= step && unit < units.length - 1) {
            left /= step;
            unit++;
        }
        return rounded(left) + " " + units[unit];
    }

    /// A number in three digits.
    public static String rounded(double number) {
        if (Double.isNaN(number)) {
            return "-";
        }
        return new BigDecimal(number)
                .round(new MathContext(DIGITS))
                .stripTrailingZeros()
                .toPlainString();
    }

    /// A place on an axis: sizes by their binary units.
    public static String place(double place) {
        long whole = (long) place;
        if (whole >= 1 << 20 && whole % (1 << 20) == 0) {
            return (whole >> 20) + " Mi";
        }
        return whole >= 1 << 10 && whole % (1 << 10) == 0 ? (whole >> 10) + " Ki" : Long.toString(whole);
    }
}
