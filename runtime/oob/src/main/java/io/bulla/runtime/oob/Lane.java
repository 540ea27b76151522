// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/// The messages to one peer that share a sequence, from the queue to the acknowledgement.
///
/// ```
/// waiting --first byte: gets its number--> waiting --last byte--> unacked --ACK--> gone
///    ^                                                               |
///    +---------------- a new connection: from byte 0 ----------------+
/// ```
///
/// One event loop's.
final class Lane {

    static final int SMALL = 0;
    static final int BULK = 1;

    final int code;
    /// To be written, in order; those that have a number already stand first.
    final SendList waiting = new SendList();
    /// Written to the last byte.
    final SendList unacked = new SendList();

    private final Map<Integer, Integer> tags = new HashMap<>();
    private long next;
    private long acknowledged;
    private long resends;

    Lane(int code) {
        this.code = code;
    }

    /// Number of the next message that gets one.
    long next() {
        return next;
    }

    /// Messages that were begun again.
    long resends() {
        return resends;
    }

    boolean isEmpty() {
        return waiting.isEmpty() && unacked.isEmpty();
    }

    int size() {
        return waiting.size() + unacked.size();
    }

    boolean holds(int tag) {
        return !isEmpty() && tags.containsKey(tag);
    }

    void add(PendingSend send) {
        send.lane = this;
        waiting.addLast(send);
        if (code == BULK) {
            tags.merge(send.tag, 1, Integer::sum);
        }
    }

    /// The first of those waiting gets its number, if it has none, and begins at byte 0.
    void begin(PendingSend send) {
        if (send.sequence < 0) {
            send.sequence = next++;
        }
        if (send.attempts++ > 0) {
            resends++;
        }
    }

    /// Its last byte was written.
    void written(PendingSend send) {
        waiting.remove(send);
        send.written = true;
        unacked.addLast(send);
    }

    /// Takes a message out, wherever it is.
    void remove(PendingSend send) {
        (send.written ? unacked : waiting).remove(send);
        send.lane = null;
        if (code == BULK) {
            tags.computeIfPresent(send.tag, (tag, count) -> count == 1 ? null : count - 1);
        }
    }

    /// Whether a peer can expect `expected` next.
    boolean accepts(long expected) {
        return expected >= acknowledged && expected <= next;
    }

    /// The peer has everything before `expected`.
    void acknowledge(long expected, Consumer<PendingSend> gone) {
        acknowledged = expected;
        // after a reconnect they may be waiting to be written again
        drop(unacked, expected, gone);
        drop(waiting, expected, gone);
    }

    private void drop(SendList list, long expected, Consumer<PendingSend> gone) {
        for (PendingSend send = list.first();
                send != null && send.sequence >= 0 && send.sequence < expected;
                send = list.first()) {
            remove(send);
            gone.accept(send);
        }
    }

    /// A new connection: what is not acknowledged is written again, from byte 0.
    void rewind() {
        waiting.addAllFirst(unacked);
        for (PendingSend send = waiting.first(); send != null && send.sequence >= 0; send = send.next) {
            send.written = false;
            send.offset = 0;
        }
    }

    /// The session is over: takes out what was begun.
    void abandon(Consumer<PendingSend> begun) {
        rewind();
        drop(waiting, Long.MAX_VALUE, begun);
        next = 0;
        acknowledged = 0;
    }

    /// The peer is given up: takes out everything.
    void abandonAll(Consumer<PendingSend> each) {
        abandon(each);
        for (PendingSend send = waiting.first(); send != null; send = waiting.first()) {
            remove(send);
            each.accept(send);
        }
    }
}
