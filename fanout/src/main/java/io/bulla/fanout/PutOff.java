// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import org.jspecify.annotations.Nullable;

/// What is done when the turn that it came in is over, in its order: messages to be sent, and the end of all.
///
/// As much may wait as in [#TIMES] queues, or [#MESSAGES] messages of [#BYTES] if that is more: a transport that
/// publishes from within its `send` faster than the turn's thread sends would fill the heap.
final class PutOff {

    static final int TIMES = 16;
    static final int MESSAGES = 1024;
    static final long BYTES = 64 << 20;

    /// A message, or what ends all.
    static final class Later {

        final @Nullable Object key;
        final @Nullable SealedBuffer own;
        final @Nullable Runnable end;
        private final long size;

        private @Nullable Later next;

        /// @param own closed by the one that takes this
        Later(@Nullable Object key, SealedBuffer own) {
            this.key = key;
            this.own = own;
            this.end = null;
            this.size = own.byteSize();
        }

        Later(Runnable end) {
            this.key = null;
            this.own = null;
            this.end = end;
            this.size = 0;
        }
    }

    private final long mostMessages;
    private final long mostBytes;

    // all are guarded by this
    private @Nullable Later first;
    private @Nullable Later last;
    private int messages;
    private long bytes;

    PutOff(Bound bound) {
        this.mostMessages = Math.max(MESSAGES, (long) TIMES * bound.messages());
        this.mostBytes =
                bound.bytes() > Long.MAX_VALUE / TIMES ? Long.MAX_VALUE : Math.max(BYTES, TIMES * bound.bytes());
    }

    /// Adds a message; one that waits alone has room, whatever its size.
    ///
    /// @throws IllegalStateException if there is no room
    synchronized void offer(Later one) {
        if (messages > 0 && (messages >= mostMessages || one.size > mostBytes - bytes)) {
            throw new IllegalStateException("too much waits for the turn: messages=" + messages + " bytes=" + bytes
                    + " mostMessages=" + mostMessages + " mostBytes=" + mostBytes);
        }
        add(one);
        messages++;
        bytes += one.size;
    }

    /// Adds what ends all.
    synchronized void add(Later one) {
        if (last == null) {
            first = one;
        } else {
            last.next = one;
        }
        last = one;
    }

    @Nullable
    synchronized Later poll() {
        @Nullable Later next = first;
        if (next != null) {
            first = next.next;
            last = first == null ? null : last;
            messages -= next.own == null ? 0 : 1;
            bytes -= next.size;
        }
        return next;
    }

    synchronized boolean isEmpty() {
        return first == null;
    }

    /// Messages that wait.
    synchronized int size() {
        return messages;
    }
}
