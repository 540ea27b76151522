// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;

/// Messages that each stream of a broadcast gets before any other, until the broadcast is over.
final class FirstMessages {

    // guarded by this
    private Deque<SealedBuffer> handles;

    /// @param messages open handles, which stay open
    FirstMessages(Collection<SealedBuffer> messages) {
        handles = shared(messages);
    }

    /// @return handles of a new stream's own; none if the broadcast is over
    synchronized Deque<SealedBuffer> share() {
        return shared(handles);
    }

    private static Deque<SealedBuffer> shared(Collection<SealedBuffer> messages) {
        // of its last size: an add can't fail
        Deque<SealedBuffer> shared = new ArrayDeque<>(messages.size());
        try {
            messages.forEach(message -> shared.add(message.share()));
            return shared;
        } catch (Throwable failure) {
            try {
                Closing.all(shared, SealedBuffer::close);
            } catch (RuntimeException | Error another) {
                failure.addSuppressed(another);
            }
            throw failure;
        }
    }

    void close() {
        Deque<SealedBuffer> last;
        synchronized (this) {
            last = handles;
            handles = new ArrayDeque<>(0);
        }
        Closing.all(last, SealedBuffer::close);
    }
}
