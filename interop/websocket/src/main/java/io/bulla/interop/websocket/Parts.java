// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Handles that are needed until something was made of them.
final class Parts {

    private Parts() {}

    /// Closes all, whatever happens. If that fails, what was made is closed, too: its caller does not get it.
    static <T extends AutoCloseable> T into(List<SealedBuffer> parts, Supplier<T> maker) {
        @Nullable T made = null;
        @Nullable Throwable failure = null;
        try {
            made = maker.get();
        } catch (Throwable why) {
            failure = why;
        }
        failure = Failures.closeAll(parts, failure);
        if (made != null && failure != null) {
            failure = Failures.close(made, failure);
        }
        // suppliers and handles declare no checked exception
        Failures.rethrow(failure);
        return Objects.requireNonNull(made, "made");
    }
}
