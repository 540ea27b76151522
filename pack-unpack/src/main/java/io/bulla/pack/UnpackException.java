// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.text.MalformedTextException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The bytes are not what the reader asked for. The reader is where it was.
///
/// The message has the form `what is wrong: expected=… found=… offset=…`.
public final class UnpackException extends RuntimeException {

    private static final long serialVersionUID = 2;

    /// Why.
    public enum Reason {
        /// The next item is of another type.
        WRONG_TYPE,
        /// The bytes end before the value does.
        TRUNCATED,
        /// The bytes announce more than the reader's [Limits], or its array, allow.
        LIMIT,
        /// The value was sent in a wider type and does not fit into the one it is read as.
        NARROWING,
        /// No writer of the format makes such bytes.
        MALFORMED
    }

    /// The kind of fault.
    private final Reason reason;
    /// The expected bytes.
    private final String expected;
    /// The bytes that stand there.
    private final String found;
    /// Where, in bytes.
    private final long offset;

    UnpackException(Reason reason, String what, @Nullable Object expected, @Nullable Object found, long offset) {
        super(what + ": expected=" + expected + " found=" + found + " offset=" + offset);
        this.reason = reason;
        this.expected = Objects.toString(expected);
        this.found = Objects.toString(found);
        this.offset = offset;
    }

    UnpackException(MalformedTextException text, long offset) {
        this(Reason.MALFORMED, String.valueOf(text.getMessage()), text.expected(), text.found(), offset);
    }

    /// The same, with the name of what was reading.
    UnpackException(UnpackException failure, String reader) {
        super(failure.getMessage() + reader, failure);
        this.reason = failure.reason;
        this.expected = failure.expected;
        this.found = failure.found;
        this.offset = failure.offset;
    }

    /// Why the bytes were refused.
    ///
    /// @return the kind of trouble
    public Reason reason() {
        return reason;
    }

    /// What the reader asked for: a type, a number of bytes, a range.
    ///
    /// @return as in the message
    public String expected() {
        return expected;
    }

    /// What the bytes say.
    ///
    /// @return as in the message
    public String found() {
        return found;
    }

    /// Where.
    ///
    /// @return in bytes from the start of the buffer
    public long offset() {
        return offset;
    }
}
