// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import io.bulla.posix.internal.calls.FirstFailure;
import org.jspecify.annotations.Nullable;

/// The calls of one socket whose notifications have not come, by number. Under the lock of its socket.
///
/// The kernel numbers the successful `MSG_ZEROCOPY` calls of a socket from 0 on, modulo 2^32, and tells of them
/// in ranges, mostly but not always in order.
///
/// ```
/// oldest            next          numbers, wrapping; slot = number & (capacity - 1)
///   | a | a | - | b |             one send may have made several calls; - was notified before its elders
/// ```
final class UnnotifiedCalls {

    private @Nullable SocketSend[] slots = new @Nullable SocketSend[16];
    private int oldest;
    private int next;
    // made before: on a full heap the notification would be lost, and its memory never free
    private final FirstFailure failures = new FirstFailure();

    /// @param first the number of the first call
    UnnotifiedCalls(int first) {
        this.oldest = first;
        this.next = first;
    }

    /// Makes sure that the next call can be added.
    void makeRoom() {
        if (size() == slots.length) {
            grow();
        }
    }

    /// The next successful call is one of `send`.
    void add(SocketSend send) {
        makeRoom();
        slots[slot(next++)] = send;
    }

    /// Ends a range of calls, both ends included.
    ///
    /// @return how many
    /// @throws RuntimeException what a user's release or listener threw, after the whole range
    /// @throws IllegalStateException if a call of the range is not known, or was notified before
    int notified(int low, int high) {
        int count = high - low + 1;
        for (int i = 0; i < count; i++) {
            int number = low + i;
            // unsigned: numbers wrap
            boolean known = Integer.compareUnsigned(number - oldest, size()) < 0;
            SocketSend send = known ? slots[slot(number)] : null;
            if (send == null) {
                failures.add(new IllegalStateException("notification of no such call: number="
                        + Integer.toUnsignedString(number) + " oldest=" + Integer.toUnsignedString(oldest)
                        + " next=" + Integer.toUnsignedString(next)));
                break;
            }
            slots[slot(number)] = null;
            while (oldest != next && slots[slot(oldest)] == null) {
                oldest++;
            }
            try {
                send.kernel.notified();
            } catch (RuntimeException | Error failure) {
                failures.add(failure);
            }
        }
        failures.rethrow();
        return count;
    }

    boolean isEmpty() {
        return oldest == next;
    }

    private int size() {
        return next - oldest;
    }

    private int slot(int number) {
        return number & slots.length - 1;
    }

    private void grow() {
        @Nullable SocketSend[] old = slots;
        slots = new @Nullable SocketSend[2 * old.length];
        for (int number = oldest; number != next; number++) {
            slots[slot(number)] = old[number & old.length - 1];
        }
    }
}
