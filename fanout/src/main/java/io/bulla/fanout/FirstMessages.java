// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// Messages that each subscriber gets before any other, until the fan-out is over.
final class FirstMessages {

    // guarded by this
    private Deque<SealedBuffer> handles;

    /// @param messages open handles, which stay open
    FirstMessages(Collection<SealedBuffer> messages) {
        handles = shared(messages);
    }

    /// @return handles of a new subscriber's own; none if the fan-out is over
    synchronized Deque<SealedBuffer> share() {
        return handles.isEmpty() ? Subscription.NONE : shared(handles);
    }

    private static Deque<SealedBuffer> shared(Collection<SealedBuffer> messages) {
        // of its last size: an add can't fail
        Deque<SealedBuffer> shared = new ArrayDeque<>(messages.size());
        try {
            messages.forEach(message -> shared.add(message.share()));
            return shared;
        } catch (Throwable failure) {
            Failures.closeAll(shared, failure);
            throw failure;
        }
    }

    /// @return the failure that is given, with what was thrown; or `null`
    @Nullable
    Throwable close(@Nullable Throwable failure) {
        Deque<SealedBuffer> last;
        synchronized (this) {
            last = handles;
            handles = Subscription.NONE;
        }
        return Failures.closeAll(last, failure);
    }
}
