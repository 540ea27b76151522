// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.refcount.internal.Failures;
import java.lang.ref.Cleaner;
import java.util.Deque;
import java.util.LinkedList;
import org.jspecify.annotations.Nullable;

/// Keeps the streams that were sent on a call, until gRPC closes them, or a receiver in the same process does.
final class SentStreams {

    // a thread of the library's, started with the first call that leaves something open
    private static final Cleaner CLEANER = Cleaner.create();

    // both are guarded by this
    // a list of links: an add that finds no heap leaves it as it was
    private final Deque<SealedStream> open = new LinkedList<>();
    private boolean over;

    /// Remembers a stream, or closes it if the call is over.
    ///
    /// @return whether the call goes on
    boolean add(@Nullable SealedStream stream) {
        if (stream == null) {
            return true;
        }
        boolean kept = false;
        try {
            kept = isKept(stream);
        } finally {
            if (!kept) {
                stream.close();
            }
        }
        return kept;
    }

    private synchronized boolean isKept(SealedStream stream) {
        while (!open.isEmpty() && !open.getFirst().isOpen()) {
            open.remove();
        }
        return !over && open.add(stream);
    }

    private synchronized @Nullable SealedStream next() {
        over = true;
        return open.pollFirst();
    }

    /// The call is over, but a receiver in the same process may have some of it, and not have parsed it yet: what
    /// is open is closed when neither gRPC nor the receiver has it any more, what comes later at once. Where there
    /// is no heap to wait for that, it is closed at once.
    void closeForgotten(CallTotals totals) {
        @Nullable Throwable failure = null;
        for (@Nullable SealedStream stream = next(); stream != null; stream = next()) {
            if (stream.isOpen()) {
                try {
                    stream.closeWhenForgotten(CLEANER, totals);
                } catch (Throwable noHeap) {
                    failure = Failures.close(stream, Failures.join(failure, noHeap));
                }
            }
        }
        Failures.rethrow(failure);
    }

    /// No receiver reads any more: closes what is open, now and later. Takes no heap.
    ///
    /// @return how many gRPC had forgotten
    int close() {
        int count = 0;
        @Nullable Throwable failure = null;
        for (@Nullable SealedStream stream = next(); stream != null; stream = next()) {
            if (stream.isOpen()) {
                count++;
                failure = Failures.close(stream, failure);
            }
        }
        Failures.rethrow(failure);
        return count;
    }
}
