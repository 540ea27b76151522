// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.posix.internal.calls.Unmapper;
import java.util.concurrent.TimeUnit;

/// The mappings of received seals that are ended behind their holders' backs, for benchmarks that receive more of
/// them than a process would.
public final class Mappings {

    private static final long SECONDS = 10;

    private Mappings() {}

    /// Returns when all that were given back are gone, and their descriptors closed.
    public static void awaitEnd() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (Unmapper.MAPPINGS.awaitFreed(deadline)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("mappings are still there: seconds=" + SECONDS);
            }
        }
    }
}
