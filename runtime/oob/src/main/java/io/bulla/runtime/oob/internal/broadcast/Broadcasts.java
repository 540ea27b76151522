// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.handlers.Handlers;
import io.bulla.runtime.oob.internal.peer.BroadcastSink;
import io.bulla.runtime.oob.internal.peer.PeerTable;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The broadcasts that pass through a node, its own and those of others.
///
/// A node hands a broadcast on to its children in the origin's tree ([Relay]), fragment by fragment while it lands,
/// and keeps it until each has confirmed that all below it have it; then it confirms to its own parents
/// ([Confirmations]). A child that fails before is replaced by its own children: the nearest living ancestor sends to
/// them directly. What arrives again is dropped by origin, session and number, and its sender still hears the
/// confirmation.
///
/// What is kept is charged to the peer that sent it ([BroadcastCharge]), so a relay holds no more than it grants.
/// One event loop's, but for the counter and the names.
public final class Broadcasts implements BroadcastSink, Relay.Progress {

    private record From(int peer, int lane) {}

    private final LoopContext context;
    private final Settings settings;
    private final BroadcastTree tree;
    private final OriginChecks origins;
    private final Relay relay;
    private final Confirmations confirmations;
    private final LocalDelivery delivery;
    private final SeenBroadcasts seen = new SeenBroadcasts();
    private final long session;
    private final Map<BroadcastKey, Broadcast> active = new LinkedHashMap<>();
    // what each peer began last in each lane
    private final Map<From, BroadcastKey> begunBy = new HashMap<>();
    // volatile: one step; a signature needs the number before the loop has the broadcast
    private final AtomicLong lastNumber = new AtomicLong();

    public Broadcasts(LoopContext context, PeerTable peers, Handlers handlers) {
        this.context = context;
        this.settings = context.settings();
        this.tree = new BroadcastTree(settings.routing(), settings.size());
        this.session = settings.environment().name();
        this.origins = new OriginChecks(settings, new OriginCheck.Surround(context::onLoop, context::close));
        this.relay = new Relay(context, tree, peers, this);
        this.confirmations = new Confirmations(peers, settings.rank(), seen);
        this.delivery = new LocalDelivery(settings.rank(), handlers, origins, seen, this::onStep);
    }

    public OriginChecks origins() {
        return origins;
    }

    /// Names a broadcast of this node's own. Any thread.
    public BroadcastKey newKey() {
        return new BroadcastKey(settings.rank(), session, lastNumber.incrementAndGet());
    }

    BroadcastTree tree() {
        return tree;
    }

    /// Any thread.
    public long sends() {
        return relay.sends();
    }

    /// Confirmations that parents have not acknowledged.
    public int owed() {
        return confirmations.owed();
    }

    public boolean isDrained() {
        return active.isEmpty();
    }

    @Override
    public boolean isActive(Broadcast broadcast) {
        return active.get(broadcast.key) == broadcast;
    }

    /// A broadcast of this node's own.
    public void begin(OwnBroadcast own) {
        Broadcast broadcast =
                new Broadcast(own.key, own.tag, own.options, own.isSigned(), own.bytes, own.result, context.now());
        broadcast.land(0, Objects.requireNonNull(own.handle, "handle"));
        own.handle = null;
        active.put(broadcast.key, broadcast);
        try {
            relay.begin(broadcast, own);
        } catch (Throwable noHandle) {
            drop(broadcast);
            own.result.completeExceptionally(noHandle);
            return;
        }
        onStep(broadcast);
    }

    @Override
    public int depth(int origin) {
        return tree.depth(settings.rank(), origin);
    }

    /// As [#depth], or that of a node below the origin if the user's routing fails: what has arrived is in hand,
    /// and confirmed in any case.
    private int depthOfArrived(int origin) {
        try {
            return depth(origin);
        } catch (Throwable wrong) {
            NodeLog.failed(Trouble.ROUTING_OF_ORIGIN, settings.rank(), origin, wrong);
            return 0;
        }
    }

    @Override
    public void checkFrom(Frame frame, int from) throws IOException {
        if (!tree.isBelow(settings.rank(), from, frame.origin())) {
            throw new IOException("broadcast from a node that is not above: peer=" + from + " origin=" + frame.origin()
                    + " rank=" + settings.rank());
        }
    }

    @Override
    public void onFragment(Frame frame, SealedBuffer body, Sender from, Credit credit) {
        boolean last = frame.offset() + frame.length() == frame.total();
        BroadcastKey key = new BroadcastKey(frame.origin(), frame.session(), frame.number());
        Broadcast broadcast = active.get(key);
        if (broadcast != null && broadcast.total != frame.total()) {
            if (frame.offset() > 0 || !broadcast.isAbandoned()) {
                body.close();
                if (last) {
                    from.consumed(credit, Credit.charge(frame.total()));
                    differs(broadcast, frame, from.rank());
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
                    confirmations.confirmAgain(key, from.rank());
                }
                return;
            }
            broadcast = begin(key, frame);
        }
        land(broadcast, frame, body, from, last ? credit : null);
        if (!last && frame.offset() == 0) {
            began(key, from.rank(), frame.lane());
        }
    }

    /// A peer sends the parts of one broadcast at a time in a lane. What it began before and sends no more, over this
    /// connection or another one, is charged to no credit: there is one of these at most.
    private void began(BroadcastKey key, int peer, int lane) {
        BroadcastKey before = begunBy.put(new From(peer, lane), key);
        Broadcast left = before == null || before.equals(key) ? null : active.get(before);
        if (left != null && !left.isWhole() && Set.of(peer).containsAll(left.parents)) {
            giveUp(left);
        }
    }

    /// @param whole what the message holds, if this is the last of it from this peer; or `null`
    private void land(Broadcast broadcast, Frame frame, SealedBuffer body, Sender from, @Nullable Credit whole) {
        if (whole != null) {
            int depth = depthOfArrived(broadcast.key.origin());
            broadcast.charge.add(from, whole, Credit.charge(frame.total()), depth);
        }
        broadcast.parents.add(from.rank());
        if (broadcast.land(frame.offset(), body)) {
            broadcast.landedAt = context.loopTime();
            if (broadcast.isWhole()) {
                relay.handOnWhole(broadcast);
                delivery.deliver(broadcast);
            }
            relay.handOn(broadcast);
        } else if (whole != null && !broadcast.isWhole()) {
            confirmations.askAgain(broadcast.key, from.rank());
        }
        onStep(broadcast);
    }

    /// One that comes from a parent.
    private Broadcast begin(BroadcastKey key, Frame frame) {
        SendOptions options = frame.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
        Broadcast broadcast =
                new Broadcast(key, frame.tag(), options, frame.signed(), frame.total(), null, context.now());
        broadcast.landedAt = context.loopTime();
        active.put(key, broadcast);
        return broadcast;
    }

    /// A parent has finished, and the copy that is here has another length: one of the two lies.
    private void differs(Broadcast broadcast, Frame frame, int from) {
        if (broadcast.isWhole() && !broadcast.checking) {
            confirmations.refuse(broadcast.key, from);
        } else {
            broadcast.differs(from, frame, context.loopTime());
        }
    }

    private void drop(Broadcast broadcast) {
        active.remove(broadcast.key);
        relay.release(broadcast);
    }

    /// No parent sends the rest of a copy. If one has finished one of another length, that one is next, and no other
    /// parent's can come before it.
    private void giveUp(Broadcast broadcast) {
        context.debug("broadcast is given up: origin=" + broadcast.key.origin() + " landed=" + broadcast.landed()
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
            confirmations.askAgain(next.key, parent);
        });
    }

    @Override
    public void onInterrupted(Frame begun, Sender from, Credit credit, long landed) {
        Broadcast broadcast = active.get(new BroadcastKey(begun.origin(), begun.session(), begun.number()));
        if (broadcast == null || broadcast.total != begun.total()) {
            from.consumed(credit, Credit.charge(landed));
            return;
        }
        // what has landed is kept, for the next who sends it
        begunBy.remove(new From(from.rank(), begun.lane()), broadcast.key);
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

    @Override
    public void onConfirmed(Frame frame, SealedBuffer body, int from) throws IOException {
        Broadcast broadcast = active.get(new BroadcastKey(frame.origin(), frame.session(), frame.number()));
        if (broadcast != null) {
            relay.onConfirmed(broadcast, frame, body, from);
        }
    }

    @Override
    public void onSessionOver(int peer) {
        confirmations.forget(peer);
    }

    /// The verdict on a peer: its children are this node's now.
    public void peerFailed(int rank) {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            broadcast.differing.remove(rank);
            leaves(broadcast, rank);
            relay.pass(broadcast, rank);
        }
    }

    /// Gives up what is not whole and has not grown for long.
    public void tick(long loopTime) {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            if (!broadcast.isWhole() && loopTime - broadcast.waitsSince() > 2 * settings.peerTimeoutNanos()) {
                giveUp(broadcast);
            }
        }
    }

    @Override
    public void onStep(Broadcast broadcast) {
        if (broadcast.checking
                || !broadcast.isWhole()
                || !broadcast.waiting.isEmpty()
                || active.remove(broadcast.key) == null) {
            return;
        }
        broadcast.letGo(context::close);
        if (broadcast.result == null) {
            confirmations.confirm(broadcast);
        } else {
            Broadcast.Outcome outcome = broadcast.outcome();
            broadcast.result.complete(
                    new BroadcastResult(outcome.reached(), outcome.failed(), context.now() - broadcast.started));
        }
    }

    /// This node closes.
    public void close() {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            try {
                relay.release(broadcast);
            } catch (Throwable failure) {
                NodeLog.failed(Trouble.BROADCAST_NOT_LET_GO, settings.rank(), broadcast.tag, failure);
            }
            if (broadcast.result != null) {
                broadcast.result.completeExceptionally(
                        context.failures().peerFailed(settings.rank(), "this node is closed"));
            }
        }
        active.clear();
    }
}
