// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.flow.Credit;
import org.jspecify.annotations.Nullable;

/// A message on its way to its handler; owns the node's handle on it, and what it is charged to its sender.
final class Incoming extends HandlerExecutor.Item {

    /// The least part of the memory that a message pins which it has to be, to be kept for long as it is.
    private static final double MIN_USE = 0.5;

    final long bytes;
    // the handlers' thread's until it is kept; then it stays
    Message message;
    // once it is known: bytes that stay taken as long as the message; else negative
    private long pinned = -1;
    // a receiver has it, or it is kept
    private boolean begun;
    private final Handlers handlers;
    // all null once it does not count any more
    private @Nullable Peer peer;
    private @Nullable Credit credit;
    private @Nullable BroadcastCharge charge;
    // of a broadcast that is signed; else null
    private final @Nullable OriginCheck check;

    /// @param credit of the sender's lane, or `null` if it is this node's own
    Incoming(Message message, Handlers handlers, @Nullable Peer peer, @Nullable Credit credit) {
        this(message, handlers, peer, credit, null, null);
    }

    /// A broadcast.
    ///
    /// @param check that is waited for; or `null`
    static Incoming broadcast(Message message, Handlers handlers, BroadcastCharge charge, @Nullable OriginCheck check) {
        return new Incoming(message, handlers, null, null, charge, check);
    }

    private Incoming(
            Message message,
            Handlers handlers,
            @Nullable Peer peer,
            @Nullable Credit credit,
            @Nullable BroadcastCharge charge,
            @Nullable OriginCheck check) {
        this.message = message;
        this.bytes = message.buffer().byteSize();
        this.handlers = handlers;
        this.peer = peer;
        this.credit = credit;
        this.charge = charge;
        this.check = check;
    }

    void begin() {
        begun = true;
    }

    @Override
    boolean isBegun() {
        return begun;
    }

    /// Waits for the check, which waits for no handler.
    @Override
    void run() {
        if (check == null || check.isGenuine()) {
            handlers.deliver(this);
        } else {
            begin();
            drop();
        }
    }

    /// Whether it is known what keeping it costs.
    boolean isCompact() {
        return pinned >= 0;
    }

    /// What it counts while it is kept: its bytes and a header's, or, if that is more, the memory that it pins.
    long charge() {
        return Math.max(Credit.charge(bytes), pinned);
    }

    /// It will be kept, perhaps for long: a small message gets memory of its own in place of a batch's. If there is
    /// none, it counts as what it pins.
    void compact(MemorySource source) {
        SealedBuffer landed = message.buffer();
        pinned = landed.pinnedBytes();
        if (pinned <= Credit.charge(bytes) || bytes >= MIN_USE * pinned) {
            return;
        }
        Peer from = peer;
        SealedBuffer own;
        try (SealedBuffer copy = landed.copy(source)) {
            own = copy.move(from == null ? null : from.tags.from());
        } catch (Throwable noMemory) {
            return;
        }
        message = message.with(own);
        pinned = own.pinnedBytes();
        landed.close();
    }

    /// Whether no handler will have it: it is not its origin's.
    boolean isRefused() {
        return check != null && check.isRefused();
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
