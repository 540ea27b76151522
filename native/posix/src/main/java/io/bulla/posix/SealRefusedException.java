// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import java.io.IOException;

/// What another process handed over is not what it should be, and was let go of. Nothing of it is mapped or open.
public final class SealRefusedException extends IOException {

    private static final long serialVersionUID = 1;

    /// A refusal.
    ///
    /// @param message what is wrong, with the values that tell it
    public SealRefusedException(String message) {
        super(message);
    }
}
