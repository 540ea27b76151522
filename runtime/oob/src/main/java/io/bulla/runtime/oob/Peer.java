// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.limits.SendQuota;
import io.bulla.runtime.oob.wire.Frame;
import io.bulla.runtime.oob.wire.Hello;
import io.bulla.runtime.oob.wire.Refusal;
import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// One peer: the session with it, the connection that carries it now, and the verdict if none can be had.
///
/// ```
/// IDLE --send--> SEEKING --hello both ways--> CONNECTED --lost--> SEEKING
///   ^               |                             |
///   +--- verdict ---+---- it says goodbye --------+     everything queued or unacknowledged fails
/// ```
///
/// A connection that the peer opened is as good as one of this node's. If both connect at once, the one from the
/// lower rank stays. All on the node's event loop, but for the quota and the backlog.
final class Peer {

    private static final long COURTESY_NANOS = 20_000_000;

    private final NodeLoop nodeLoop;
    private final int rank;
    private final Settings settings;
    private final Session session;
    private final Dialer dialer;
    final SendQuota quota;
    final HolderTags tags;
    private final Backlog backlog;
    private final PeerCounters counters = new PeerCounters();
    private final Consumer<PendingSend> collect = this::collect;
    private final SendList acknowledged = new SendList();
    private long roomMessages;
    private long roomBytes;
    private Connection connection;
    private Writer writer;
    private Future<?> verdict;
    private long lastOrder;
    private boolean dirty;

    Peer(NodeLoop nodeLoop, int rank) {
        this.nodeLoop = nodeLoop;
        this.rank = rank;
        this.settings = nodeLoop.settings();
        this.session = new Session(settings.surroundings());
        this.dialer = new Dialer(nodeLoop, this);
        this.backlog = new Backlog(nodeLoop, settings.inboundHighWaterMark());
        this.tags = HolderTags.of(rank, settings.source());
        this.quota = new SendQuota(settings.peerMessages(), settings.peerBytes());
    }

    NodeLoop nodeLoop() {
        return nodeLoop;
    }

    int rank() {
        return rank;
    }

    /// Queues a send; [#pump] writes it.
    ///
    /// @return true if the peer has to be pumped and was not noted for it yet
    boolean enqueue(PendingSend send) {
        send.order = ++lastOrder;
        session.laneOf(send, settings.fragment()).add(send);
        if (connection == null) {
            seek(0);
            return false;
        }
        boolean first = !dirty;
        dirty = true;
        return first;
    }

    void pump() {
        dirty = false;
        if (writer != null) {
            Connection over = connection;
            try {
                writer.pump();
            } catch (RuntimeException broken) {
                // what was half written cannot be gone on with
                over.fail(broken);
            }
        }
    }

    /// A send that was completed by somebody else: what is not begun goes, what is begun is taken back.
    void forget(PendingSend send) {
        if (send.lane == null || send.skipped) {
            return;
        }
        if (send.sequence < 0) {
            send.lane.remove(send);
        } else {
            send.skipped = true;
        }
        FlightEvents.sent(settings.rank(), send, "given up");
        nodeLoop.release(send);
        pump();
    }

    Hello hello() {
        return session.hello(settings.oldestVersion(), settings.newestVersion(), settings.rank(), settings.size());
    }

    Frame acknowledgement() {
        return Frame.acknowledgement(
                settings.rank(),
                session.reassembler(Lane.SMALL).expected(),
                session.reassembler(Lane.BULK).expected());
    }

    /// A hello on a connection that the peer opened.
    void accept(Connection fresh, Hello hello) throws IOException {
        // a node with a lower rank has its own hello on the way: that one stays
        if (settings.rank() < rank && dialer.isGreeting()) {
            fresh.refuse(Refusal.OTHER_CONNECTION, "both connect: ranks=" + settings.rank() + "," + rank);
            return;
        }
        Session.Answer answer = session.greet(hello);
        if (answer == Session.Answer.BEGAN_ANEW) {
            beginAnew();
            answer = session.greet(hello);
        }
        switch (answer) {
            case LATE -> fresh.overtaken("hello is not a new one: peer=" + rank + " number=" + hello.number());
            case GOES_ON -> {
                session.checkExpected(hello.small(), hello.bulk());
                fresh.hello(hello());
                use(fresh, hello);
            }
            default -> fresh.refuse(Refusal.SESSION_OVER, "session is over: rank=" + settings.rank());
        }
    }

    /// A hello on a connection that this node opened.
    void answered(Connection fresh, Hello hello) throws IOException {
        if (!dialer.isAttempt(fresh)) {
            fresh.end();
            return;
        }
        switch (session.greet(hello)) {
            case GOES_ON -> {
                session.checkExpected(hello.small(), hello.bulk());
                dialer.succeeded();
                use(fresh, hello);
            }
            case LATE -> throw new IOException("hello is not a new one: number=" + hello.number());
            default -> {
                // it answered a hello of the session that ends here; the next one is of the new one
                beginAnew();
                throw new IOException("peer has begun anew: rank=" + rank);
            }
        }
    }

    void refused(Connection fresh, Refusal reason, String text) {
        if (!dialer.isAttempt(fresh)) {
            return;
        }
        switch (reason) {
            case SESSION_OVER -> beginAnew();
            case CLOSING -> giveUp("it is closing");
            default -> nodeLoop.debug("refused: peer=" + rank + " reason=" + reason + " " + text);
        }
    }

    /// From now on this connection carries the session.
    private void use(Connection fresh, Hello hello) throws IOException {
        Connection before = connection;
        connection = fresh;
        if (before != null) {
            before.fail(new IOException("replaced by a new connection"));
        }
        dialer.stop();
        stopVerdict();
        fresh.open(this);
        session.interrupt();
        acknowledged(hello.small(), hello.bulk());
        writer = new Writer(fresh, session, settings);
        backlog.readFrom(fresh);
        counters.connections++;
        nodeLoop.debug("connected: peer=" + rank + " dialed=" + fresh.isDialed());
        writer.pump();
    }

    /// Before memory is taken for a frame's body.
    ///
    /// @throws IOException if it cannot be
    void check(Frame frame) throws IOException {
        frame.checkFrom(rank, settings.size());
    }

    /// A frame of a lane, and ownership of its body.
    void received(Frame frame, SealedBuffer body) throws IOException {
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
        } else if (frame.kind() == Frame.Kind.SKIP) {
            body.close();
            Frame begun = reassembler.skip();
            if (begun != null && begun.kind() == Frame.Kind.BROADCAST) {
                nodeLoop.broadcasts().interrupted(begun, this);
            }
        } else {
            take(reassembler, frame, body);
        }
    }

    private void take(Reassembler reassembler, Frame frame, SealedBuffer body) throws IOException {
        boolean last;
        try {
            last = reassembler.advance(frame);
        } catch (IOException outOfPlace) {
            body.close();
            throw outOfPlace;
        }
        dialer.calm();
        if (last && frame.kind() != Frame.Kind.CONFIRM) {
            counters.receivedMessages++;
            counters.receivedBytes += frame.total();
        }
        if (frame.kind() == Frame.Kind.BROADCAST) {
            nodeLoop.broadcasts().arrived(frame, body, this);
            return;
        }
        SealedBuffer whole = reassembler.land(body, last);
        if (whole != null) {
            nodeLoop.arrived(frame, whole, this);
        }
    }

    /// The peer has everything before these.
    void acknowledged(long small, long bulk) throws IOException {
        session.checkExpected(small, bulk);
        session.small.acknowledge(small, collect);
        session.bulk.acknowledge(bulk, collect);
        if (acknowledged.isEmpty()) {
            return;
        }
        dialer.calm();
        // once for all, and before one of them completes: who then sends finds the room
        nodeLoop.room().give(quota, roomMessages, roomBytes);
        roomMessages = 0;
        roomBytes = 0;
        long now = nodeLoop.now();
        for (PendingSend send = acknowledged.poll(); send != null; send = acknowledged.poll()) {
            delivered(send, now);
        }
    }

    private void collect(PendingSend send) {
        acknowledged.addLast(send);
        if (send.hasRoom) {
            send.hasRoom = false;
            roomMessages++;
            roomBytes += send.bytes;
        }
    }

    private void delivered(PendingSend send, long now) {
        if (send.kind != Frame.Kind.CONFIRM) {
            counters.sentMessages++;
            counters.sentBytes += send.bytes;
        }
        FlightEvents.sent(settings.rank(), send, "acknowledged");
        nodeLoop.release(send);
        send.reached(Delivery.Status.ACKNOWLEDGED, now);
    }

    /// A connection is over.
    void lost(Connection over, Throwable cause) {
        if (dialer.isAttempt(over)) {
            dialer.failed(cause);
        } else if (connection == over) {
            connection = null;
            writer = null;
            backlog.readFrom(null);
            session.interrupt();
            nodeLoop.lost(rank, cause);
            if (!nodeLoop.isClosed()) {
                // the lower rank connects first, so that both seldom do
                seek(settings.rank() < rank ? 0 : COURTESY_NANOS);
            }
        }
    }

    private void seek(long afterNanos) {
        if (verdict == null) {
            verdict = nodeLoop.eventLoop()
                    .schedule(
                            () -> giveUp("no connection: millis=" + settings.peerTimeoutNanos() / 1_000_000 + " last="
                                    + dialer.lastFailure()),
                            settings.peerTimeoutNanos(),
                            TimeUnit.NANOSECONDS);
        }
        dialer.start(afterNanos);
    }

    private void stopVerdict() {
        if (verdict != null) {
            verdict.cancel(false);
            verdict = null;
        }
    }

    /// The verdict: nothing more is expected of this peer. A later send, or a hello of the peer's, begins anew.
    void giveUp(String why) {
        stopVerdict();
        dialer.stop();
        end(new PeerFailedException(rank, why, null), Lane::abandonAll, Connection::end);
    }

    /// What was begun may have been handled by the peer's earlier self, and must not be handled twice.
    private void beginAnew() {
        PeerFailedException failure = new PeerFailedException(rank, "it has begun anew", null);
        end(failure, Lane::abandon, last -> last.fail(failure));
    }

    private void end(
            PeerFailedException failure, BiConsumer<Lane, Consumer<PendingSend>> abandon, Consumer<Connection> hangUp) {
        Connection last = connection;
        connection = null;
        writer = null;
        backlog.readFrom(null);
        abandon.accept(session.small, send -> failed(send, failure));
        abandon.accept(session.bulk, send -> failed(send, failure));
        session.end();
        if (last != null) {
            hangUp.accept(last);
        }
        counters.failures++;
        nodeLoop.peerFailed(this, failure);
    }

    private void failed(PendingSend send, PeerFailedException failure) {
        FlightEvents.sent(settings.rank(), send, "peer failed");
        nodeLoop.release(send);
        send.fail(failure);
    }

    /// This node closes.
    void close() {
        stopVerdict();
        dialer.stop();
        PeerFailedException failure = new PeerFailedException(rank, "this node is closed", null);
        session.small.abandonAll(send -> failed(send, failure));
        session.bulk.abandonAll(send -> failed(send, failure));
        session.end();
        if (connection != null) {
            connection.bye();
        }
    }

    boolean isDrained() {
        return session.queued() == 0;
    }

    void tick(long now, boolean listened) {
        if (connection != null) {
            connection.tick(now, settings.heartbeatNanos(), listened);
        }
    }

    /// A message goes to the handlerExecutor.
    void handing(long bytes) {
        // its own are counted since the send
        if (rank != settings.rank()) {
            backlog.add(bytes);
        }
    }

    /// A message has left the handlerExecutor. Any thread.
    void handled(long bytes) {
        if (rank == settings.rank()) {
            nodeLoop.give(this, bytes);
        } else {
            backlog.remove(bytes);
        }
    }

    PeerStats stats() {
        PeerStats.State state = connection != null
                ? backlog.isPaused() ? PeerStats.State.PAUSED : PeerStats.State.CONNECTED
                : verdict != null ? PeerStats.State.SEEKING : PeerStats.State.IDLE;
        return new PeerStats(
                rank,
                state,
                counters.sentMessages,
                counters.sentBytes,
                counters.receivedMessages,
                counters.receivedBytes,
                session.resends(),
                session.duplicates(),
                counters.connections,
                counters.failures,
                quota.usedMessages(),
                quota.usedBytes(),
                session.oldest(),
                backlog.bytes());
    }
}
