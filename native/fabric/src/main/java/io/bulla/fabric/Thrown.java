// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.refcount.internal.Failures;
import org.jspecify.annotations.Nullable;

/// What the steps of a batch threw: a user's release or listener may throw anything, and the batch is worked through
/// all the same.
final class Thrown {

    private @Nullable Throwable first;

    /// Goes a step, whatever it throws.
    void after(Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            first = Failures.join(first, failure);
        }
    }

    /// Throws the first failure, if there was one, with the later ones as suppressed.
    void rethrow() {
        Failures.rethrow(first);
    }
}
