// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// What was sent on a call and is not closed yet: by gRPC, or by a receiver in the same process.
final class SentStreams {

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
        forgotten.forEach(SealedStream::close);
        return forgotten.size();
    }
}
