// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import org.jspecify.annotations.Nullable;

/// What the steps of a batch threw: a user's release or listener may throw anything, and the batch is worked through
/// all the same.
final class Thrown {

    /// A step that may throw what is unchecked.
    @FunctionalInterface
    interface Step {
        void run();
    }

    private @Nullable Throwable first;

    /// Goes a step, whatever it throws.
    void after(Step step) {
        try {
            step.run();
        } catch (RuntimeException | Error failure) {
            add(failure);
        }
    }

    /// @throws RuntimeException the first failure, or an error, with the later ones as suppressed
    void rethrow() {
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException failure) {
            throw failure;
        }
    }

    private void add(Throwable failure) {
        if (first == null) {
            first = failure;
        } else if (first != failure) {
            first.addSuppressed(failure);
        }
    }
}
