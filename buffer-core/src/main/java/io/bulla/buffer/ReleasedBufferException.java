// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import org.jspecify.annotations.Nullable;

/// A buffer was used through a handle that is closed already. The cause, if there is one, is where it was closed.
public final class ReleasedBufferException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    ReleasedBufferException(String message, @Nullable Throwable closedBy) {
        super(message, closedBy);
    }
}
