// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/// The broadcasts that pass through a node, its own and those of others.
///
/// A node hands a broadcast on to its children in the origin's tree, fragment by fragment while it lands, and
/// keeps it until each has confirmed that all below it have it. A child that fails before is replaced by its
/// own children: the nearest living ancestor sends to them directly. What arrives again is dropped by origin,
/// session and number, and its sender still hears the confirmation.
///
/// What is kept is charged to the peer that sent it ([BroadcastCharge]), so a relay holds no more than it grants.
/// One event loop's, but for the counter and the names.
final class Broadcasts {

    private static final Logger LOG = NodeLog.LOG;
    private static final ValueLayout.OfInt BIG_INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    /// `reached` of a confirmation that says: not taken, send it from byte 0.
    private static final int AGAIN = -1;

    private final NodeLoop nodeLoop;
    private final Settings settings;
    private final BroadcastTree tree;
    private final OriginChecks origins;
    private final long session;
    private final Map<BroadcastKey, Broadcast> active = new LinkedHashMap<>();
    private final Outcomes outcomes = new Outcomes();
    private final SeenBroadcasts seen = new SeenBroadcasts();
    private final LongAdder sends = new LongAdder();
    // volatile: one step; a signature needs the number before the loop has the broadcast
    private final AtomicLong lastNumber = new AtomicLong();

    Broadcasts(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
        this.settings = nodeLoop.settings();
        this.tree = new BroadcastTree(settings.routing(), settings.size());
        this.session = settings.surroundings().name();
        this.origins = new OriginChecks(settings, new OriginCheck.Surround(nodeLoop::onLoop, nodeLoop::close));
    }

    OriginChecks origins() {
        return origins;
    }

    /// Names a broadcast of this node's own. Any thread.
    BroadcastKey newKey() {
        return new BroadcastKey(settings.rank(), session, lastNumber.incrementAndGet());
    }

    BroadcastTree tree() {
        return tree;
    }

    long sends() {
        return sends.sum();
    }

    boolean isDrained() {
        return active.isEmpty();
    }

    /// A broadcast of this node's own.
    void begin(BroadcastSend own) {
        CompletableFuture<BroadcastResult> result = Objects.requireNonNull(own.result, "result");
        Broadcast broadcast =
                new Broadcast(own.key, own.tag, own.options, own.isSigned(), own.bytes, result, nodeLoop.now());
        broadcast.land(0, Objects.requireNonNull(own.handle, "handle"));
        own.handle = null;
        active.put(broadcast.key, broadcast);
        own.rooms();
        int asked = 0;
        try {
            for (; asked < own.children.length; asked++) {
                Peer child = nodeLoop.peer(own.children[asked]);
                if (broadcast.ask(child.rank())) {
                    ask(broadcast, child, true);
                } else {
                    child.quota.give(1, own.bytes);
                }
            }
        } catch (Throwable noHandle) {
            for (int left = asked; left < own.children.length; left++) {
                nodeLoop.peer(own.children[left]).quota.give(1, own.bytes);
            }
            active.remove(broadcast.key);
            release(broadcast);
            result.completeExceptionally(noHandle);
            return;
        }
        endIfDone(broadcast);
    }

    /// The class of credit of what comes down from an origin.
    int depth(int origin) {
        return tree.depth(settings.rank(), origin);
    }

    /// As [#depth], or that of a node below the origin if the user's routing fails: what has arrived is in hand,
    /// and confirmed in any case.
    private int depthOfArrived(int origin) {
        try {
            return depth(origin);
        } catch (Throwable wrong) {
            NodeLog.failed("routing failed", settings.rank(), "origin", origin, wrong);
            return 0;
        }
    }

    /// Before memory is taken: whether a broadcast may come from a peer. Relays are trusted with what they hand
    /// on, so it has to be one: the origin or a node between.
    ///
    /// @throws IOException if not
    void checkFrom(Frame frame, Peer from) throws IOException {
        if (!tree.isBelow(settings.rank(), from.rank(), frame.origin())) {
            throw new IOException("broadcast from a node that is not above: peer=" + from.rank() + " origin="
                    + frame.origin() + " rank=" + settings.rank());
        }
    }

    /// A fragment has arrived, or a whole message, which continues what this peer has sent before; and
    /// ownership of `body`.
    void arrived(Frame frame, SealedBuffer body, Peer from, Credit credit) {
        boolean last = frame.offset() + frame.length() == frame.total();
        BroadcastKey key = new BroadcastKey(frame.origin(), frame.session(), frame.number());
        Broadcast broadcast = active.get(key);
        if (broadcast != null && broadcast.total != frame.total()) {
            if (frame.offset() > 0 || !broadcast.isAbandoned()) {
                body.close();
                if (last) {
                    from.consumed(credit, Credit.charge(frame.total()));
                    differs(broadcast, frame, from);
                }
                return;
            }
            drop(broadcast);
            broadcast = null;
        }
        if (broadcast == null) {
            if (seen.contains(key) || frame.offset() > 0) {
                body.close();
                if (last) {
                    from.consumed(credit, Credit.charge(frame.total()));
                    confirmAgain(key, from);
                }
                return;
            }
            broadcast = begin(key, frame);
        }
        if (last) {
            broadcast.charge.add(from, credit, Credit.charge(frame.total()), depthOfArrived(key.origin()));
        }
        broadcast.parents.add(from.rank());
        if (broadcast.land(frame.offset(), body)) {
            broadcast.landedAt = nodeLoop.awake();
            handOn(broadcast);
        } else if (last && !broadcast.isWhole()) {
            confirm(key, new Broadcast.Outcome(AGAIN, List.of()), from);
        }
        endIfDone(broadcast);
    }

    /// One that comes from a parent.
    private Broadcast begin(BroadcastKey key, Frame frame) {
        SendOptions options = frame.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
        Broadcast broadcast =
                new Broadcast(key, frame.tag(), options, frame.signed(), frame.total(), null, nodeLoop.now());
        broadcast.landedAt = nodeLoop.awake();
        active.put(key, broadcast);
        return broadcast;
    }

    /// A parent has finished, and the copy that is here has another length: one of the two lies.
    private void differs(Broadcast broadcast, Frame frame, Peer from) {
        if (broadcast.isWhole() && !broadcast.checking) {
            confirm(broadcast.key, notTaken(), from);
        } else {
            broadcast.differs(from.rank(), frame, nodeLoop.awake());
        }
    }

    private void drop(Broadcast broadcast) {
        active.remove(broadcast.key);
        release(broadcast);
    }

    /// Nobody sends the rest of a copy. If a parent has finished one of another length, that one is next, and nobody
    /// else's can come before it.
    private void giveUp(Broadcast broadcast) {
        nodeLoop.debug("broadcast is given up: origin=" + broadcast.key.origin() + " landed=" + broadcast.landed()
                + " total=" + broadcast.total);
        drop(broadcast);
        if (broadcast.differing.isEmpty()) {
            return;
        }
        Broadcast next =
                begin(broadcast.key, broadcast.differing.values().iterator().next());
        broadcast.differing.forEach((parent, frame) -> {
            if (frame.total() == next.total) {
                next.parents.add(parent);
            }
            confirm(next.key, new Broadcast.Outcome(AGAIN, List.of()), nodeLoop.peer(parent));
        });
    }

    private void handOn(Broadcast broadcast) {
        if (broadcast.isWhole()) {
            if (!isCutThrough()) {
                askChildren(broadcast, settings.rank());
            }
            deliver(broadcast);
        }
        if (isCutThrough() && !broadcast.handedOn) {
            broadcast.handedOn = true;
            askChildren(broadcast, settings.rank());
        }
        for (Map.Entry<Integer, Optional<BroadcastSend>> child : List.copyOf(broadcast.waiting.entrySet())) {
            if (child.getValue().isEmpty()) {
                handAgain(broadcast, nodeLoop.peer(child.getKey()));
            } else {
                child.getValue().get().peer.pump();
            }
        }
    }

    /// To the handlers; if it is signed, their call and the confirmation wait for the check.
    private void deliver(Broadcast broadcast) {
        OriginChecks.Opened opened;
        try {
            opened = open(broadcast);
        } catch (IOException wrong) {
            refuse(broadcast, String.valueOf(wrong.getMessage()));
            return;
        } catch (Throwable noHandle) {
            NodeLog.failed("broadcast failed", settings.rank(), "tag", broadcast.tag, noHandle);
            seen.add(broadcast.key);
            broadcast.missed(settings.rank());
            return;
        }
        OriginCheck check = opened.check();
        if (check == null) {
            seen.add(broadcast.key);
        } else {
            broadcast.checking = true;
            origins.start(check);
        }
        Message message =
                new Message(broadcast.key.origin(), broadcast.tag, broadcast.options.format(), opened.bytes());
        nodeLoop.dispatch(message, broadcast.charge.share(), check);
    }

    private OriginChecks.Opened open(Broadcast broadcast) throws IOException {
        if (!broadcast.signed) {
            origins.checkUnsigned();
            return new OriginChecks.Opened(broadcast.whole(), null);
        }
        try (SealedBuffer whole = broadcast.whole()) {
            return origins.open(
                    broadcast.key, broadcast.tag, broadcast.options, whole, wrong -> checked(broadcast, wrong));
        }
    }

    private void refuse(Broadcast broadcast, String why) {
        origins.refused(broadcast.key, broadcast.tag, why);
        broadcast.refuse(settings.rank());
    }

    /// It is known whether a broadcast is its origin's.
    ///
    /// @param wrong why it is not
    private void checked(Broadcast broadcast, Optional<String> wrong) {
        if (active.get(broadcast.key) != broadcast) {
            // this node is closed
            return;
        }
        broadcast.checking = false;
        if (wrong.isEmpty()) {
            seen.add(broadcast.key);
        } else {
            refuse(broadcast, wrong.get());
        }
        endIfDone(broadcast);
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
            NodeLog.failed("routing failed", settings.rank(), "of", of, wrong);
            allFailedBelow(broadcast, of);
            return;
        }
        for (int child : children) {
            if (child != settings.rank() && child != broadcast.key.origin() && broadcast.ask(child)) {
                try {
                    ask(broadcast, nodeLoop.peer(child), false);
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
            NodeLog.failed("routing failed again", settings.rank(), "of", top, wrong);
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
        NodeLog.failed("broadcast failed", settings.rank(), "child", child, why);
        Optional<BroadcastSend> sent = broadcast.waiting.remove(child);
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
                child.quota.give(1, broadcast.total);
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
        BroadcastSend send = sendTo(broadcast, child);
        send.depth = (byte) depth;
        if (broadcast.result != null) {
            // a relay's are charged to who sent them
            if (!hasRoom) {
                child.quota.take(send.bytes);
            }
            send.hasRoom = true;
        }
        broadcast.waiting.put(child.rank(), Optional.of(send));
        start(send);
    }

    private BroadcastSend sendTo(Broadcast broadcast, Peer child) {
        if (!broadcast.isWhole()) {
            return BroadcastSend.landing(broadcast, child);
        }
        try (SealedBuffer whole = broadcast.whole()) {
            SealedBuffer outgoing = settings.policy().outgoing(whole);
            try {
                if (outgoing.byteSize() != broadcast.total) {
                    throw new IllegalStateException("policy gives another message: length=" + outgoing.byteSize()
                            + " expected=" + broadcast.total);
                }
                Object tag = child.tags.to();
                return BroadcastSend.whole(broadcast, tag == null ? outgoing : outgoing.move(tag), child);
            } catch (Throwable failure) {
                if (outgoing != null) {
                    nodeLoop.close(outgoing);
                }
                throw failure;
            }
        }
    }

    private void start(PendingSend send) {
        if (send.peer.enqueue(send)) {
            send.peer.pump();
        }
    }

    /// The message that a peer was sending will not be continued by it.
    ///
    /// @param landed bytes of it that have come
    void interrupted(Frame begun, Peer from, Credit credit, long landed) {
        Broadcast broadcast = active.get(new BroadcastKey(begun.origin(), begun.session(), begun.number()));
        if (broadcast == null) {
            from.consumed(credit, Credit.charge(landed));
            return;
        }
        if (broadcast.total != begun.total()) {
            from.consumed(credit, Credit.charge(landed));
            return;
        }
        // what has landed is kept, for the next who sends it
        broadcast.charge.add(from, credit, Credit.charge(landed), depthOfArrived(begun.origin()));
        leaves(broadcast, from.rank());
    }

    /// A parent sends no more of a broadcast.
    private void leaves(Broadcast broadcast, int parent) {
        broadcast.parents.remove(parent);
        if (broadcast.isAbandoned() && !broadcast.differing.isEmpty()) {
            giveUp(broadcast);
        }
    }

    /// A child has confirmed: all below it have the broadcast.
    void confirmed(Frame frame, SealedBuffer body, Peer from) throws IOException {
        Broadcast broadcast = active.get(new BroadcastKey(frame.origin(), frame.session(), frame.number()));
        Optional<BroadcastSend> sent = broadcast == null ? null : broadcast.waiting.get(from.rank());
        if (broadcast == null || sent == null) {
            return;
        }
        int reached = frame.tag();
        if (reached == AGAIN) {
            if (sent.isPresent() && sent.get().lane != null) {
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
            failed = ranks(body, from.rank(), frame.origin());
            below = tree.below(from.rank(), frame.origin());
        } catch (RuntimeException | Error wrong) {
            // the confirmation does not come again
            failed(broadcast, from.rank(), wrong);
            endIfDone(broadcast);
            return;
        }
        if (reached < 0 || reached + failed.size() < 1 || reached + failed.size() > below) {
            throw new IOException("confirmed for nodes that there are not: reached=" + reached + " failed="
                    + failed.size() + " below=" + below);
        }
        if (reached == 0 && below > 1 && failed.equals(List.of(from.rank()))) {
            // it speaks for itself only
            pass(broadcast, from.rank());
            return;
        }
        broadcast.waiting.remove(from.rank());
        settle(sent);
        broadcast.confirmed(reached, failed);
        endIfDone(broadcast);
    }

    private void again(Broadcast broadcast, Optional<BroadcastSend> sent, Peer to) {
        settle(sent);
        handAgain(broadcast, to);
        endIfDone(broadcast);
    }

    /// A peer has a broadcast, or a confirmation: what has waited for that goes now.
    void acknowledged(BroadcastSend send) {
        if (send.following != null) {
            confirm(send.key, send.following, send.peer);
        }
        Broadcast of = send.of;
        if (send.again && of != null && active.get(of.key) == of) {
            Optional<BroadcastSend> sent = of.waiting.getOrDefault(send.peer.rank(), Optional.empty());
            if (sent.isPresent() && sent.get() == send) {
                again(of, sent, send.peer);
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

    /// The verdict on a peer: its children are this node's now.
    void peerFailed(int rank) {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            broadcast.differing.remove(rank);
            leaves(broadcast, rank);
            pass(broadcast, rank);
        }
    }

    /// A child does not take a broadcast.
    void refused(BroadcastSend send, String why) {
        LOG.log(
                Level.WARNING,
                "broadcast is refused: rank=" + settings.rank() + " child=" + send.peer.rank() + " reason=" + why);
        Broadcast of = Objects.requireNonNull(send.of, "broadcast");
        if (active.get(of.key) == of) {
            pass(of, send.peer.rank());
        }
    }

    private void pass(Broadcast broadcast, int child) {
        Optional<BroadcastSend> send = broadcast.waiting.remove(child);
        if (send != null) {
            settle(send);
            broadcast.failed(child);
            askChildren(broadcast, child);
            endIfDone(broadcast);
        }
    }

    /// The head of a lane that waits for bytes to land, while others wait for it: it is sent when there is more.
    void giveWay(BroadcastSend send) {
        Broadcast of = Objects.requireNonNull(send.landing, "broadcast");
        if (of.waiting.getOrDefault(send.peer.rank(), Optional.empty()).orElse(null) == send) {
            of.waiting.put(send.peer.rank(), Optional.empty());
        }
        send.peer.forget(send);
    }

    /// Gives up what is not whole and has not grown for long.
    void tick(long awake) {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            if (!broadcast.isWhole() && awake - broadcast.waitsSince() > 2 * settings.peerTimeoutNanos()) {
                giveUp(broadcast);
            }
        }
    }

    /// A send to a child that is over: its quota may go, and what shares the broadcast's bytes.
    private void settle(Optional<BroadcastSend> sent) {
        if (sent.isEmpty()) {
            return;
        }
        BroadcastSend send = sent.get();
        if (send.isLanding()) {
            send.peer.forget(send);
        }
        nodeLoop.giveRoom(send);
    }

    private void release(Broadcast broadcast) {
        broadcast
                .waiting
                .values()
                .forEach(sent -> sent.ifPresent(send -> {
                    send.peer.forget(send);
                    nodeLoop.giveRoom(send);
                }));
        broadcast.waiting.clear();
        broadcast.letGo(nodeLoop::close);
    }

    private void endIfDone(Broadcast broadcast) {
        if (broadcast.checking) {
            return;
        }
        if (!broadcast.isWhole() || !broadcast.waiting.isEmpty() || active.remove(broadcast.key) == null) {
            return;
        }
        broadcast.letGo(nodeLoop::close);
        Broadcast.Outcome outcome = broadcast.outcome();
        if (broadcast.result != null) {
            broadcast.result.complete(
                    new BroadcastResult(outcome.reached(), outcome.failed(), nodeLoop.now() - broadcast.started));
            return;
        }
        if (!broadcast.refused) {
            outcomes.put(broadcast.key, outcome.reached(), outcome.failed());
        }
        for (int parent : broadcast.parents) {
            confirm(broadcast.key, outcome, nodeLoop.peer(parent));
        }
        for (int parent : broadcast.differing.keySet()) {
            // of one that was not its origin's, another may be
            confirm(
                    broadcast.key,
                    broadcast.refused ? new Broadcast.Outcome(AGAIN, List.of()) : notTaken(),
                    nodeLoop.peer(parent));
        }
    }

    /// What was done long ago, or given up, has arrived to its end.
    private void confirmAgain(BroadcastKey key, Peer to) {
        Outcomes.Kept kept = outcomes.get(key);
        Broadcast.Outcome known;
        if (kept != null) {
            known = new Broadcast.Outcome(kept.reached(), kept.failed());
        } else {
            known = seen.isForgotten(key)
                    ? notTaken()
                    : new Broadcast.Outcome(seen.contains(key) ? 1 : AGAIN, List.of());
        }
        confirm(key, known, to);
    }

    /// This node has not taken it, or does not know: those below it are the parent's.
    private Broadcast.Outcome notTaken() {
        return new Broadcast.Outcome(0, List.of(settings.rank()));
    }

    /// A parent has one confirmation of a broadcast on its way, and the newest waits for that one.
    private void confirm(BroadcastKey key, Broadcast.Outcome outcome, Peer to) {
        BroadcastSend before = to.confirmation(key);
        if (before != null) {
            before.following = outcome;
            return;
        }
        BroadcastSend confirmation = BroadcastSend.done(key, outcome.reached(), bytesOf(outcome.failed()), to);
        to.confirms(confirmation);
        start(confirmation);
    }

    /// Beside the memory source: a confirmation gives memory back, so it must not wait for some.
    private static SealedBuffer bytesOf(List<Integer> ranks) {
        if (ranks.isEmpty()) {
            return SealedBuffer.concat();
        }
        MemorySegment memory = Arena.ofAuto().allocate((long) Integer.BYTES * ranks.size());
        for (int i = 0; i < ranks.size(); i++) {
            memory.setAtIndex(BIG_INT, i, ranks.get(i));
        }
        return SealedBuffer.adopt(memory, () -> {});
    }

    private PeerFailedException closed() {
        return new PeerFailedException(settings.rank(), "this node is closed", null);
    }

    /// This node closes.
    void close() {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            release(broadcast);
            if (broadcast.result != null) {
                broadcast.result.completeExceptionally(closed());
            }
        }
        active.clear();
    }
}
