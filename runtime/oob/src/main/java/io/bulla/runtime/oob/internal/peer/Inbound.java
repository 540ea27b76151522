// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.connection.BatchReader;
import io.bulla.runtime.oob.internal.connection.MemoryShortage;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.handlers.Handlers;
import io.bulla.runtime.oob.internal.handlers.Incoming;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.session.Reassembler;
import io.bulla.runtime.oob.internal.session.Session;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What comes from one peer: it is checked before memory is taken for it, put together by the session, and handed on
/// to the handlers or the broadcasts, with the credit that it holds.
///
/// One event loop's, but for what is consumed.
final class Inbound implements Incoming.Sender, BroadcastSink.Sender {

    private static final int LEAST_CONFIRMATIONS = 256;

    private final PeerCore core;
    private final LoopContext context;
    private final Session session;
    private final MemoryShortage shortage;
    private final Seeker seeker;
    private final BroadcastSink broadcasts;
    private final Handlers handlers;

    Inbound(PeerCore core, MemoryShortage shortage, Seeker seeker, BroadcastSink broadcasts, Handlers handlers) {
        this.core = core;
        this.context = core.context;
        this.session = core.session;
        this.shortage = shortage;
        this.seeker = seeker;
        this.broadcasts = broadcasts;
        this.handlers = handlers;
    }

    @Override
    public int rank() {
        return core.rank;
    }

    @Override
    public @Nullable Object tag() {
        return core.tags.from();
    }

    /// Before memory is taken for a frame's body.
    ///
    /// @throws IOException if it cannot be
    void check(Frame frame) throws IOException {
        int nodes = context.settings().size();
        frame.checkFrom(core.rank, nodes);
        if (frame.kind() == Frame.Kind.CONFIRM && frame.total() > (long) Integer.BYTES * nodes) {
            throw new IOException("not a list of ranks: bytes=" + frame.total());
        }
        boolean message = frame.kind() == Frame.Kind.DIRECT || frame.kind() == Frame.Kind.BROADCAST;
        if (!message || !session.reassembler(frame.lane()).isFirst(frame)) {
            return;
        }
        Credit credit = session.credit(frame.lane());
        int depth = 0;
        if (frame.kind() == Frame.Kind.BROADCAST) {
            broadcasts.checkFrom(frame, core.rank);
            depth = broadcasts.depth(frame.origin());
        }
        if (!credit.admits(frame.total(), depth)) {
            throw new IOException("message without credit: lane=" + frame.lane() + " length=" + frame.total() + " held="
                    + credit.held());
        }
    }

    /// Before memory is taken for a frame's body: whether it is a broadcast for whose confirmation there is no room,
    /// because the peer acknowledges none. It has to come again.
    boolean owesTooMany(Frame frame) {
        boolean tooMany = session.control.size() >= confirmationsAtMost() && beginsBroadcast(frame);
        if (tooMany) {
            shortage.beginsForConfirmations(carrier().connection(), session.control.size());
        }
        return tooMany;
    }

    /// Whether a broadcast begins to arrive, or one that has landed beside the connection is told to be whole.
    private boolean beginsBroadcast(Frame frame) {
        Reassembler reassembler = session.reassembler(frame.lane());
        return frame.kind() == Frame.Kind.BROADCAST && reassembler.isFirst(frame)
                || frame.kind() == Frame.Kind.FINISHED
                        && frame.isOfBroadcast()
                        && frame.sequence() == reassembler.expected();
    }

    /// As many as this node itself may have on its way to a peer.
    private long confirmationsAtMost() {
        return Math.max(LEAST_CONFIRMATIONS, context.settings().peerMessages());
    }

    private Carrier carrier() {
        return Objects.requireNonNull(core.carrier(), "carrier");
    }

    private @Nullable Rendezvous rendezvous() {
        Carrier carrier = core.carrier();
        return carrier == null ? null : carrier.rendezvous();
    }

    /// Whether a frame of a lane is of a message that has not arrived yet.
    boolean isNew(Frame frame) {
        return frame.sequence() >= session.reassembler(frame.lane()).expected();
    }

    /// There was no memory for a frame of the peer's: from now on this node drops all, until the peer begins again.
    void onMemoryShortage(Frame frame, RuntimeException why) {
        shortage.begins(carrier().connection(), frame, why);
    }

    /// A frame of a lane, and ownership of its body.
    void onFrame(Frame frame, SealedBuffer body) throws IOException {
        Reassembler reassembler = session.reassembler(frame.lane());
        boolean again;
        try {
            again = reassembler.isDuplicate(frame);
        } catch (IOException hole) {
            body.close();
            throw hole;
        }
        if (again) {
            body.close();
        } else if (frame.kind() == Frame.Kind.FINISHED) {
            body.close();
            onFinished(frame);
        } else if (frame.kind() == Frame.Kind.SKIP) {
            body.close();
            passed(frame);
            long landed = reassembler.landed();
            onSkip(frame, reassembler.skip(frame), landed);
        } else {
            take(reassembler, frame, body);
        }
    }

    private void onSkip(Frame skip, @Nullable Frame begun, long landed) {
        seeker.onProgress();
        if (skip.lane() == Lane.CONTROL) {
            return;
        }
        Credit credit = session.credit(skip.lane());
        credit.arrived(skip.total());
        if (begun != null && begun.kind() == Frame.Kind.BROADCAST) {
            broadcasts.onInterrupted(begun, this, credit, landed);
            consumed(credit, skip.total() - landed);
        } else {
            consumed(credit, Credit.charge(skip.total()));
        }
    }

    /// Bytes of the bulk lane, or a SKIP: what was granted for a message is no longer written to.
    private void passed(Frame frame) throws IOException {
        Rendezvous way = rendezvous();
        if (way != null && frame.lane() == Lane.BULK) {
            way.passed(frame);
        }
    }

    /// A frame about a message that goes beside the connection.
    void onRendezvous(Frame frame) throws IOException {
        Rendezvous way = rendezvous();
        if (way == null) {
            throw new IOException("nothing was offered: kind=" + frame.kind());
        }
        if (frame.kind() == Frame.Kind.CLEAR) {
            way.cleared(frame);
            return;
        }
        Reassembler reassembler = session.reassembler(Lane.BULK);
        boolean isNext = reassembler.isFirst(frame);
        if (!isNext && frame.sequence() >= reassembler.expected()
                || frame.sequence() < 0
                || frame.lane() != Lane.BULK
                || frame.total() < 0
                || frame.total() > context.settings().limit()) {
            throw new IOException("not a request for a message: sequence=" + frame.sequence() + " total="
                    + frame.total() + " lane=" + frame.lane());
        }
        if (isNext && !session.credit(Lane.BULK).admits(frame.total(), depthOf(frame))) {
            throw new IOException("message without credit: lane=" + frame.lane() + " length=" + frame.total());
        }
        way.requested(frame, isNext);
    }

    /// Class of a message that goes beside the connection.
    ///
    /// @throws IOException if it is a broadcast that cannot come from this peer, or in one piece
    private int depthOf(Frame frame) throws IOException {
        if (!frame.isOfBroadcast()) {
            return 0;
        }
        if (frame.total() > Integer.MAX_VALUE) {
            throw new IOException("broadcast is too long for one piece: length=" + frame.total());
        }
        broadcasts.checkFrom(frame, core.rank);
        return broadcasts.depth(frame.origin());
    }

    private void onFinished(Frame frame) throws IOException {
        Rendezvous way = rendezvous();
        if (way == null) {
            throw new IOException("nothing was offered: kind=" + frame.kind());
        }
        depthOf(frame);
        SealedBuffer whole = tagged(way.finished(frame));
        // after what can fail: from here on the message is this node's
        session.reassembler(frame.lane()).pass();
        Credit credit = session.credit(frame.lane());
        seeker.onProgress();
        arrived(frame, credit);
        if (frame.isOfBroadcast()) {
            broadcasts.onFragment(frame.asBroadcast(), whole, this, credit);
        } else {
            handOn(frame, whole, credit);
        }
    }

    private SealedBuffer tagged(SealedBuffer body) {
        return BatchReader.tagged(body, core.tags.from());
    }

    private void arrived(Frame frame, Credit credit) {
        credit.arrived(frame.total());
        core.counters.receivedMessages++;
        core.counters.receivedBytes += frame.total();
    }

    private void take(Reassembler reassembler, Frame frame, SealedBuffer body) throws IOException {
        boolean begun = false;
        try {
            passed(frame);
            begun = true;
        } finally {
            if (!begun) {
                body.close();
            }
        }
        if (frame.kind() == Frame.Kind.BROADCAST) {
            takeBroadcast(reassembler, frame, body);
            return;
        }
        SealedBuffer whole = reassembler.take(frame, body);
        seeker.onProgress();
        if (whole == null) {
            handlers.landed(frame.length());
            return;
        }
        if (frame.kind() == Frame.Kind.CONFIRM) {
            try (whole) {
                broadcasts.onConfirmed(frame, whole, core.rank);
            }
            return;
        }
        Credit credit = session.credit(frame.lane());
        arrived(frame, credit);
        handOn(frame, whole, credit);
    }

    private void takeBroadcast(Reassembler reassembler, Frame frame, SealedBuffer body) throws IOException {
        boolean last;
        try {
            last = reassembler.advance(frame);
        } catch (IOException outOfPlace) {
            body.close();
            throw outOfPlace;
        }
        seeker.onProgress();
        Credit credit = session.credit(frame.lane());
        if (last) {
            arrived(frame, credit);
        } else {
            handlers.landed(frame.length());
        }
        broadcasts.onFragment(frame, body, this, credit);
    }

    /// The connection has been read, for now.
    void onRead() {
        handlers.endTurn();
    }

    private void handOn(Frame frame, SealedBuffer whole, Credit credit) {
        Message message = new Message(frame.origin(), frame.tag(), frame.format(), whole);
        handlers.dispatch(message, this, core.rank, credit);
    }

    /// Any thread.
    @Override
    public void handledOwn(long bytes) {
        core.quota.give(1, bytes);
    }

    /// Any thread.
    @Override
    public void consumed(Credit credit, long charge, int depth) {
        if (credit.consume(charge, depth)) {
            core.tellSoon();
        }
    }

    /// Any thread.
    @Override
    public void consumed(Credit credit, long charge) {
        if (credit.consume(charge)) {
            core.tellSoon();
        }
    }
}
