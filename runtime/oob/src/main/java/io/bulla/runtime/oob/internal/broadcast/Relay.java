// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.peer.PeerTable;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/// Hands broadcasts down the trees: each child gets one send, and is waited for until it confirms or fails; then its
/// own children are this node's. One event loop's, but for the counter.
final class Relay implements ChildSend.Events {

    /// The listener to a broadcast's children. On the loop.
    public interface Progress {

        /// Whether it is still on its way.
        boolean isActive(Broadcast broadcast);

        /// A child has confirmed, has failed, or gets it again.
        void onStep(Broadcast broadcast);
    }

    private final LoopContext context;
    private final Settings settings;
    private final BroadcastTree tree;
    private final PeerTable peers;
    private final Progress progress;
    private final LongAdder sends = new LongAdder();

    Relay(LoopContext context, BroadcastTree tree, PeerTable peers, Progress progress) {
        this.context = context;
        this.settings = context.settings();
        this.tree = tree;
        this.peers = peers;
        this.progress = progress;
    }

    /// Sends that were begun, to one child each. Any thread.
    long sends() {
        return sends.sum();
    }

    /// A broadcast of this node's own begins: whom it goes to has the room already.
    void begin(Broadcast broadcast, OwnBroadcast own) {
        own.rooms();
        int asked = 0;
        boolean all = false;
        try {
            for (; asked < own.children.length; asked++) {
                Peer child = own.children[asked];
                if (broadcast.ask(child.rank())) {
                    ask(broadcast, child, true);
                } else {
                    child.quota().give(1, own.bytes);
                }
            }
            all = true;
        } finally {
            for (int left = asked; !all && left < own.children.length; left++) {
                own.children[left].quota().give(1, own.bytes);
            }
        }
    }

    /// More of a broadcast is here: to the children of this node.
    void handOn(Broadcast broadcast) {
        if (isCutThrough() && !broadcast.handedOn) {
            broadcast.handedOn = true;
            askChildren(broadcast, settings.rank());
        }
        for (Map.Entry<Integer, Optional<ChildSend>> child : List.copyOf(broadcast.waiting.entrySet())) {
            if (child.getValue().isEmpty()) {
                handAgain(broadcast, peers.peer(child.getKey()));
            } else {
                child.getValue().get().peer.pump();
            }
        }
    }

    /// All of a broadcast is here: to the children of this node, if they are asked for whole messages only.
    void handOnWhole(Broadcast broadcast) {
        if (!isCutThrough()) {
            askChildren(broadcast, settings.rank());
        }
    }

    /// A policy other than to share decides about whole messages.
    private boolean isCutThrough() {
        return settings.policy() == SendPolicy.SHARED;
    }

    /// The children of a node that are not asked yet. What the user's routing or policy does wrong costs those
    /// below, who count as failed, and nothing else.
    private void askChildren(Broadcast broadcast, int of) {
        int[] children;
        try {
            children = tree.children(of, broadcast.key.origin());
        } catch (Throwable wrong) {
            NodeLog.failed(Trouble.ROUTING, settings.rank(), of, wrong);
            allFailedBelow(broadcast, of);
            return;
        }
        for (int child : children) {
            if (child != settings.rank() && child != broadcast.key.origin() && broadcast.ask(child)) {
                try {
                    ask(broadcast, peers.peer(child), false);
                } catch (Throwable noHandle) {
                    failed(broadcast, child, noHandle);
                }
            }
        }
    }

    /// Says who gets nothing, as far as the routing that has just failed knows it.
    private void allFailedBelow(Broadcast broadcast, int top) {
        try {
            for (int rank = 0; rank < settings.size(); rank++) {
                if (rank != broadcast.key.origin()
                        && tree.isBelow(rank, top, broadcast.key.origin())
                        && broadcast.ask(rank)) {
                    broadcast.failed(rank);
                }
            }
        } catch (Throwable wrong) {
            NodeLog.failed(Trouble.ROUTING_AGAIN, settings.rank(), top, wrong);
        }
    }

    /// What a child was given is given once more: it gave way to others, or was not taken.
    private void handAgain(Broadcast broadcast, Peer child) {
        try {
            hand(broadcast, child, false);
        } catch (Throwable noHandle) {
            failed(broadcast, child.rank(), noHandle);
        }
    }

    /// A child gets nothing, those below it are this node's.
    private void failed(Broadcast broadcast, int child, Throwable why) {
        NodeLog.failed(Trouble.BROADCAST_TO_CHILD, settings.rank(), child, why);
        Optional<ChildSend> sent = broadcast.waiting.remove(child);
        if (sent != null) {
            settle(sent);
        }
        broadcast.failed(child);
        askChildren(broadcast, child);
    }

    /// @param hasRoom whether its quota is taken already
    private void ask(Broadcast broadcast, Peer child, boolean hasRoom) {
        if (child.isGivenUp()) {
            if (hasRoom) {
                child.quota().give(1, broadcast.total);
            }
            child.probe();
            broadcast.failed(child.rank());
            askChildren(broadcast, child.rank());
            return;
        }
        sends.increment();
        hand(broadcast, child, hasRoom);
    }

    private void hand(Broadcast broadcast, Peer child, boolean hasRoom) {
        // before there is a handle, for it is the user's code
        int depth = tree.depth(child.rank(), broadcast.key.origin());
        ChildSend send = sendTo(broadcast, child);
        send.depth = (byte) depth;
        if (broadcast.result != null) {
            // a relay's are charged to who sent them
            if (!hasRoom) {
                child.quota().take(send.bytes);
            }
            send.hasRoom = true;
        }
        broadcast.waiting.put(child.rank(), Optional.of(send));
        if (child.enqueue(send)) {
            child.pump();
        }
    }

    private ChildSend sendTo(Broadcast broadcast, Peer child) {
        if (!broadcast.isWhole()) {
            return ChildSend.landing(this, broadcast, child);
        }
        SealedBuffer whole = broadcast.whole();
        try {
            SealedBuffer outgoing = settings.policy().outgoing(whole);
            try {
                if (outgoing.byteSize() != broadcast.total) {
                    throw new IllegalStateException("policy gives another message: length=" + outgoing.byteSize()
                            + " expected=" + broadcast.total);
                }
                Object tag = child.tagOfSends();
                return ChildSend.whole(this, broadcast, tag == null ? outgoing : outgoing.move(tag), child);
            } catch (Throwable failure) {
                if (outgoing != null) {
                    context.close(outgoing);
                }
                throw failure;
            }
        } finally {
            // the send has its own
            context.close(whole);
        }
    }

    /// A child has confirmed: all below it have the broadcast.
    void onConfirmed(Broadcast broadcast, Frame frame, SealedBuffer body, int from) throws IOException {
        Optional<ChildSend> sent = broadcast.waiting.get(from);
        if (sent == null) {
            return;
        }
        int reached = frame.tag();
        if (reached == Confirmations.AGAIN) {
            if (sent.isPresent() && sent.get().lane != PendingSend.NO_LANE) {
                // once for all that is said until then
                sent.get().again = true;
            } else {
                again(broadcast, sent, from);
            }
            return;
        }
        List<Integer> failed;
        int below;
        try {
            failed = ranks(body, from, frame.origin());
            below = tree.below(from, frame.origin());
        } catch (RuntimeException | Error wrong) {
            // the confirmation does not come again
            failed(broadcast, from, wrong);
            progress.onStep(broadcast);
            return;
        }
        if (reached < 0 || reached + failed.size() < 1 || reached + failed.size() > below) {
            throw new IOException("confirmed for nodes that there are not: reached=" + reached + " failed="
                    + failed.size() + " below=" + below);
        }
        broadcast.waiting.remove(from);
        settle(sent);
        broadcast.confirmed(reached, failed);
        if (below > 1 && (failed.isEmpty() ? reached == 1 : reached == 0 && failed.equals(List.of(from)))) {
            // it speaks for itself only
            askChildren(broadcast, from);
        }
        progress.onStep(broadcast);
    }

    private void again(Broadcast broadcast, Optional<ChildSend> sent, int to) {
        settle(sent);
        handAgain(broadcast, peers.peer(to));
        progress.onStep(broadcast);
    }

    /// A child has a broadcast: what has waited for that goes now.
    @Override
    public void onAcknowledged(ChildSend send) {
        Broadcast of = send.of;
        if (send.again && progress.isActive(of)) {
            Optional<ChildSend> sent = of.waiting.getOrDefault(send.peer.rank(), Optional.empty());
            if (sent.isPresent() && sent.get() == send) {
                again(of, sent, send.peer.rank());
            }
        }
    }

    private List<Integer> ranks(SealedBuffer body, int child, int origin) throws IOException {
        if (body.byteSize() % Integer.BYTES != 0 || body.byteSize() > (long) Integer.BYTES * settings.size()) {
            throw new IOException("not a list of ranks: bytes=" + body.byteSize());
        }
        List<Integer> ranks = new ArrayList<>();
        for (BufferReader in = BufferReader.of(body); in.hasRemaining(); ) {
            int rank = in.getInt();
            if (rank < 0 || rank >= settings.size() || rank != child && !tree.isBelow(rank, child, origin)) {
                throw new IOException("not a rank below the child: rank=" + rank + " child=" + child + " origin="
                        + origin + " nodes=" + settings.size());
            }
            ranks.add(rank);
        }
        return ranks;
    }

    /// A child does not take a broadcast.
    @Override
    public void onRefused(ChildSend send, String why) {
        // not while the broadcast asks its children
        context.onLoop(() -> refused(send, why));
    }

    private void refused(ChildSend send, String why) {
        NodeLog.LOG.log(
                Level.WARNING,
                "broadcast is refused: rank=" + settings.rank() + " child=" + send.peer.rank() + " reason=" + why);
        if (progress.isActive(send.of)) {
            pass(send.of, send.peer.rank());
        }
    }

    /// A child is given up: its children are this node's now.
    void pass(Broadcast broadcast, int child) {
        Optional<ChildSend> send = broadcast.waiting.remove(child);
        if (send != null) {
            settle(send);
            broadcast.failed(child);
            askChildren(broadcast, child);
            progress.onStep(broadcast);
        }
    }

    /// The head of a lane that waits for bytes to land, while others wait for it: it is sent when there is more.
    @Override
    public void onGiveWay(ChildSend send) {
        Broadcast of = send.of;
        if (of.waiting.getOrDefault(send.peer.rank(), Optional.empty()).orElse(null) == send) {
            of.waiting.put(send.peer.rank(), Optional.empty());
        }
        send.peer.forget(send);
    }

    /// A send to a child that is over: its quota may go, and what shares the broadcast's bytes.
    private static void settle(Optional<ChildSend> sent) {
        if (sent.isEmpty()) {
            return;
        }
        ChildSend send = sent.get();
        if (send.isLanding()) {
            send.peer.forget(send);
        }
        send.giveRoom();
    }

    /// A broadcast is dropped: no child gets more of it.
    void release(Broadcast broadcast) {
        broadcast
                .waiting
                .values()
                .forEach(sent -> sent.ifPresent(send -> {
                    send.peer.forget(send);
                    send.giveRoom();
                }));
        broadcast.waiting.clear();
        broadcast.letGo(context::close);
    }
}
