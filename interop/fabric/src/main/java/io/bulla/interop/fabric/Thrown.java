// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

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
            if (first == null) {
                first = failure;
            } else if (first != failure) {
                first.addSuppressed(failure);
            }
        }
    }

    /// Throws the first failure, if there was one, with the later ones as suppressed.
    void rethrow() {
        if (first != null) {
            throw Thrown.<RuntimeException>unchecked(first);
        }
    }

    // what steps without checked exceptions threw
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }
}
