// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Has the C library give its free memory back to the system: when asked to, and when much was closed.
final class Trimmer {

    private static final long WORTH_TRIMMING = 8 << 20;

    // volatile: a counter of bytes, read as a guess; and a wish, seen by the source's thread when it is woken
    private final AtomicLong closedSince = new AtomicLong();
    private final AtomicBoolean wanted = new AtomicBoolean();
    // volatile: written by the thread alone, read as a snapshot
    private final AtomicLong trims = new AtomicLong();

    void closed(long bytes) {
        closedSince.addAndGet(bytes);
    }

    void want() {
        wanted.set(true);
    }

    boolean isWanted() {
        return wanted.get();
    }

    boolean isWorthIt() {
        return closedSince.get() >= WORTH_TRIMMING;
    }

    long trims() {
        return trims.get();
    }

    /// By the source's thread.
    void trim() {
        wanted.set(false);
        closedSince.set(0);
        if (JvmDiagnostics.trim()) {
            trims.incrementAndGet();
        }
    }
}
