// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import java.util.List;
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
        for (SealedBuffer each : parts) {
            failure = closed(each, failure);
        }
        if (made != null && failure == null) {
            return made;
        }
        if (made != null) {
            failure = closed(made, failure);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        // suppliers and handles throw nothing else
        throw (RuntimeException) failure;
    }

    /// @return the first failure, the others with it
    private static @Nullable Throwable closed(AutoCloseable handle, @Nullable Throwable before) {
        try {
            handle.close();
            return before;
        } catch (Throwable why) {
            if (before == null || before == why) {
                return why;
            }
            before.addSuppressed(why);
            return before;
        }
    }
}
