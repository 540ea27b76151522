// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

/// The server did not answer before this client's deadline. What was asked for may still happen; an answer that
/// comes later is dropped.
public final class PmixTimeoutException extends PmixException {

    private static final long serialVersionUID = 1;

    PmixTimeoutException(String message) {
        super(PmixStatus.TIMEOUT, message);
    }
}
