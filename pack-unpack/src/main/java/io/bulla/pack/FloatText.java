// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.text.Printable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/// Writes and reads floating-point numbers as text, as both families send them.
public enum FloatText {
    /// Six decimals, as C's `%f`: the same bytes as C, and as lossy. 1e-7 becomes 0.000000.
    STRICT {
        @Override
        String finite(double value, String shortest) {
            String text = new BigDecimal(value)
                    .setScale(6, RoundingMode.HALF_EVEN)
                    .abs()
                    .toPlainString();
            return Double.doubleToRawLongBits(value) < 0 ? "-" + text : text;
        }
    },
    /// The shortest text that reads back as the same number. C reads it exactly, for it reads with `strtod`.
    LOSSLESS {
        @Override
        String finite(double value, String shortest) {
            return shortest;
        }
    };

    /// The longest text of a `double` with six decimals, a sign and the terminating zero is 318 bytes.
    static final int MAX_BYTES = 512;

    String of(double value) {
        return text(value, Double.doubleToRawLongBits(value) < 0, Double.toString(value));
    }

    String of(float value) {
        return text(value, Float.floatToRawIntBits(value) < 0, Float.toString(value));
    }

    abstract String finite(double value, String shortest);

    private String text(double value, boolean negative, String shortest) {
        if (Double.isNaN(value)) {
            // C prints the sign bit that a NaN has, too
            return negative ? "-nan" : "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        return finite(value, shortest);
    }

    /// What C's `strtod` reads, if it reads the whole of it; a comma is taken from a peer in such a locale.
    static double parseDouble(@Nullable String text, long offset) {
        String number = checked(text, offset);
        return isSpecial(number) ? specialValue(number) : Double.parseDouble(javaText(number));
    }

    static float parseFloat(@Nullable String text, long offset) {
        String number = checked(text, offset);
        return isSpecial(number) ? (float) specialValue(number) : Float.parseFloat(javaText(number));
    }

    private static String checked(@Nullable String text, long offset) {
        if (text == null) {
            throw new UnpackException(Reason.MALFORMED, "number is a null string", "text", null, offset);
        }
        if (!isSpecial(text) && !isNumber(text)) {
            throw new UnpackException(Reason.MALFORMED, "text is not a number", "number", Printable.of(text), offset);
        }
        return text;
    }

    private static boolean isSpecial(String text) {
        int at = afterSign(text, 0);
        int length = text.length() - at;
        return length == 3 && (matches(text, at, "nan") || matches(text, at, "inf"))
                || length == 8 && matches(text, at, "infinity");
    }

    private static boolean matches(String text, int at, String lower) {
        for (int i = 0; i < lower.length(); i++) {
            if ((text.charAt(at + i) | 0x20) != lower.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /// Digits with a point or comma and an exponent, or hexadecimal ones with a point and a binary exponent. In one
    /// pass: a regular expression tries again from digit to digit, which cost milliseconds for one text.
    static boolean isNumber(CharSequence text) {
        int at = afterSign(text, 0);
        boolean hex = at + 1 < text.length() && text.charAt(at) == '0' && (text.charAt(at + 1) | 0x20) == 'x';
        int start = hex ? at + 2 : at;
        int end = afterDigits(text, start, hex);
        int digits = end - start;
        if (end < text.length() && (text.charAt(end) == '.' || text.charAt(end) == ',' && !hex)) {
            int fraction = end + 1;
            end = afterDigits(text, fraction, hex);
            digits += end - fraction;
        }
        if (digits > 0 && end < text.length() && (text.charAt(end) | 0x20) == (hex ? 'p' : 'e')) {
            int exponent = afterSign(text, end + 1);
            end = afterDigits(text, exponent, false);
            digits = end - exponent;
        }
        return digits > 0 && end == text.length();
    }

    private static int afterSign(CharSequence text, int at) {
        return at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-') ? at + 1 : at;
    }

    private static int afterDigits(CharSequence text, int at, boolean hex) {
        int end = at;
        while (end < text.length() && isDigit(text.charAt(end), hex)) {
            end++;
        }
        return end;
    }

    private static boolean isDigit(char unit, boolean hex) {
        int letter = unit | 0x20;
        return unit >= '0' && unit <= '9' || hex && letter >= 'a' && letter <= 'f';
    }

    private static double specialValue(String text) {
        boolean negative = text.startsWith("-");
        char first = text.charAt(negative || text.startsWith("+") ? 1 : 0);
        double value = first == 'n' || first == 'N' ? Double.NaN : Double.POSITIVE_INFINITY;
        return negative ? -value : value;
    }

    private static String javaText(String text) {
        boolean hex = text.indexOf('x') >= 0 || text.indexOf('X') >= 0;
        // Java wants the exponent that C may leave out
        return hex && text.indexOf('p') < 0 && text.indexOf('P') < 0 ? text + "p0" : text.replace(',', '.');
    }
}
