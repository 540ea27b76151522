// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.BooleanSupplier;

/// Waits for what another thread, or the collector, is about to do.
final class Await {

    private static final long PATIENCE = 60_000_000_000L;

    private Await() {}

    static void until(BooleanSupplier done) {
        for (long start = System.nanoTime(); !done.getAsBoolean() && System.nanoTime() - start < PATIENCE; ) {
            pause(2);
        }
        assertTrue(done.getAsBoolean());
    }

    static void collected(BooleanSupplier done) {
        until(() -> {
            collect(1);
            return done.getAsBoolean();
        });
    }

    /// Long enough for the healer to take what was found.
    static void collect(int times) {
        for (int i = 0; i < times; i++) {
            System.gc();
            pause(20);
        }
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
