// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.internal;

import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Closes all values of a map that is walked through without an iterator, as a `HashMap` is. Made beforehand, for
/// there may be no heap then. Guarded by its owner.
public final class Closing implements BiConsumer<Object, AutoCloseable> {

    private @Nullable Throwable failure;

    /// For one owner.
    public Closing() {
        // nothing to be set
    }

    /// Closes each value, whatever another one throws. They stay in the map.
    ///
    /// @param all what is closed
    /// @param before what failed before them, or `null`
    /// @return the first failure, with the others behind it
    public @Nullable Throwable closeAll(Map<?, ? extends AutoCloseable> all, @Nullable Throwable before) {
        failure = before;
        all.forEach(this);
        return failure;
    }

    @Override
    public void accept(Object key, AutoCloseable one) {
        failure = Failures.close(one, failure);
    }
}
