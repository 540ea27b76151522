// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A lock-free stack that runs through the items themselves: for items that any number of threads hand to another
/// one. So handing over allocates nothing and cannot fail: a buffer's last `close()` stands above it.
///
/// ```
/// put: top = item -> before          by any thread; several, linked already, in one step
/// poll, takeAll: one, or all         by any thread; an item that was polled may never be put again
/// takeInOrder: all, first put first  by any thread; in the order of each thread that put
/// ```
///
/// Each kind of item has a subclass that is final, and the type of the field that holds it: so the calls of its two
/// methods are direct ones, whatever other kinds there are.
///
/// @param <T> an item, in one such stack at a time
public abstract class IntrusiveStack<T> {

    // volatile: what was done with an item before it was put is before what its taker does
    private final AtomicReference<@Nullable T> top = new AtomicReference<>();

    /// An empty one.
    protected IntrusiveStack() {
        // as it is
    }

    /// What an item is linked to.
    ///
    /// @param item of this stack
    /// @return `null` if it is linked to none
    protected abstract @Nullable T next(T item);

    /// Links an item to another one.
    ///
    /// @param item of this stack, or to be put
    /// @param next `null` links it to none
    protected abstract void link(T item, @Nullable T next);

    /// Puts an item on top.
    ///
    /// @param item in no stack
    /// @return true if there was none: a taker that sleeps has to be woken
    public final boolean put(T item) {
        return putAll(item, item);
    }

    /// Puts items on top that are linked to one another, in one step.
    ///
    /// @param newest in no stack, and linked to those before it
    /// @param oldest the last of them
    /// @return true if there was none: a taker that sleeps has to be woken
    public final boolean putAll(T newest, T oldest) {
        @Nullable T before;
        do {
            // volatile: a guess that the step below confirms
            before = top.get();
            link(oldest, before);
            // volatile: what was done with the items before is seen by their taker
        } while (!top.compareAndSet(before, newest));
        return before == null;
    }

    /// Looks whether there is an item.
    ///
    /// @return true if there was none at the moment of the look
    public final boolean isEmpty() {
        // volatile: behind a volatile write of the caller, so that a put which misses that write is seen here
        return top.get() == null;
    }

    /// Takes the item on top.
    ///
    /// @return `null` if there is none
    public final @Nullable T poll() {
        @Nullable T first;
        do {
            // volatile: a guess that the step below confirms
            first = top.get();
            if (first == null) {
                return null;
            }
            // volatile: what was done with the item before it was put is seen; if another thread takes it in between,
            // it is on top never again, and the step fails
        } while (!top.compareAndSet(first, next(first)));
        link(first, null);
        return first;
    }

    /// Takes all items.
    ///
    /// @return the one that was put last, linked to those before it; `null` if there is none
    public final @Nullable T takeAll() {
        // volatile: as in poll, of all items
        return top.getAndSet(null);
    }

    /// Takes all items.
    ///
    /// @return the one that was put first, linked to those after it; `null` if there is none
    public final @Nullable T takeInOrder() {
        T item = takeAll();
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
