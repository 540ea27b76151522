// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import org.jspecify.annotations.Nullable;

/// What a user's release or listener threw while a batch was worked through: the batch goes on, and its caller gets
/// the first failure at the end, with the others suppressed. One thread's.
public final class FirstFailure {

    private @Nullable Throwable first;

    /// Keeps a failure; cannot fail itself.
    ///
    /// @param failure unchecked
    public void add(Throwable failure) {
        Throwable before = first;
        if (before == null) {
            first = failure;
            return;
        }
        try {
            if (before != failure) {
                before.addSuppressed(failure);
            }
        } catch (OutOfMemoryError noRoom) {
            // the first one is what the caller has to know
        }
    }

    /// Throws what was kept, if anything was, and forgets it.
    public void rethrow() {
        Throwable failure = first;
        first = null;
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failure != null) {
            throw new IllegalStateException(failure);
        }
    }
}
