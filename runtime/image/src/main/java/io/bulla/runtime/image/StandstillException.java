// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import java.io.IOException;
import java.io.Serial;

/// A process cannot stand still, or not all of it goes on; the message names the nodes and the reasons.
public final class StandstillException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    /// @param message one line
    /// @param cause the first of the failures
    StandstillException(String message, Throwable cause) {
        super(message, cause);
    }
}
