// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;

/// A message was not queued, because what is on its way already has reached a bound.
public final class QueueFullException extends IOException {

    private static final long serialVersionUID = 1;

    QueueFullException(String message) {
        super(message);
    }
}
