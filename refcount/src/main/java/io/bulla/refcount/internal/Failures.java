// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.internal;

import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedList;
import java.util.List;
import java.util.RandomAccess;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The first failure of several steps that are all taken, whatever the others throw; the later ones stand behind it.
public final class Failures {

    static {
        rehearse();
    }

    private Failures() {}

    /// Loads this class, and what it refers to: where it is needed first, there may be no heap left for that, and
    /// what was to be given back would be lost.
    public static void load() {
        // being called is enough
    }

    /// Takes each way once. A class is looked up by name when a line that names it first runs, a `catch` or an
    /// `instanceof` too, and the loader takes heap for that.
    private static void rehearse() {
        try {
            Stubborn stubborn = new Stubborn();
            Throwable first = closeAll(new ArrayList<>(List.of(stubborn)), null);
            first = closeAll(new LinkedList<>(List.of(stubborn)), first);
            rethrow(closeAll(Set.of(stubborn), first));
        } catch (Throwable known) {
            // Stubborn's; or there is no heap, no stack: that must not break the class for good
        }
    }

    private static final class Stubborn implements AutoCloseable {

        @Override
        public void close() {
            throw new IllegalStateException("rehearsed");
        }
    }

    /// Joins two failures.
    ///
    /// @param first or `null`
    /// @param next what came after it
    /// @return the first one, with `next` behind it if there is memory for that
    public static Throwable join(@Nullable Throwable first, Throwable next) {
        if (first == null) {
            return next;
        }
        try {
            if (first != next) {
                first.addSuppressed(next);
            }
        } catch (OutOfMemoryError e) {
            // the first one is what the caller has to know
        }
        return first;
    }

    /// Closes one of several things.
    ///
    /// @param each what is closed
    /// @param before what failed before it, or `null`
    /// @return the first failure, with what this close throws
    public static @Nullable Throwable close(AutoCloseable each, @Nullable Throwable before) {
        try {
            each.close();
            return before;
        } catch (Throwable failure) {
            return join(before, failure);
        }
    }

    /// Closes several things, each of them whatever another one throws. Of a list that is read by index, or a deque,
    /// it takes no heap, not even an iterator.
    ///
    /// @param all what is closed; a deque is empty afterwards
    /// @param before what failed before them, or `null`
    /// @return the first failure, with the others behind it
    public static @Nullable Throwable closeAll(Iterable<? extends AutoCloseable> all, @Nullable Throwable before) {
        @Nullable Throwable joined = before;
        if (all instanceof Deque<? extends AutoCloseable> deque) {
            for (AutoCloseable each = deque.pollFirst(); each != null; each = deque.pollFirst()) {
                joined = close(each, joined);
            }
        } else if (all instanceof List<? extends AutoCloseable> list && all instanceof RandomAccess) {
            for (int i = 0; i < list.size(); i++) {
                joined = close(list.get(i), joined);
            }
        } else {
            try {
                for (AutoCloseable each : all) {
                    joined = close(each, joined);
                }
            } catch (Throwable failure) {
                // no heap for an iterator, or it is one of a caller's own
                joined = join(joined, failure);
            }
        }
        return joined;
    }

    /// Throws what was joined, if there was a failure.
    ///
    /// @param failure of steps that declare no checked exception
    public static void rethrow(@Nullable Throwable failure) {
        if (failure != null) {
            throw Failures.<RuntimeException>unchecked(failure);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }
}
