// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.limits.Credit;
import org.jspecify.annotations.Nullable;

/// A message on its way to its handler; owns the node's handle on it, and what it is charged to its sender.
final class Incoming extends HandlerExecutor.Item {

    final Message message;
    final long bytes;
    private final Handlers handlers;
    // all null once it does not count any more
    private @Nullable Peer peer;
    private @Nullable Credit credit;
    private @Nullable BroadcastCharge charge;

    /// @param credit of the sender's lane, or `null` if it is this node's own
    Incoming(Message message, Handlers handlers, @Nullable Peer peer, @Nullable Credit credit) {
        this(message, handlers, peer, credit, null);
    }

    /// @param charge of a broadcast
    Incoming(Message message, Handlers handlers, BroadcastCharge charge) {
        this(message, handlers, null, null, charge);
    }

    private Incoming(
            Message message,
            Handlers handlers,
            @Nullable Peer peer,
            @Nullable Credit credit,
            @Nullable BroadcastCharge charge) {
        this.message = message;
        this.bytes = message.buffer().byteSize();
        this.handlers = handlers;
        this.peer = peer;
        this.credit = credit;
        this.charge = charge;
    }

    @Override
    void run() {
        handlers.deliver(this);
    }

    @Override
    void drop() {
        try {
            message.buffer().close();
        } finally {
            leave();
        }
    }

    /// It holds no credit any more.
    void leave() {
        Peer from = peer;
        BroadcastCharge shared = charge;
        peer = null;
        charge = null;
        if (shared != null) {
            shared.release();
        } else if (from != null && credit != null) {
            from.consumed(credit, Credit.charge(bytes));
        } else if (from != null) {
            from.handledOwn(bytes);
        }
    }
}
