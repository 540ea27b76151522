// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.device;

import java.io.Serial;

/// A device, or the budget in front of it, makes no mark now. The memory is as before, and can be sent by
/// another path.
public final class RegistrationRefusedException extends Exception {

    @Serial
    private static final long serialVersionUID = 1;

    /// A refusal.
    ///
    /// @param message one line that names device, bytes and limits
    public RegistrationRefusedException(String message) {
        super(message);
    }

    /// A refusal with what the device said.
    ///
    /// @param message one line that names device, bytes and limits
    /// @param cause what the device said
    public RegistrationRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
