// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Ends many things, each of them whatever another one throws.
final class Closing {

    private Closing() {}

    /// @throws RuntimeException the first failure, or an `Error`, after all; the others are suppressed
    static <T> void all(Collection<T> each, Consumer<? super T> close) {
        @Nullable Throwable first = null;
        for (T one : each) {
            try {
                close.accept(one);
            } catch (RuntimeException | Error failure) {
                if (first == null) {
                    first = failure;
                } else if (first != failure) {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException failure) {
            throw failure;
        }
    }
}
