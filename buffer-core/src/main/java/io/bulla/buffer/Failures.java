// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import org.jspecify.annotations.Nullable;

/// The first failure of several steps that are all taken, whatever the others throw; the later ones stand behind it.
final class Failures {

    private Failures() {}

    /// Loads this class: where it is needed first, there may be no heap left to load it with, and what was to be
    /// given back would be lost.
    static void load() {
        // being called is enough
    }

    /// The first one, with `next` behind it if there is memory for that.
    static Throwable join(@Nullable Throwable first, Throwable next) {
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

    /// Gives a region back. Allocates nothing.
    static @Nullable Throwable release(Region region, @Nullable Throwable before) {
        try {
            region.release();
            return before;
        } catch (Throwable failure) {
            return join(before, failure);
        }
    }

    /// Throws what was joined, if there was a failure.
    static void rethrow(@Nullable Throwable failure) {
        if (failure != null) {
            throw Failures.<RuntimeException>unchecked(failure);
        }
    }

    // what steps without checked exceptions threw
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable failure) throws T {
        throw (T) failure;
    }
}
