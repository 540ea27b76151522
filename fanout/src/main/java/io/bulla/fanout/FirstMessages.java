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

    private static final SealedBuffer[] NONE = {};

    // guarded by this; an array, for its end finds heap for no iterator, and one may share them meanwhile
    private SealedBuffer[] handles;

    /// @param messages open handles, which stay open
    FirstMessages(Collection<SealedBuffer> messages) {
        SealedBuffer[] all = messages.toArray(NONE);
        int open = 0;
        try {
            for (; open < all.length; open++) {
                all[open] = all[open].share();
            }
        } catch (Throwable failure) {
            for (int i = 0; i < open; i++) {
                Failures.close(all[i], failure);
            }
            throw failure;
        }
        handles = all;
    }

    /// @return handles of a new subscriber's own; none if the fan-out is over
    synchronized Deque<SealedBuffer> share() {
        return handles.length == 0 ? Subscription.NONE : shared(handles);
    }

    private static Deque<SealedBuffer> shared(SealedBuffer... messages) {
        // of its last size: an add can't fail
        Deque<SealedBuffer> shared = new ArrayDeque<>(messages.length);
        try {
            for (SealedBuffer message : messages) {
                shared.add(message.share());
            }
            return shared;
        } catch (Throwable failure) {
            Failures.closeAll(shared, failure);
            throw failure;
        }
    }

    /// @return the failure that is given, with what was thrown; or `null`
    @Nullable
    Throwable close(@Nullable Throwable failure) {
        SealedBuffer[] last;
        synchronized (this) {
            last = handles;
            handles = NONE;
        }
        @Nullable Throwable joined = failure;
        for (SealedBuffer each : last) {
            joined = Failures.close(each, joined);
        }
        return joined;
    }
}
