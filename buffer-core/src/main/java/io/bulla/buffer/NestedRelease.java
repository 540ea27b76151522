// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.refcount.internal.Failures;
import org.jspecify.annotations.Nullable;

/// A resource whose end may end others, and theirs others again, however deep: a concatenation of concatenations,
/// memory that was adopted with another handle's `close` as its `onRelease`.
///
/// ```
/// free --within fewer than 64 others' ends of this thread--> giveBack now, on the stack
///      --deeper--> kept in a list, for the outermost one, which gives them back one after the other
/// ```
///
/// So the stack does not grow with the depth, and what is given back at a usual depth is given back before `close()`
/// returns. The list runs through the resources themselves: keeping one cannot fail.
abstract class NestedRelease extends RefCount {

    private static final int ON_THE_STACK = 64;
    private static final ThreadLocal<Ending> ENDING = new ThreadLocal<>();

    /// The releases that one thread is in.
    private static final class Ending {
        private int depth;
        private @Nullable NestedRelease first;
        private @Nullable NestedRelease last;

        void later(NestedRelease one) {
            if (last == null) {
                first = one;
            } else {
                last.next = one;
            }
            last = one;
        }

        @Nullable
        NestedRelease poll() {
            NestedRelease one = first;
            if (one != null) {
                first = one.next;
                last = first == null ? null : last;
                one.next = null;
            }
            return one;
        }
    }

    // the thread's that ends it
    private @Nullable NestedRelease next;

    NestedRelease(@Nullable LeaseTrace trace) {
        super(trace);
    }

    @Override
    protected final boolean heldByLeasesOnly() {
        return true;
    }

    /// Gives back what this resource stands for.
    abstract void giveBack();

    @Override
    public final void free() {
        Ending outer = outer();
        if (outer == null) {
            freeOutermost();
        } else if (outer.depth >= ON_THE_STACK) {
            outer.later(this);
        } else {
            outer.depth++;
            try {
                giveBack();
            } finally {
                outer.depth--;
            }
        }
    }

    /// Null if there is none. A thread that has none takes memory to say so, and may have none of that either.
    private static @Nullable Ending outer() {
        try {
            return ENDING.get();
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    private void freeOutermost() {
        Ending ending = begun();
        if (ending == null) {
            giveBack();
            return;
        }
        Throwable failure = null;
        for (NestedRelease one = this; one != null; one = ending.poll()) {
            try {
                one.giveBack();
            } catch (Throwable e) {
                failure = Failures.join(failure, e);
            }
        }
        ENDING.remove();
        Failures.rethrow(failure);
    }

    /// Null if there is no memory for it: then the stack has to do.
    private static @Nullable Ending begun() {
        try {
            Ending ending = new Ending();
            ending.depth = 1;
            ENDING.set(ending);
            return ending;
        } catch (OutOfMemoryError e) {
            return null;
        }
    }
}
