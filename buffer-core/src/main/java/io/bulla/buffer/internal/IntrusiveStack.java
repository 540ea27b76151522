// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A lock-free stack that runs through the items themselves: for items that any number of threads hand to another
/// one. So handing over allocates nothing and cannot fail: a buffer's last `close()` stands above it.
///
/// ```
/// put: top = item -> before          by any thread
/// poll, takeAll: one, or all         by any thread; an item that was polled may never be put again
/// takeInOrder: all, first put first  by any thread; in the order of each thread that put
/// ```
///
/// @param <T> an item, in one such stack at a time
public final class IntrusiveStack<T> {

    // volatile: what was done with an item before it was put is before what its taker does
    private final AtomicReference<@Nullable T> top = new AtomicReference<>();
    private final Function<T, @Nullable T> next;
    private final BiConsumer<T, @Nullable T> link;

    /// An empty one.
    ///
    /// @param next what an item is linked to
    /// @param link links an item to another one, or to none
    public IntrusiveStack(Function<T, @Nullable T> next, BiConsumer<T, @Nullable T> link) {
        this.next = next;
        this.link = link;
    }

    /// Puts an item on top.
    ///
    /// @param item in no stack
    /// @return true if there was none: a taker that sleeps has to be woken
    public boolean put(T item) {
        @Nullable T before;
        do {
            // volatile: a guess that the step below confirms
            before = top.get();
            link.accept(item, before);
            // volatile: what was done with the item before is seen by its taker
        } while (!top.compareAndSet(before, item));
        return before == null;
    }

    /// Looks whether there is an item.
    ///
    /// @return true if there was none at the moment of the look
    public boolean isEmpty() {
        // volatile: behind a volatile write of the caller, so that a put which misses that write is seen here
        return top.get() == null;
    }

    /// Takes the item on top.
    ///
    /// @return `null` if there is none
    public @Nullable T poll() {
        @Nullable T first;
        do {
            // volatile: a guess that the step below confirms
            first = top.get();
            if (first == null) {
                return null;
            }
            // volatile: what was done with the item before it was put is seen; if another thread takes it in between,
            // it is on top never again, and the step fails
        } while (!top.compareAndSet(first, next.apply(first)));
        link.accept(first, null);
        return first;
    }

    /// Takes all items.
    ///
    /// @return the one that was put last, linked to those before it; `null` if there is none
    public @Nullable T takeAll() {
        // volatile: as in poll, of all items
        return top.getAndSet(null);
    }

    /// Takes all items.
    ///
    /// @return the one that was put first, linked to those after it; `null` if there is none
    public @Nullable T takeInOrder() {
        T item = takeAll();
        T first = null;
        while (item != null) {
            T before = next.apply(item);
            link.accept(item, first);
            first = item;
            item = before;
        }
        return first;
    }
}
