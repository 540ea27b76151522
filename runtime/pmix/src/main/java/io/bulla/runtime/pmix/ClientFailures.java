// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.runtime.pmix.internal.core.Failures;
import org.jspecify.annotations.Nullable;

/// The failures that a client's program sees. Any thread.
final class ClientFailures implements Failures {

    @Override
    public PmixException of(PmixStatus status, @Nullable String message, @Nullable Throwable cause) {
        return new PmixException(status, message, cause);
    }

    @Override
    public PmixException again(PmixException failure) {
        return failure.again();
    }

    @Override
    public PmixTimeoutException late(String message) {
        return new PmixTimeoutException(message);
    }

    @Override
    public PmixPartialException partial(String message) {
        return new PmixPartialException(message);
    }
}
