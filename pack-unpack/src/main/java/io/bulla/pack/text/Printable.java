// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

/// Text for a person to read.
public final class Printable {

    private static final int MOST_SHOWN = 60;

    private Printable() {}

    /// Text on one line of any terminal: what could steer it is escaped, and the rest of long text cut.
    ///
    /// @param text any
    /// @return at most the first characters of it
    public static String of(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints().limit(MOST_SHOWN).forEach(point -> {
            if (point == '"' || point == '\\') {
                shown.append('\\').appendCodePoint(point);
            } else if (Utf8.isEscaped(point)) {
                shown.append(String.format("\\x%02x", Utf8.escapedByte(point)));
            } else if (Character.isISOControl(point)
                    || Character.getType(point) == Character.FORMAT
                    || !Character.isDefined(point)) {
                shown.append(String.format("\\u{%x}", point));
            } else {
                shown.appendCodePoint(point);
            }
        });
        return shown.toString();
    }

    /// Whether [#of] cuts.
    ///
    /// @param codePoints how long a text is, in code points
    /// @return whether some of them are not shown
    public static boolean isLong(int codePoints) {
        return codePoints > MOST_SHOWN;
    }
}
