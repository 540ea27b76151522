// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.internal.flow.Credit;
import org.jspecify.annotations.Nullable;

/// A message on its way to its handler; owns the node's handle on it, and what it is charged to its sender.
public final class Incoming extends HandlerExecutor.Item {

    /// Who has sent it; this node itself, if it is its own. Any thread.
    public interface Sender {

        /// The tag of handles of its messages, or `null`.
        @Nullable
        Object tag();

        /// A message is held no more.
        void consumed(Credit credit, long charge);

        /// A message of this node to itself has left the queue of the handlers.
        void handledOwn(long bytes);
    }

    /// The charge of a broadcast to the peers that sent it. Any thread.
    public interface Charge {

        /// It is held no more.
        void release();
    }

    /// Whether a broadcast is its origin's.
    public interface Check {

        /// Waits until it is known. On the handlers' thread.
        boolean isGenuine();

        /// Whether it is known not to be genuine.
        boolean isRefused();
    }

    /// The least part of the memory that a message pins which it has to be, to be kept for long as it is.
    private static final double MIN_USE = 0.5;

    final long bytes;
    // the handlers' thread's until it is kept; then it stays
    public Message message;
    // once it is known: bytes that stay taken as long as the message; else negative
    private long pinned = -1;
    // a receiver has it, or it is kept
    private boolean begun;
    private final Handlers handlers;
    // all null once it does not count any more
    private @Nullable Sender sender;
    private @Nullable Credit credit;
    private @Nullable Charge charge;
    // of a broadcast that is signed; else null
    private final @Nullable Check check;
    // runs on the loop again when this is handled; else null
    private @Nullable LoopHandler behind;

    /// @param credit of the sender's lane, or `null` if it is this node's own
    public Incoming(Message message, Handlers handlers, @Nullable Sender sender, @Nullable Credit credit) {
        this(message, handlers, sender, credit, null, null);
    }

    /// A broadcast.
    ///
    /// @param check that is waited for; or `null`
    static Incoming broadcast(Message message, Handlers handlers, Charge charge, @Nullable Check check) {
        return new Incoming(message, handlers, null, null, charge, check);
    }

    private Incoming(
            Message message,
            Handlers handlers,
            @Nullable Sender sender,
            @Nullable Credit credit,
            @Nullable Charge charge,
            @Nullable Check check) {
        this.message = message;
        this.bytes = message.buffer().byteSize();
        this.handlers = handlers;
        this.sender = sender;
        this.credit = credit;
        this.charge = charge;
        this.check = check;
    }

    void begin() {
        begun = true;
    }

    /// Whether its handler waits for nothing.
    boolean isChecked() {
        return check == null;
    }

    /// Whether it is a message of this node to itself.
    boolean isOwn() {
        return sender != null && credit == null && charge == null;
    }

    /// A handler on the loop waits until this was handled. Before it is put.
    void waitsBefore(@Nullable LoopHandler on) {
        behind = on;
        if (on != null) {
            on.count();
        }
    }

    private void passed() {
        LoopHandler on = behind;
        behind = null;
        if (on != null) {
            on.uncount();
        }
    }

    @Override
    public boolean isBegun() {
        return begun;
    }

    /// Waits for the check, which waits for no handler.
    @Override
    public void run() {
        try {
            if (check == null || check.isGenuine()) {
                handlers.deliver(this);
            } else {
                begin();
                drop();
            }
        } finally {
            if (begun) {
                passed();
            }
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
        Sender from = sender;
        SealedBuffer own;
        try (SealedBuffer copy = landed.copy(source)) {
            own = copy.move(from == null ? null : from.tag());
        } catch (Throwable noMemory) {
            return;
        }
        message = with(message, own);
        pinned = own.pinnedBytes();
        landed.close();
    }

    /// Whether no handler will have it: it is not its origin's.
    public boolean isRefused() {
        return check != null && check.isRefused();
    }

    @Override
    public void drop() {
        try {
            message.buffer().close();
        } finally {
            leave();
            passed();
        }
    }

    /// The same message with another handle.
    public static Message with(Message message, SealedBuffer handle) {
        return new Message(message.origin(), message.tag(), message.format(), handle);
    }

    /// It holds no credit any more.
    void leave() {
        Sender from = sender;
        Charge shared = charge;
        sender = null;
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
