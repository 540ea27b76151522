// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.buffer.internal.FlightGate;
import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.connection.MemoryShortage;
import io.bulla.runtime.oob.internal.core.Deadlines;
import io.bulla.runtime.oob.internal.core.FlightEvents;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.SendList;
import io.bulla.runtime.oob.internal.session.Session;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// What goes to one peer: it is queued in the session's lanes, written by the carrier, and completed when the peer
/// acknowledges. One event loop's.
final class Outbound {

    private final PeerCore core;
    private final LoopContext context;
    private final Session session;
    private final MemoryShortage shortage;
    private final Seeker seeker;
    private final BroadcastSink broadcasts;
    private final Consumer<PendingSend> collect = this::collect;
    private final SendList acknowledged = new SendList();
    private long roomMessages;
    private long roomBytes;
    // over which the peer has rejected a message since its last RESUME
    private @Nullable Carrier rejected;
    // as the peer's hello says; before one, it is taken for one that takes all but what is signed
    private long limit = Long.MAX_VALUE;
    private long features = -1;
    private long lastOrder;
    private boolean dirty;
    // what is landing at the head of the lane, and how much of it was here at the last look
    private @Nullable PendingSend landing;
    private long landed;
    // by topic
    private final Map<Integer, byte[]> notices = new TreeMap<>();

    Outbound(PeerCore core, MemoryShortage shortage, Seeker seeker, BroadcastSink broadcasts) {
        this.core = core;
        this.context = core.context;
        this.session = core.session;
        this.shortage = shortage;
        this.seeker = seeker;
        this.broadcasts = broadcasts;
    }

    /// Queues a send; [#pump] writes it.
    ///
    /// @return true if the peer has to be pumped and was not noted for it yet
    boolean enqueue(PendingSend send) {
        if (Deadlines.has(send.options)) {
            long left = Deadlines.nanos(send.options.deadline().get()) - send.ageNanos(context.now());
            send.deadline = context.eventLoop().schedule(() -> onDeadline(send), left, TimeUnit.NANOSECONDS);
        }
        if (!takes(send)) {
            refuse(send, notTaken(send));
            return false;
        }
        send.order = ++lastOrder;
        session.laneOf(send, context.settings().fragment()).add(send);
        if (!core.isConnected()) {
            seeker.seek();
            return false;
        }
        boolean first = !dirty;
        dirty = true;
        return first;
    }

    private void onDeadline(PendingSend send) {
        send.fail(send.late());
        forget(send);
    }

    private boolean takes(PendingSend send) {
        return !isOverLimit(send) && (!send.isSigned() || (features & Hello.SIGNED_BROADCASTS) != 0);
    }

    /// The limit is one of messages: a confirmation is bounded by the number of nodes.
    private boolean isOverLimit(PendingSend send) {
        return send.bytes > limit && send.kind != Frame.Kind.CONFIRM;
    }

    private String notTaken(PendingSend send) {
        return isOverLimit(send)
                ? "message over the receiver's limit: length=" + send.bytes + " limit=" + limit
                : "receiver does not know signed broadcasts: features=" + features;
    }

    /// What a cut has in the lanes. Before this node listens.
    void restore(List<NodeCut.OfLane> cut, List<List<PendingSend>> lanes) {
        session.restore(cut, lanes);
        lanes.forEach(sends -> sends.forEach(this::takeRoom));
    }

    private void takeRoom(PendingSend restored) {
        lastOrder = Math.max(lastOrder, restored.order);
        if (!restored.skipped) {
            core.quota.take(restored.bytes);
            restored.hasRoom = true;
        }
    }

    /// Says something as soon as the connection takes it, in place of an older word of the topic.
    void notice(int topic, byte[] text) {
        notices.put(topic, text);
        if (core.isConnected()) {
            pump();
        } else {
            seeker.seek();
        }
    }

    boolean hasNotices() {
        return !notices.isEmpty();
    }

    /// @return whether there was something
    boolean writeNotices(Connection out) {
        boolean some = !notices.isEmpty();
        notices.forEach(out::notice);
        notices.clear();
        return some;
    }

    void pump() {
        dirty = false;
        Carrier over = core.carrier();
        if (over != null) {
            try {
                over.writer().pump();
            } catch (Throwable broken) {
                // what was half written cannot be gone on with
                over.connection().fail(broken);
            }
        }
    }

    /// A send that was completed from outside: what is not begun goes, what is begun is taken back.
    void forget(PendingSend send) {
        if (send.lane == PendingSend.NO_LANE || send.skipped) {
            return;
        }
        if (send.sequence < 0) {
            session.lane(send.lane).remove(send);
        } else {
            send.skipped = true;
        }
        over(send, "given up");
        pump();
    }

    /// It holds nothing any more.
    private void over(PendingSend send, String outcome) {
        if (FlightGate.isOpen()) {
            long age = send.ageNanos(context.now());
            FlightEvents.sent(context.rank(), core.rank, send.tag, send.bytes, send.attempts, age, outcome);
        }
        send.release();
    }

    /// A connection is to carry the session: what the peer has already, and what it does not take.
    void onCarried(Hello hello) throws IOException {
        // nor is the one before kept
        rejected = null;
        session.interrupt();
        onAcknowledged(hello.small(), hello.bulk(), hello.control());
        session.chargeRestored();
        Predicate<PendingSend> unwanted = send -> !takes(send);
        for (PendingSend over = session.first(unwanted); over != null; over = session.first(unwanted)) {
            refuse(over, notTaken(over));
        }
    }

    /// A hello says what the peer takes.
    void limits(Hello hello) {
        limit = hello.limit();
        features = hello.features();
    }

    /// The peer's acknowledgement, with the credit.
    void onCredit(Frame ack) throws IOException {
        boolean waited = session.isBlocked();
        boolean more = session.granted(ack);
        onAcknowledged(ack.sequence(), ack.offset(), ack.number());
        if (session.want((ack.tag() & 1) != 0)) {
            core.tellCredit();
        }
        Carrier carrier = core.carrier();
        if (waited && carrier != null) {
            if (more) {
                carrier.writer().granted();
            }
            pump();
        }
    }

    /// The peer has everything before these.
    private void onAcknowledged(long small, long bulk, long control) throws IOException {
        session.checkExpected(small, bulk, control);
        session.acknowledge(small, bulk, control, collect);
        if (acknowledged.isEmpty()) {
            return;
        }
        seeker.onProgress();
        // once for all, and before one of them completes: who then sends finds the room
        if (roomMessages > 0) {
            core.quota.give(roomMessages, roomBytes);
        }
        roomMessages = 0;
        roomBytes = 0;
        long now = context.now();
        for (PendingSend send = acknowledged.poll(); send != null; send = acknowledged.poll()) {
            delivered(send, now);
        }
    }

    private void collect(PendingSend send) {
        acknowledged.addLast(send);
        // a broadcast has its room until all below the child have it
        if (send.hasRoom && send.kind == Frame.Kind.DIRECT) {
            send.hasRoom = false;
            roomMessages++;
            roomBytes += send.bytes;
        }
    }

    private void delivered(PendingSend send, long now) {
        if (!send.skipped) {
            if (send.kind != Frame.Kind.CONFIRM) {
                core.counters.sentMessages++;
                core.counters.sentBytes += send.bytes;
            }
            over(send, "acknowledged");
        }
        // or it was given up, which is told already, and the peer has passed over it
        send.release();
        send.reached(Delivery.Status.ACKNOWLEDGED, now);
        send.onAcknowledged();
    }

    /// The peer does not take a message that was begun.
    void onReject(Frame reject, String why) {
        Carrier carrier = core.carrier();
        if (carrier == rejected) {
            // a peer says so once, and then that it has no memory, until it has the RESUME: each look for it is long
            return;
        }
        rejected = carrier;
        PendingSend send =
                reject.lane() >= Lane.COUNT ? null : session.lane(reject.lane()).numbered(reject.sequence());
        if (send != null && !send.skipped) {
            refuse(send, why);
        }
    }

    /// The peer does not take a message, or it can never get there.
    void refuse(PendingSend send, String why) {
        send.fail(context.failures().refused(core.rank, send.tag, send.bytes, why));
        forget(send);
        send.release();
        send.onRefused(why);
    }

    /// Ends one send that cannot go on, wherever it is.
    void end(PendingSend send, Throwable failure) {
        try {
            endOne(send, failure);
        } catch (Throwable again) {
            // those behind it go on
            NodeLog.failed(Trouble.SEND_NOT_ENDED, context.rank(), send.tag, again);
        }
    }

    private void endOne(PendingSend send, Throwable failure) {
        NodeLog.failed(Trouble.SEND, context.rank(), send.tag, failure);
        send.fail(failure);
        forget(send);
        send.release();
        send.onRefused(String.valueOf(failure));
    }

    /// The peer had no memory: it drops all, until it is told that all begins again.
    void onRetry(Carrier carrier) {
        if (carrier.writer().isPaused()) {
            // the one before is not over: a peer says so once, until it has the RESUME
            return;
        }
        session.rewind();
        Rendezvous way = carrier.rendezvous();
        if (way != null) {
            way.askAgain();
        }
        carrier.writer().pause(true);
        context.eventLoop().schedule(() -> resume(carrier), shortage.pauseNanos(), TimeUnit.NANOSECONDS);
    }

    private void resume(Carrier paused) {
        if (core.carrier() == paused) {
            rejected = null;
            paused.connection().owed().oweResume();
            paused.connection().owed().oweAck();
            paused.writer().pause(false);
            pump();
        }
    }

    /// The session is over: what was begun may have been handled in it, and must not be handled twice.
    ///
    /// @param all whether what was not begun fails, too
    void end(PeerFailedException failure, boolean all) {
        notices.clear();
        close(failure, all);
        // behind what empties the lanes: what is still in one goes in the next session
        broadcasts.onSessionOver(core.rank);
    }

    /// This node closes, or the session is over.
    void close(PeerFailedException failure, boolean all) {
        session.abandon(all, send -> {
            if (send.skipped) {
                send.release();
            } else {
                over(send, "peer failed");
            }
            send.fail(failure);
        });
        session.end();
    }

    /// A broadcast that still lands, and has not grown since the last look, holds up no other message.
    void makeWay() {
        PendingSend head = session.bulk.begun.first();
        if (head != null
                && head.isLanding()
                && !head.skipped
                && !head.isReady(context.settings().fragment())) {
            long here = head.landed();
            if (landing == head && landed == here && session.bulk.isWaitedFor()) {
                head.giveWay();
            }
            landing = head;
            landed = head.landed();
        } else {
            landing = null;
        }
    }
}
