// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.wire.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/// The broadcasts that pass through a node, its own and those of others.
///
/// A node hands a broadcast on to its children in the origin's tree, fragment by fragment while it lands, and
/// keeps it until each has confirmed that all below it have it. A child that fails before is replaced by its
/// own children: the nearest living ancestor sends to them directly. What arrives again is dropped by origin,
/// session and number, and its sender still hears the confirmation.
///
/// One event loop's, but for the counter.
final class Broadcasts {

    private static final int OUTCOMES = 4096;
    private static final int SESSIONS = 4;

    private final NodeLoop nodeLoop;
    private final Settings settings;
    private final long session;
    private final Map<Broadcast.Key, Broadcast> active = new LinkedHashMap<>();
    private final Map<Broadcast.Key, Broadcast.Outcome> outcomes = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Broadcast.Key, Broadcast.Outcome> eldest) {
            return size() > OUTCOMES;
        }
    };
    // numbers that were delivered, by origin and its latest sessions
    private final Map<Integer, Map<Long, SeenNumbers>> seen = new HashMap<>();
    private final LongAdder sends = new LongAdder();
    private long lastNumber;

    Broadcasts(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
        this.settings = nodeLoop.settings();
        this.session = settings.surroundings().name();
    }

    long sends() {
        return sends.sum();
    }

    boolean isDrained() {
        return active.isEmpty();
    }

    /// A broadcast of this node's own.
    void begin(BroadcastSend own) {
        Broadcast broadcast = new Broadcast(
                new Broadcast.Key(settings.rank(), session, ++lastNumber),
                own.tag,
                own.options,
                own.bytes,
                own.result,
                nodeLoop.now());
        broadcast.land(0, own.handle);
        own.handle = null;
        active.put(broadcast.key, broadcast);
        try {
            askChildren(broadcast, settings.rank());
        } catch (RuntimeException noHandle) {
            active.remove(broadcast.key);
            release(broadcast);
            own.result.completeExceptionally(noHandle);
            return;
        }
        endIfDone(broadcast);
    }

    /// A fragment has arrived, or a whole message, which continues what this peer has sent before; and
    /// ownership of `body`.
    void arrived(Frame frame, SealedBuffer body, Peer from) {
        Broadcast.Key key = new Broadcast.Key(frame.origin(), frame.session(), frame.number());
        Broadcast broadcast = active.get(key);
        if (broadcast == null) {
            if (key.origin() == settings.rank() || seenOf(key).contains(key.number())) {
                body.close();
                confirm(key, frame, from);
                return;
            }
            SendOptions options =
                    frame.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
            broadcast = new Broadcast(key, frame.tag(), options, frame.total(), null, nodeLoop.now());
            active.put(key, broadcast);
        }
        broadcast.parents.add(from.rank());
        if (broadcast.total != frame.total()) {
            body.close();
            return;
        }
        if (broadcast.land(frame.offset(), body)) {
            handOn(broadcast, from);
        }
        endIfDone(broadcast);
    }

    private void handOn(Broadcast broadcast, Peer from) {
        if (broadcast.isWhole()) {
            seenOf(broadcast.key).add(broadcast.key.number());
            if (!isCutThrough()) {
                askChildren(broadcast, settings.rank());
            }
            Message message =
                    new Message(broadcast.key.origin(), broadcast.tag, broadcast.options.format(), broadcast.whole());
            nodeLoop.dispatch(message, from);
        }
        if (isCutThrough() && !broadcast.handedOn) {
            broadcast.handedOn = true;
            askChildren(broadcast, settings.rank());
        }
        for (PendingSend send : List.copyOf(broadcast.waiting.values())) {
            send.peer.pump();
        }
    }

    /// A policy other than to share decides about whole messages.
    private boolean isCutThrough() {
        return settings.policy() == SendPolicy.SHARED;
    }

    private void askChildren(Broadcast broadcast, int of) {
        for (int child : settings.routing().children(of, broadcast.key.origin(), settings.size())) {
            if (child != settings.rank() && child != broadcast.key.origin() && broadcast.ask(child)) {
                ask(broadcast, nodeLoop.peer(child));
            }
        }
    }

    private void ask(Broadcast broadcast, Peer child) {
        PendingSend send;
        if (broadcast.isWhole()) {
            try (SealedBuffer whole = broadcast.whole()) {
                SealedBuffer outgoing = settings.policy().outgoing(whole);
                Object tag = child.tags.to();
                send = BroadcastSend.whole(broadcast, tag == null ? outgoing : outgoing.move(tag), child);
            }
        } else {
            send = BroadcastSend.landing(broadcast, child);
        }
        broadcast.waiting.put(child.rank(), send);
        sends.increment();
        start(send);
    }

    private void start(PendingSend send) {
        nodeLoop.room().take(send.peer.quota, send.bytes);
        send.hasRoom = true;
        if (send.peer.enqueue(send)) {
            send.peer.pump();
        }
    }

    /// The message that a peer was sending will not be continued by it.
    void interrupted(Frame begun, Peer from) {
        Broadcast broadcast = active.get(new Broadcast.Key(begun.origin(), begun.session(), begun.number()));
        if (broadcast != null && !broadcast.isWhole()) {
            orphan(broadcast, from.rank());
        }
    }

    /// A child has confirmed: all below it have the broadcast.
    void confirmed(Frame frame, SealedBuffer body, Peer from) throws IOException {
        Broadcast broadcast = active.get(new Broadcast.Key(frame.origin(), frame.session(), frame.number()));
        if (broadcast == null || !broadcast.waiting.containsKey(from.rank())) {
            return;
        }
        int reached = frame.tag();
        if (reached < 1 || reached >= settings.size()) {
            throw new IOException(
                    "confirmed for nodes that there are not: reached=" + reached + " nodes=" + settings.size());
        }
        List<Integer> failed = ranks(body, frame.origin());
        PendingSend send = broadcast.waiting.remove(from.rank());
        settle(send);
        broadcast.confirmed(reached, failed);
        endIfDone(broadcast);
    }

    private List<Integer> ranks(SealedBuffer body, int origin) throws IOException {
        if (body.byteSize() % Integer.BYTES != 0 || body.byteSize() > (long) Integer.BYTES * settings.size()) {
            throw new IOException("not a list of ranks: bytes=" + body.byteSize());
        }
        List<Integer> ranks = new ArrayList<>();
        for (ByteBuffer part : body.iovec().asByteBuffers()) {
            while (part.hasRemaining()) {
                int rank = part.getInt();
                if (rank < 0 || rank >= settings.size() || rank == origin) {
                    throw new IOException("not a rank below the origin: rank=" + rank + " origin=" + origin + " nodes="
                            + settings.size());
                }
                ranks.add(rank);
            }
        }
        return ranks;
    }

    /// The verdict on a peer: its children are this node's now.
    void peerFailed(int rank) {
        for (Broadcast broadcast : List.copyOf(active.values())) {
            orphan(broadcast, rank);
            PendingSend send = broadcast.waiting.remove(rank);
            if (send != null) {
                settle(send);
                broadcast.failed(rank);
                askChildren(broadcast, rank);
                endIfDone(broadcast);
            }
        }
    }

    /// A parent is gone. If it was the last one and the message is not whole, somebody has to send it anew; if
    /// nobody does, it is given up.
    private void orphan(Broadcast broadcast, int parent) {
        if (broadcast.parents.remove(parent) && broadcast.parents.isEmpty() && !broadcast.isWhole()) {
            long landed = broadcast.landed();
            nodeLoop.eventLoop()
                    .schedule(() -> giveUp(broadcast, landed), 2 * settings.peerTimeoutNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void giveUp(Broadcast broadcast, long landed) {
        if (active.get(broadcast.key) == broadcast
                && broadcast.parents.isEmpty()
                && !broadcast.isWhole()
                && broadcast.landed() == landed) {
            active.remove(broadcast.key);
            release(broadcast);
        }
    }

    /// A send that shares the broadcast's bytes, which may go with it now.
    private static void settle(PendingSend send) {
        if (send.isLanding()) {
            send.peer.forget(send);
        }
    }

    private void release(Broadcast broadcast) {
        broadcast.waiting.values().forEach(send -> send.peer.forget(send));
        broadcast.waiting.clear();
        broadcast.letGo();
    }

    private void endIfDone(Broadcast broadcast) {
        if (!broadcast.isWhole() || !broadcast.waiting.isEmpty()) {
            return;
        }
        active.remove(broadcast.key);
        broadcast.letGo();
        Broadcast.Outcome outcome = broadcast.outcome();
        if (broadcast.result != null) {
            broadcast.result.complete(
                    new BroadcastResult(outcome.reached(), outcome.failed(), nodeLoop.now() - broadcast.started));
            return;
        }
        outcomes.put(broadcast.key, outcome);
        for (int parent : broadcast.parents) {
            confirm(broadcast.key, outcome, nodeLoop.peer(parent));
        }
    }

    /// Somebody sends what was done long ago.
    private void confirm(Broadcast.Key key, Frame frame, Peer to) {
        if (frame.offset() + frame.length() == frame.total()) {
            confirm(key, outcomes.getOrDefault(key, new Broadcast.Outcome(1, List.of())), to);
        }
    }

    private void confirm(Broadcast.Key key, Broadcast.Outcome outcome, Peer to) {
        BufferBuilder ranks = BufferBuilder.ofCapacity(
                settings.source(), Math.max(1, Integer.BYTES * outcome.failed().size()));
        try (ranks) {
            outcome.failed().forEach(ranks::putInt);
            start(BroadcastSend.done(key, outcome.reached(), ranks.seal(), to));
        }
    }

    private SeenNumbers seenOf(Broadcast.Key key) {
        Map<Long, SeenNumbers> sessions = seen.computeIfAbsent(key.origin(), origin -> new LinkedHashMap<>());
        SeenNumbers numbers = sessions.computeIfAbsent(key.session(), s -> new SeenNumbers());
        if (sessions.size() > SESSIONS) {
            Iterator<Long> oldest = sessions.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        return numbers;
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
