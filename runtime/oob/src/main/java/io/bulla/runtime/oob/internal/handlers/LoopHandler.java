// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.runtime.oob.MessageHandler;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// A tag's handler that runs on the event loop, and what says whether it may now.
///
/// ```
/// queued(n) --hold--> queued(n + 1) --handled on the handlers' thread--> queued(n);   on the loop: at queued(0) only
/// ```
///
/// Ordering
/// 1. **It runs one message at a time, in order.** What waits for the handlers' thread is counted by the loop before
///    it is put, and uncounted when it is handled. The loop runs the handler only if it finds nothing counted, so
///    what came before is over, and what that has done is seen. What comes later comes through the loop.
/// 2. **Another handler of the tag runs after it.** A call begins under the lock of [Receivers], and its end is a
///    release: who has taken its place looks behind the lock, and waits for the end.
final class LoopHandler {

    final int tag;
    // made once, for while there is no memory
    final Integer key;
    final MessageHandler handler;
    private final AtomicInteger queued;
    // odd while it runs
    private final AtomicLong calls = new AtomicLong();
    // volatile: written by who watches, in the middle of a call; the loop looks behind each
    private volatile boolean slow;
    // who watches: of the last look
    private long seen;
    private long seenAt;

    /// @param queued what it waits for
    LoopHandler(int tag, MessageHandler handler, int queued) {
        this.tag = tag;
        this.key = tag;
        this.handler = handler;
        this.queued = new AtomicInteger(queued);
    }

    /// A message goes through the handlers' thread. On the loop, or before that runs.
    void count() {
        // volatile: before the message is put; the loop's own, so its next look sees it
        queued.incrementAndGet();
    }

    /// It is handled, or dropped. Any thread.
    void uncount() {
        // volatile: ordering 1, all that its handler did is above
        queued.decrementAndGet();
    }

    /// Whether nothing waits for the handlers' thread. On the loop.
    boolean isFree() {
        // volatile: ordering 1
        return queued.get() == 0;
    }

    /// On the loop, under the lock of the handlers, or while their thread waits.
    void begin() {
        // release: one writer; ordering 2
        calls.lazySet(calls.getPlain() + 1);
    }

    /// @return whether it took too long
    boolean end() {
        // release: ordering 2
        calls.lazySet(calls.getPlain() + 1);
        return slow;
    }

    /// Any thread.
    boolean isRunning() {
        // volatile: ordering 2
        return (calls.get() & 1) != 0;
    }

    /// One look of who watches.
    ///
    /// @return for how long it has been running, if that is the first time over the limit; else 0
    long look(long now, long limit) {
        // volatile: a snapshot; a call that is over has another number
        long number = calls.get();
        if ((number & 1) == 0 || number != seen) {
            seen = number;
            seenAt = now;
            return 0;
        }
        if (slow || now - seenAt < limit) {
            return 0;
        }
        slow = true;
        return now - seenAt;
    }
}
