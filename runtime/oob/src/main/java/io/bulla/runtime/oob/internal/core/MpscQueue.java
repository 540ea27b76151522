// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Hands items over from any number of threads to one, in order for each of them, without an object per item: the
/// items are linked through themselves. Who hands over to an empty one wakes the taker up.
///
/// Ordering: an item is linked plainly before the exchange that shows it, and the taker's exchange, which reads
/// that one, happens after.
public abstract class MpscQueue<T> {

    private final AtomicReference<@Nullable T> last = new AtomicReference<>();

    /// What was linked to an item; `null` if nothing was.
    public abstract @Nullable T next(T item);

    /// Links `next` to an item.
    public abstract void link(T item, @Nullable T next);

    /// Hands one over.
    ///
    /// @return true if there was none: the taker has to be woken up
    public final boolean put(T item) {
        while (true) {
            // volatile: a guess that the exchange confirms
            T before = last.get();
            link(item, before);
            // volatile: shows the item with its link
            if (last.compareAndSet(before, item)) {
                return before == null;
            }
        }
    }

    /// Takes all.
    ///
    /// @return the first of them, linked to the next one and so on; `null` if there are none
    public final @Nullable T takeAll() {
        // volatile: the links of all items are seen
        T item = last.getAndSet(null);
        T first = null;
        while (item != null) {
            T before = next(item);
            link(item, first);
            first = item;
            item = before;
        }
        return first;
    }
}
