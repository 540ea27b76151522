// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

/// Bytes are not the text that was asked for. It has no stack trace: its catcher knows where.
public final class MalformedTextException extends Exception {

    private static final long serialVersionUID = 1;

    /// The expected text.
    private final transient Object expected;
    /// The text that stands there.
    private final transient Object found;

    MalformedTextException(String what, Object expected, Object found) {
        super(what, null, false, false);
        this.expected = expected;
        this.found = found;
    }

    /// The expected text.
    ///
    /// @return a number or words
    public Object expected() {
        return expected;
    }

    /// The text that stands there.
    ///
    /// @return a number or words
    public Object found() {
        return found;
    }
}
