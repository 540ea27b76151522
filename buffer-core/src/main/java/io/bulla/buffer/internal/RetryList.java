// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Entries with which something failed that is to be tried again, as the close of an arena that a system call holds.
/// Any thread puts them; one thread tries them, soon at first, then less and less often.
///
/// @param <T> the entries, on no other stack
public final class RetryList<T> {

    static final long FIRST_NANOS = 5_000_000;

    private final LongSupplier clock;
    private final IntrusiveStack<T> fresh;
    // the rest belongs to the thread that tries them
    private final RetryPause pause;
    private @Nullable T retrying;

    /// No entries.
    ///
    /// @param links an empty stack, this list's from now on: how entries are linked
    /// @param clock in nanoseconds
    /// @param longest pause between two tries, in nanoseconds
    public RetryList(IntrusiveStack<T> links, LongSupplier clock, long longest) {
        this.fresh = links;
        this.clock = clock;
        this.pause = new RetryPause(FIRST_NANOS, longest);
    }

    /// Lock-free, and cannot fail.
    ///
    /// @param entry to be tried
    public void put(T entry) {
        fresh.put(entry);
    }

    /// The thread's.
    ///
    /// @return whether nothing is to be tried
    public boolean isEmpty() {
        return retrying == null && fresh.isEmpty();
    }

    /// How long the thread may wait until it tries again.
    ///
    /// @return nanoseconds
    public long pauseNanos() {
        return pause.nanos();
    }

    /// Tries them all, if it is time to. What a try throws goes to the caller, and no entry is lost by it.
    ///
    /// @param tries one, and tells whether it is done with
    public void retry(Predicate<? super T> tries) {
        if (takeFresh()) {
            pause.restart();
        }
        if (retrying != null && pause.isOver(clock.getAsLong())) {
            boolean some = tryAll(tries);
            pause.tried(clock.getAsLong(), some);
        }
    }

    private boolean takeFresh() {
        T newest = fresh.takeAll();
        for (T one = newest; one != null; ) {
            T next = fresh.next(one);
            fresh.link(one, retrying);
            retrying = one;
            one = next;
        }
        return newest != null;
    }

    private boolean tryAll(Predicate<? super T> tries) {
        boolean some = false;
        T before = null;
        for (T one = retrying; one != null; ) {
            // read first: an entry that is done with is another's
            T next = fresh.next(one);
            if (!tries.test(one)) {
                before = one;
            } else {
                some = true;
                if (before == null) {
                    retrying = next;
                } else {
                    fresh.link(before, next);
                }
            }
            one = next;
        }
        return some;
    }
}
