// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What was handed to a source's thread: a lock-free stack that runs through the items themselves. So handing over
/// allocates nothing and cannot fail: a buffer's last `close()` stands above it.
///
/// ```
/// put: top = item -> before          by any thread
/// poll, takeAll: one, or all         by any thread; an item that was polled may never be put again
/// ```
final class Waiting<T extends Waiting.Item<T>> {

    /// Something that is in one such stack at a time.
    interface Item<T> {

        @Nullable
        T next();

        void next(@Nullable T item);
    }

    // volatile: what was done with an item before it was put is before what its taker does
    private final AtomicReference<@Nullable T> top = new AtomicReference<>();

    void put(T item) {
        @Nullable T before;
        do {
            // volatile: a guess that the step below confirms
            before = top.get();
            item.next(before);
            // volatile: what was done with the item before is seen by its taker
        } while (!top.compareAndSet(before, item));
    }

    /// @return null if there is none
    @Nullable
    T poll() {
        @Nullable T first;
        do {
            // volatile: a guess that the step below confirms
            first = top.get();
            if (first == null) {
                return null;
            }
            // volatile: what was done with the item before it was put is seen; if another thread takes it in between,
            // it
            // is on top never again, and the step fails
        } while (!top.compareAndSet(first, first.next()));
        first.next(null);
        return first;
    }

    /// All items, the one that was put last first.
    ///
    /// @return null if there is none
    @Nullable
    T takeAll() {
        // volatile: as in poll, of all items
        return top.getAndSet(null);
    }
}
