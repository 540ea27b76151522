// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

/// Bytes are not the text that was asked for. It has no stack trace: its catcher knows where.
public final class MalformedTextException extends Exception {

    private static final long serialVersionUID = 1;

    /// What should stand there.
    private final transient Object expected;
    /// What stands there.
    private final transient Object found;

    MalformedTextException(String what, Object expected, Object found) {
        super(what, null, false, false);
        this.expected = expected;
        this.found = found;
    }

    /// What should stand there.
    ///
    /// @return a number or words
    public Object expected() {
        return expected;
    }

    /// What stands there.
    ///
    /// @return a number or words
    public Object found() {
        return found;
    }
}
