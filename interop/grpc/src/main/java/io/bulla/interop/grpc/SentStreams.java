// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.refcount.internal.Failures;
import java.lang.ref.Cleaner;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Keeps the streams that were sent on a call, until gRPC closes them, or a receiver in the same process does.
final class SentStreams {

    // a thread of the library's, started with the first call that leaves something open
    private static final Cleaner CLEANER = Cleaner.create();

    // both are guarded by this
    private Deque<SealedStream> open = new ArrayDeque<>(0);
    private boolean over;

    /// Remembers a stream, or closes it if the call is over.
    ///
    /// @return whether the call goes on
    boolean add(@Nullable SealedStream stream) {
        if (stream == null || isKept(stream)) {
            return true;
        }
        stream.close();
        return false;
    }

    private synchronized boolean isKept(SealedStream stream) {
        while (!open.isEmpty() && !open.getFirst().isOpen()) {
            open.remove();
        }
        return !over && open.add(stream);
    }

    /// The call is over, but a receiver in the same process may have some of it, and not have parsed it yet: what is
    /// open is closed when neither gRPC nor the receiver has it any more, what comes later at once.
    void closeForgotten(CallTotals totals) {
        Deque<SealedStream> left;
        synchronized (this) {
            over = true;
            left = open;
            open = new ArrayDeque<>(0);
        }
        for (SealedStream stream : left) {
            if (stream.isOpen()) {
                stream.closeWhenForgotten(CLEANER, totals);
            }
        }
    }

    /// No receiver reads any more: closes what is open, now and later.
    ///
    /// @return how many gRPC had forgotten
    int close() {
        Deque<SealedStream> forgotten;
        synchronized (this) {
            over = true;
            forgotten = open;
            open = new ArrayDeque<>(0);
        }
        forgotten.removeIf(stream -> !stream.isOpen());
        int count = forgotten.size();
        Failures.rethrow(Failures.closeAll(forgotten, null));
        return count;
    }
}
