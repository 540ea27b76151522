// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

/// Sends in order, linked through themselves: putting in, taking out anywhere and moving allocate nothing. One
/// event loop's.
final class SendList {

    private Send first;
    private Send last;
    private int size;

    Send first() {
        return first;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return first == null;
    }

    void addLast(Send send) {
        link(send, last, null);
    }

    Send poll() {
        Send head = first;
        if (head != null) {
            remove(head);
        }
        return head;
    }

    void remove(Send send) {
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
        for (Send send = others.last; send != null; send = others.last) {
            others.remove(send);
            link(send, null, first);
        }
    }

    private void link(Send send, Send before, Send after) {
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
