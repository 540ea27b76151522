// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import org.jspecify.annotations.Nullable;

/// Several steps that are all taken, whatever one of them throws: the first failure is told, the later ones stand
/// behind it.
final class Closing {

    private Closing() {}

    static @Nullable Throwable close(SealedBuffer handle, @Nullable Throwable failure) {
        try {
            handle.close();
            return failure;
        } catch (Throwable another) {
            return joined(failure, another);
        }
    }

    static @Nullable Throwable closeAll(Iterable<SealedBuffer> handles, @Nullable Throwable failure) {
        @Nullable Throwable joined = failure;
        for (SealedBuffer handle : handles) {
            joined = close(handle, joined);
        }
        return joined;
    }

    static Throwable joined(@Nullable Throwable first, Throwable another) {
        if (first == null || first == another) {
            return another;
        }
        try {
            first.addSuppressed(another);
        } catch (OutOfMemoryError noHeap) {
            // the first one is what the caller has to know
        }
        return first;
    }

    /// @param failure of steps that declare no checked exception, or `null`
    static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
