// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.core;

import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixPartialException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixTimeoutException;
import org.jspecify.annotations.Nullable;

/// Makes the failures that a program sees, whose constructors are no part of the API. Any thread.
public interface Failures {

    PmixException of(PmixStatus status, @Nullable String message, @Nullable Throwable cause);

    default PmixException of(PmixStatus status, @Nullable String message) {
        return of(status, message, null);
    }

    /// The same failure, for another caller: a stack trace of its own.
    PmixException again(PmixException failure);

    PmixTimeoutException late(String message);

    PmixPartialException partial(String message);
}
