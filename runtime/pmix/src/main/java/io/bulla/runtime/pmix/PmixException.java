// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A call failed: the server said so, or this client did.
///
/// The message has the form `what is wrong: name=value name=value`.
public class PmixException extends IOException {

    private static final long serialVersionUID = 1;

    /// The status, as a number.
    private final int code;

    PmixException(PmixStatus status, @Nullable String message) {
        this(status, message, null);
    }

    PmixException(PmixStatus status, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = status.code();
    }

    /// The server's status, or the one that fits what this client saw.
    ///
    /// @return never success
    public PmixStatus status() {
        return new PmixStatus(code);
    }

    /// The same failure, for another caller: a stack trace of one's own.
    PmixException again() {
        return new PmixException(status(), getMessage(), this);
    }
}
