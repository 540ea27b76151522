// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import java.io.IOException;
import java.io.Serial;

/// libfabric refused, or is not here.
public final class FabricException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    private final int number;

    /// A failure.
    ///
    /// @param call name of the function
    /// @param number libfabric's error number, positive; 0 if it has none
    /// @param what values that tell which call it was, as `name=value`
    public FabricException(String call, int number, String what) {
        super(call + ": error=" + number + (what.isEmpty() ? "" : " " + what));
        this.number = number;
    }

    /// libfabric's number. Providers do not agree on what it means.
    ///
    /// @return positive, or 0 if it has none
    public int number() {
        return number;
    }
}
