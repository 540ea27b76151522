// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

/// Text that C keeps in an array of a fixed size.
public final class FixedField {

    private FixedField() {}

    /// Refuses text that a C struct has no room for.
    ///
    /// @param what names it
    /// @param text any
    /// @param maxBytes the most that C keeps, without the zero byte behind it
    /// @return the text
    /// @throws IllegalArgumentException if it is null, longer, or no text for C
    public static String checked(String what, String text, int maxBytes) {
        if (text == null) {
            throw new IllegalArgumentException(what + " is null");
        }
        int size = Utf8.byteSize(text, true);
        if (size > maxBytes) {
            throw new IllegalArgumentException(
                    what + " too long, C would cut it: byteSize=" + size + " max=" + maxBytes);
        }
        return text;
    }
}
