// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// A failure, and those that came while its damage was undone.
final class Failures {

    private Failures() {}

    /// Loads this class: where it is needed first, there may be no heap left to load it with.
    static void load() {
        // being called is enough
    }

    /// Keeps `another` with the first failure, if there is memory for it.
    static void suppress(Throwable first, Throwable another) {
        try {
            if (first != another) {
                first.addSuppressed(another);
            }
        } catch (OutOfMemoryError e) {
            // the first one is what the caller has to know
        }
    }
}
