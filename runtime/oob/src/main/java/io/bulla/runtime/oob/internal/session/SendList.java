// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import org.jspecify.annotations.Nullable;

/// Sends in order, linked through themselves: putting in, taking out anywhere and moving allocate nothing. One
/// event loop's.
public final class SendList {

    private @Nullable PendingSend first;
    private @Nullable PendingSend last;
    private int size;

    @Nullable
    public PendingSend first() {
        return first;
    }

    int size() {
        return size;
    }

    public boolean isEmpty() {
        return first == null;
    }

    public void addLast(PendingSend send) {
        link(send, last, null);
    }

    @Nullable
    public PendingSend poll() {
        PendingSend head = first;
        if (head != null) {
            remove(head);
        }
        return head;
    }

    void remove(PendingSend send) {
        if (send.previous == null) {
            first = send.next;
        } else {
            send.previous.next = send.next;
        }
        if (send.next == null) {
            last = send.previous;
        } else {
            send.next.previous = send.previous;
        }
        send.previous = null;
        send.next = null;
        size--;
    }

    /// Moves all of `others` in front of these, in their order.
    void addAllFirst(SendList others) {
        for (PendingSend send = others.last; send != null; send = others.last) {
            others.remove(send);
            link(send, null, first);
        }
    }

    private void link(PendingSend send, @Nullable PendingSend before, @Nullable PendingSend after) {
        send.previous = before;
        send.next = after;
        if (before == null) {
            first = send;
        } else {
            before.next = send;
        }
        if (after == null) {
            last = send;
        } else {
            after.previous = send;
        }
        size++;
    }
}
