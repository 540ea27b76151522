// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// One peer: the session with it, the connection that carries it now, and the verdict if none can be had.
///
/// ```
/// IDLE --send--> SEEKING --hello both ways--> CONNECTED --lost--> SEEKING
///   ^               |                             |
///   +--- verdict ---+---- it says goodbye --------+     everything queued or unacknowledged fails
/// ```
///
/// The verdict: for the peer timeout, counted while this node's loop turned, nothing was heard of the peer, and an
/// attempt to connect has failed since. A hint from outside that the peer is gone spares the wait: for the peer timeout
/// from then on, one round of attempts that fails is the verdict.
///
/// A connection that the peer opened is as good as one of this node's. If both connect at once, the one from the
/// lower rank stays. All on the node's event loop, but for the quota and what is consumed.
final class Peer {

    private static final long COURTESY_NANOS = 20_000_000;
    private static final int FRUITLESS = 8;
    private static final int LEAST_CONFIRMATIONS = 256;

    private final NodeLoop nodeLoop;
    private final int rank;
    private final Settings settings;
    private final Session session;
    private final Dialer dialer;
    final SendQuota quota;
    final HolderTags tags;
    private final PeerLives lives = new PeerLives();
    private final PeerCounters counters = new PeerCounters();
    private final MemoryShortage shortage;
    private final LocalPeer local = new LocalPeer();
    private final @Nullable Bulk bulk;
    // of the connection
    private @Nullable Rendezvous rendezvous;
    private final Consumer<PendingSend> collect = this::collect;
    private final SendList acknowledged = new SendList();
    private final AtomicBoolean telling = new AtomicBoolean();
    private long roomMessages;
    private long roomBytes;
    private @Nullable Connection connection;
    private @Nullable Writer writer;
    private long limit = Long.MAX_VALUE;
    private long features = -1;
    private boolean seeking;
    // once this node is no longer suspended
    private boolean resumes;
    private boolean givenUp;
    private long soughtAt;
    private long heardAt;
    // why it may be gone, as others say; null if they do not
    private @Nullable String hint;
    private long hintedAt;
    // connections in a row on which no message got anywhere
    private int fruitless;
    private boolean advanced;
    private @Nullable PendingSend landing;
    private long landed;
    private long lastOrder;
    private boolean dirty;
    // by topic
    private final Map<Integer, byte[]> notices = new TreeMap<>();
    // what is confirmed to this peer, and not acknowledged by it
    private final Map<BroadcastKey, BroadcastSend> confirmations = new HashMap<>();

    Peer(NodeLoop nodeLoop, int rank) {
        this.nodeLoop = nodeLoop;
        this.rank = rank;
        this.settings = nodeLoop.settings();
        this.session = new Session(settings);
        this.dialer = new Dialer(nodeLoop, this);
        this.shortage = new MemoryShortage(nodeLoop, this, session);
        this.bulk = Bulk.of(settings.bulk(), settings.rank(), rank);
        this.tags = HolderTags.of(rank, settings.source());
        this.quota = nodeLoop.quota().ofPeer(settings.peerMessages(), settings.peerBytes());
    }

    NodeLoop nodeLoop() {
        return nodeLoop;
    }

    int rank() {
        return rank;
    }

    Session session() {
        return session;
    }

    /// The one that carries the session, or `null`.
    @Nullable
    Connection connection() {
        return connection;
    }

    LocalPeer local() {
        return local;
    }

    /// Prepares to go on where a cut was taken.
    ///
    /// @param shares gets each handle that is taken
    /// @return the rest of it, before this peer has a queue
    Runnable restoring(NodeCut.OfPeer cut, Shares shares) {
        List<List<PendingSend>> lanes = new ArrayList<>();
        for (NodeCut.OfLane lane : cut.lanes()) {
            List<PendingSend> sends = new ArrayList<>();
            for (NodeCut.Outgoing message : lane.outgoing()) {
                sends.add(restored(message, shares));
            }
            lanes.add(sends);
        }
        return () -> {
            session.restore(cut.lanes(), lanes);
            lanes.forEach(sends -> sends.forEach(this::takeRoom));
        };
    }

    private PendingSend restored(NodeCut.Outgoing message, Shares shares) {
        SealedBuffer handle =
                message.bytes().map(bytes -> shares.of(bytes, tags.to())).orElse(null);
        SendOptions options = message.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
        PendingSend send = new PendingSend(Frame.Kind.DIRECT, message.tag(), options, message.length(), handle, this);
        send.sequence = NodeCut.restored(message.number());
        send.order = message.order();
        send.skipped = handle == null;
        return send;
    }

    private void takeRoom(PendingSend restored) {
        lastOrder = Math.max(lastOrder, restored.order);
        if (!restored.skipped) {
            quota.take(restored.bytes);
            restored.hasRoom = true;
        }
    }

    /// Queues a send; [#pump] writes it.
    ///
    /// @return true if the peer has to be pumped and was not noted for it yet
    boolean enqueue(PendingSend send) {
        if (!takes(send)) {
            refuse(send, notTaken(send));
            return false;
        }
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

    /// As its hello says; before one, it is taken for one that does.
    private boolean takes(PendingSend send) {
        return send.bytes <= limit && (!send.isSigned() || (features & Hello.SIGNED_BROADCASTS) != 0);
    }

    private String notTaken(PendingSend send) {
        return send.bytes > limit
                ? "message over the receiver's limit: length=" + send.bytes + " limit=" + limit
                : "receiver does not know signed broadcasts: features=" + features;
    }

    /// Says something as soon as the connection takes it, in place of an older word of the topic.
    void notice(int topic, byte[] text) {
        notices.put(topic, text);
        if (connection == null) {
            seek(0);
        } else {
            pump();
        }
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
        if (writer != null) {
            Connection over = connection;
            try {
                writer.pump();
            } catch (Throwable broken) {
                // what was half written cannot be gone on with
                Objects.requireNonNull(over, "connection").fail(broken);
            }
        }
    }

    /// A send that was completed from outside: what is not begun goes, what is begun is taken back.
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
        return session.hello(nodeLoop.life());
    }

    /// What a hello says of the checkpoint that this node goes on from, or `null`: it goes on from none.
    @Nullable
    RestoredFrom restoredFrom() {
        CutName name = settings.cutName();
        return name == null ? null : new RestoredFrom(name.epoch(), name.attempt(), lives.now(), session.isRestored());
    }

    /// Whether this node and the peer do not go on from the same moment.
    ///
    /// @return what is wrong, or `null`
    @Nullable
    String otherCheckpoint(Hello hello, @Nullable RestoredFrom theirs) {
        return new OtherCheckpoint(settings.rank(), settings.cutName())
                .of(hello, theirs, session.isRestored(), lives.now(), nodeLoop.life());
    }

    /// What a hello offers beside the connection.
    ///
    /// @return `null` if it is nothing
    @Nullable
    Rendezvous offer(Connection fresh) {
        Bulk way = bulk;
        if (way == null) {
            return null;
        }
        Rendezvous.Host host = new Rendezvous.Host() {
            @Override
            public void say(Frame frame) {
                fresh.owed().answer(frame);
                fresh.sayOwed();
            }

            @Override
            public void pump() {
                Peer.this.pump();
            }

            @Override
            public void failed(Throwable why) {
                if (!fresh.isOver()) {
                    way.failed(nodeLoop.awake(), why);
                    fresh.fail(new IOException("bulk transport failed: " + why.getMessage(), why));
                }
            }
        };
        BulkLine line = way.open(nodeLoop.awake(), why -> nodeLoop.onLoop(() -> host.failed(why)));
        return line == null ? null : new Rendezvous(settings.rank(), way, line, nodeLoop::onLoop, host);
    }

    Frame acknowledgement() {
        return session.acknowledgement();
    }

    /// Something of the peer has arrived.
    void heard(long awake) {
        heardAt = awake;
    }

    /// A hello on a connection that the peer opened.
    void accept(Connection fresh, Hello hello) throws IOException {
        // a node with a lower rank has its own hello on the way: that one stays
        if (settings.rank() < rank && dialer.isGreeting()) {
            heard(nodeLoop.awake());
            fresh.refuse(Refusal.OTHER_CONNECTION, "both connect: ranks=" + settings.rank() + "," + rank);
            return;
        }
        String whyOver = lives.whyOver(hello.life());
        if (!lives.take(hello.life(), connection != null)) {
            fresh.refuse(Refusal.CLAIMED_TWICE, claimedTwice(fresh));
            return;
        }
        heard(nodeLoop.awake());
        Session.Answer answer = session.greet(hello);
        if (answer == Session.Answer.BEGAN_ANEW) {
            startSession(whyOver);
            answer = session.greet(hello);
        }
        switch (answer) {
            case LATE -> fresh.overtaken("hello is not a new one: peer=" + rank + " number=" + hello.number());
            case GOES_ON -> {
                session.checkExpected(hello);
                fresh.hello(hello(), restoredFrom(), offer(fresh));
                use(fresh, hello);
            }
            default -> {
                fresh.refuse(Refusal.SESSION_OVER, "session is over: rank=" + settings.rank());
                seekForTheRest();
            }
        }
    }

    /// A session that ends with its connection leaves what was not begun: the peer may never come back by itself.
    private void seekForTheRest() {
        if (connection == null && !seeking && session.queued() > 0) {
            seek(0);
        }
    }

    private String claimedTwice(Connection fresh) {
        Connection known = Objects.requireNonNull(connection, "connection");
        return "rank " + rank + " is claimed by two processes: " + Connection.address(known.channel()) + " and "
                + Connection.address(fresh.channel());
    }

    /// A hello on a connection that this node opened.
    void answered(Connection fresh, Hello hello) throws IOException {
        if (!dialer.isAttempt(fresh)) {
            fresh.end();
            return;
        }
        String whyOver = lives.whyOver(hello.life());
        if (!lives.take(hello.life(), connection != null)) {
            throw new IOException(claimedTwice(fresh));
        }
        heard(nodeLoop.awake());
        switch (session.greet(hello)) {
            case GOES_ON -> {
                session.checkExpected(hello);
                dialer.succeeded();
                use(fresh, hello);
            }
            case LATE -> throw new IOException("hello is not a new one: number=" + hello.number());
            default -> {
                // it answered a hello of the session that ends here; the next one is of the new one
                startSession(whyOver);
                throw new IOException("peer has another session: rank=" + rank + " reason=" + whyOver);
            }
        }
    }

    /// @param life of the process that refuses; 0 if it does not say
    void refused(Connection fresh, Refusal reason, long life, String text) {
        if (!dialer.isAttempt(fresh)) {
            return;
        }
        switch (reason) {
            case SESSION_OVER -> {
                heard(nodeLoop.awake());
                startSession(lives.whyOver(life));
            }
            case CLOSING -> giveUp("it is closing");
            case OTHER_CHECKPOINT ->
                nodeLoop.acceptor().strangerLeft(fresh.channel().remoteAddress(), new IOException(text));
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
        seeking = false;
        givenUp = false;
        hint = null;
        advanced = false;
        limit = hello.limit();
        features = hello.features();
        fresh.open(this, features);
        nodeLoop.holdIfCut(session);
        session.interrupt();
        acknowledged(hello.small(), hello.bulk(), hello.control());
        session.chargeRestored();
        Predicate<PendingSend> unwanted = send -> !takes(send);
        for (PendingSend over = session.first(unwanted); over != null; over = session.first(unwanted)) {
            refuse(over, notTaken(over));
        }
        rendezvous = fresh.meet();
        Writer out = new Writer(fresh, session, settings, rendezvous);
        writer = out;
        counters.connections++;
        nodeLoop.debug("connected: peer=" + rank + " dialed=" + fresh.isDialed());
        // what is granted
        fresh.owed().oweAck();
        out.pump();
    }

    /// Before memory is taken for a frame's body.
    ///
    /// @throws IOException if it cannot be
    void check(Frame frame) throws IOException {
        frame.checkFrom(rank, settings.size());
        if (frame.kind() == Frame.Kind.CONFIRM && frame.total() > (long) Integer.BYTES * settings.size()) {
            throw new IOException("not a list of ranks: bytes=" + frame.total());
        }
        boolean message = frame.kind() == Frame.Kind.DIRECT || frame.kind() == Frame.Kind.BROADCAST;
        if (!message || !session.reassembler(frame.lane()).isFirst(frame)) {
            return;
        }
        Credit credit = session.credit(frame.lane());
        int depth = 0;
        if (frame.kind() == Frame.Kind.BROADCAST) {
            nodeLoop.broadcasts().checkFrom(frame, this);
            depth = nodeLoop.broadcasts().depth(frame.origin());
        }
        if (!credit.admits(frame.total(), depth)) {
            throw new IOException("message without credit: lane=" + frame.lane() + " length=" + frame.total() + " held="
                    + credit.held());
        }
    }

    /// Before memory is taken for a frame's body: whether it is a broadcast for whose confirmation there is no room,
    /// because the peer acknowledges none. It has to come again.
    boolean owesTooMany(Frame frame) {
        boolean tooMany = frame.kind() == Frame.Kind.BROADCAST
                && session.control.size() >= confirmationsAtMost()
                && session.reassembler(frame.lane()).isFirst(frame);
        if (tooMany) {
            shortage.beginsForConfirmations(Objects.requireNonNull(connection, "connection"), session.control.size());
        }
        return tooMany;
    }

    /// As many as this node itself may have on its way to a peer.
    private long confirmationsAtMost() {
        return Math.max(LEAST_CONFIRMATIONS, settings.peerMessages());
    }

    /// The confirmation of a broadcast that this peer has not acknowledged, or `null`.
    @Nullable
    BroadcastSend confirmation(BroadcastKey key) {
        return confirmations.get(key);
    }

    void confirms(BroadcastSend confirmation) {
        confirmations.put(confirmation.key, confirmation);
    }

    /// Whether a frame of a lane is of a message that has not arrived yet.
    boolean isNew(Frame frame) {
        return frame.sequence() >= session.reassembler(frame.lane()).expected();
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
        } else if (frame.kind() == Frame.Kind.FINISHED) {
            body.close();
            finished(frame);
        } else if (frame.kind() == Frame.Kind.SKIP) {
            body.close();
            passed(frame);
            long landed = reassembler.landed();
            skipped(frame, reassembler.skip(frame), landed);
        } else {
            take(reassembler, frame, body);
        }
    }

    private void skipped(Frame skip, @Nullable Frame begun, long landed) {
        advance();
        if (skip.lane() == Lane.CONTROL) {
            return;
        }
        Credit credit = session.credit(skip.lane());
        credit.arrived(skip.total());
        if (begun != null && begun.kind() == Frame.Kind.BROADCAST) {
            nodeLoop.broadcasts().interrupted(begun, this, credit, landed);
            consumed(credit, skip.total() - landed);
        } else {
            consumed(credit, Credit.charge(skip.total()));
        }
    }

    /// Bytes of the bulk lane, or a SKIP: what was granted for a message is no longer written to.
    private void passed(Frame frame) throws IOException {
        if (rendezvous != null && frame.lane() == Lane.BULK) {
            rendezvous.passed(frame);
        }
    }

    /// What is said of a message that goes beside the connection.
    void rendezvous(Frame frame) throws IOException {
        Rendezvous way = rendezvous;
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
                || frame.total() > settings.limit()) {
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
        nodeLoop.broadcasts().checkFrom(frame, this);
        return nodeLoop.broadcasts().depth(frame.origin());
    }

    private void finished(Frame frame) throws IOException {
        if (rendezvous == null) {
            throw new IOException("nothing was offered: kind=" + frame.kind());
        }
        depthOf(frame);
        SealedBuffer whole = Objects.requireNonNull(connection, "connection").tagged(rendezvous.finished(frame));
        // after what can fail: from here on the message is this node's
        session.reassembler(frame.lane()).pass();
        Credit credit = session.credit(frame.lane());
        advance();
        arrived(frame, credit);
        if (frame.isOfBroadcast()) {
            nodeLoop.broadcasts().arrived(frame.asBroadcast(), whole, this, credit);
        } else {
            handOn(frame, whole, credit);
        }
    }

    private void arrived(Frame frame, Credit credit) {
        credit.arrived(frame.total());
        counters.receivedMessages++;
        counters.receivedBytes += frame.total();
    }

    private void take(Reassembler reassembler, Frame frame, SealedBuffer body) throws IOException {
        boolean last;
        try {
            passed(frame);
            last = reassembler.advance(frame);
        } catch (IOException outOfPlace) {
            body.close();
            throw outOfPlace;
        }
        advance();
        if (frame.kind() == Frame.Kind.CONFIRM) {
            SealedBuffer whole = reassembler.land(body, last);
            if (whole != null) {
                try (whole) {
                    nodeLoop.broadcasts().confirmed(frame, whole, this);
                }
            }
            return;
        }
        Credit credit = session.credit(frame.lane());
        if (last) {
            arrived(frame, credit);
        }
        if (frame.kind() == Frame.Kind.BROADCAST) {
            nodeLoop.broadcasts().arrived(frame, body, this, credit);
            return;
        }
        SealedBuffer whole = reassembler.land(body, last);
        if (whole != null) {
            handOn(frame, whole, credit);
        }
    }

    private void handOn(Frame frame, SealedBuffer whole, Credit credit) {
        nodeLoop.dispatch(new Message(frame.origin(), frame.tag(), frame.format(), whole), this, credit);
    }

    /// A message has got somewhere: the connection works.
    private void advance() {
        if (!advanced) {
            advanced = true;
            fruitless = 0;
            dialer.calm();
        }
        shortage.isOver();
    }

    /// What the peer has taken in, and what it grants.
    void acknowledged(Frame ack) throws IOException {
        boolean waited = session.isBlocked();
        boolean more = session.granted(ack);
        acknowledged(ack.sequence(), ack.offset(), ack.number());
        if (session.want((ack.tag() & 1) != 0)) {
            tellCredit();
        }
        if (waited && writer != null) {
            if (more) {
                writer.granted();
            }
            pump();
        }
    }

    /// The peer has everything before these.
    private void acknowledged(long small, long bulk, long control) throws IOException {
        session.checkExpected(small, bulk, control);
        session.acknowledge(small, bulk, control, collect);
        if (acknowledged.isEmpty()) {
            return;
        }
        advance();
        // once for all, and before one of them completes: who then sends finds the room
        if (roomMessages > 0) {
            quota.give(roomMessages, roomBytes);
        }
        roomMessages = 0;
        roomBytes = 0;
        long now = nodeLoop.now();
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
        if (send.kind != Frame.Kind.CONFIRM) {
            counters.sentMessages++;
            counters.sentBytes += send.bytes;
        }
        FlightEvents.sent(settings.rank(), send, "acknowledged");
        nodeLoop.release(send);
        send.reached(Delivery.Status.ACKNOWLEDGED, now);
        if (send instanceof BroadcastSend of) {
            confirmations.remove(of.key, of);
            nodeLoop.broadcasts().acknowledged(of);
        }
    }

    /// The peer does not take a message that was begun.
    void rejected(Frame reject, String why) {
        PendingSend send =
                reject.lane() >= Lane.COUNT ? null : session.lane(reject.lane()).numbered(reject.sequence());
        if (send != null && !send.skipped) {
            refuse(send, why);
        }
    }

    private void refuse(PendingSend send, String why) {
        send.fail(new MessageRefusedException(rank, send.tag, send.bytes, why));
        forget(send);
        nodeLoop.release(send);
        if (send instanceof BroadcastSend toChild && toChild.of != null) {
            // not while the broadcast asks its children
            nodeLoop.onLoop(() -> nodeLoop.broadcasts().refused(toChild, why));
        }
    }

    /// There was no memory for a frame of the peer's: from now on it drops all, until the peer begins again.
    void shortOfMemory(Frame frame, RuntimeException why) {
        shortage.begins(Objects.requireNonNull(connection, "connection"), frame, why);
    }

    /// The peer had no memory: it drops all, until it is told that all begins again.
    void retry() {
        Connection on = Objects.requireNonNull(connection, "connection");
        Writer paused = Objects.requireNonNull(writer, "writer");
        if (paused.isPaused()) {
            // the one before is not over: a peer says so once, until it has the RESUME
            return;
        }
        session.rewind();
        if (rendezvous != null) {
            rendezvous.askAgain();
        }
        paused.pause(true);
        nodeLoop.eventLoop().schedule(() -> resume(on, paused), shortage.pauseNanos(), TimeUnit.NANOSECONDS);
    }

    private void resume(Connection on, Writer paused) {
        if (connection == on) {
            on.owed().oweResume();
            on.owed().oweAck();
            paused.pause(false);
            pump();
        }
    }

    /// A connection is over.
    void lost(Connection over, Throwable cause) {
        if (dialer.isAttempt(over)) {
            dialer.failed(cause);
        } else if (connection == over) {
            connection = null;
            rendezvous = null;
            writer = null;
            session.interrupt();
            nodeLoop.lost(rank, cause);
            if (!nodeLoop.isClosed()) {
                lostAgain(cause);
            }
        }
    }

    private void lostAgain(Throwable cause) {
        if (!advanced && ++fruitless >= FRUITLESS) {
            if (session.isConfirming(FRUITLESS)) {
                // who waits for it would wait for ever; that this node failed is an answer, too
                giveUp("connections broke one after the other while it was told what is confirmed: count=" + fruitless
                        + " last=" + cause.getMessage());
                return;
            }
            session.failHeads(FRUITLESS, send -> {
                refuse(
                        send,
                        "connections broke one after the other while it was sent: count=" + fruitless + " last="
                                + cause.getMessage());
            });
        }
        // the lower rank connects first, so that both seldom do
        seek(fruitless > 1 ? dialer.pauseNanos() : settings.rank() < rank ? 0 : COURTESY_NANOS);
    }

    /// This node has no connections for now; the session stays.
    void suspend() {
        resumes |= connection != null || seeking;
        Connection last = connection;
        connection = null;
        rendezvous = null;
        writer = null;
        seeking = false;
        dialer.stop();
        session.interrupt();
        if (last != null) {
            last.end();
        }
    }

    /// Goes on where [#suspend] left off.
    void resume() {
        boolean again = resumes;
        resumes = false;
        if (again || session.queued() > 0) {
            seek(settings.rank() < rank ? 0 : COURTESY_NANOS);
        }
    }

    private void seek(long afterNanos) {
        if (nodeLoop.isSuspended()) {
            return;
        }
        if (!seeking) {
            seeking = true;
            givenUp = false;
            soughtAt = nodeLoop.awake();
            dialer.countFromNow();
        }
        dialer.start(afterNanos);
    }

    /// Whether the verdict stands: nothing was sent to it since, and it was not heard.
    boolean isGivenUp() {
        return givenUp;
    }

    /// Looks once whether it is back.
    void probe() {
        if (!nodeLoop.isSuspended()) {
            dialer.probe();
        }
    }

    /// Others say that the peer is gone. That is no verdict, and one may be near.
    void suspect(String why) {
        if (givenUp) {
            return;
        }
        hint = why;
        hintedAt = nodeLoop.awake();
        if (connection == null && !seeking) {
            dialer.countFromNow();
            probe();
        }
        notReached();
    }

    /// An attempt to connect has failed.
    void notReached() {
        if (hint == null || connection != null || !dialer.hasFailed()) {
            return;
        }
        if (nodeLoop.awake() - hintedAt < settings.peerTimeoutNanos()) {
            giveUp(hint + " last=" + dialer.lastFailure());
        } else {
            hint = null;
        }
    }

    /// The verdict: nothing more is expected of this peer. A later send, or a hello of the peer's, begins anew.
    void giveUp(String why) {
        seeking = false;
        resumes = false;
        givenUp = true;
        hint = null;
        dialer.stop();
        Connection last = end(new PeerFailedException(rank, why, null), true);
        if (last != null) {
            last.end();
        }
    }

    /// What was begun may have been handled in the session that is over, and must not be handled twice.
    private void startSession(String why) {
        PeerFailedException failure = new PeerFailedException(rank, why, null);
        dialer.calm();
        Connection last = end(failure, false);
        if (last != null) {
            last.fail(failure);
        }
    }

    private @Nullable Connection end(PeerFailedException failure, boolean all) {
        Connection last = connection;
        if (last != null) {
            // before the listener hears of it: what the peer wrote to is the program's again
            last.endRendezvous();
        }
        connection = null;
        rendezvous = null;
        writer = null;
        fruitless = 0;
        notices.clear();
        confirmations.clear();
        session.abandon(all, send -> failed(send, failure));
        session.end();
        counters.failures++;
        nodeLoop.peerFailed(this, failure);
        return last;
    }

    private void failed(PendingSend send, PeerFailedException failure) {
        FlightEvents.sent(settings.rank(), send, "peer failed");
        nodeLoop.release(send);
        send.fail(failure);
    }

    /// This node closes.
    void close() {
        seeking = false;
        dialer.stop();
        PeerFailedException failure = new PeerFailedException(rank, "this node is closed", null);
        session.abandon(true, send -> failed(send, failure));
        session.end();
        if (connection != null) {
            connection.bye();
        }
    }

    /// After a cut, when all nodes have theirs.
    void goOn() {
        session.goOn();
        if (connection != null) {
            connection.owed().oweAck();
        }
        pump();
    }

    boolean isDrained() {
        return session.queued() == 0;
    }

    void tick(long now, long awake) {
        if (connection != null) {
            connection.tick(now, awake, settings.heartbeatNanos());
            makeWay();
            return;
        }
        dialer.tick(awake);
        if (seeking && dialer.hasFailed() && awake - Math.max(soughtAt, heardAt) >= settings.peerTimeoutNanos()) {
            giveUp("no connection: millis=" + settings.peerTimeoutNanos() / 1_000_000 + " last="
                    + dialer.lastFailure());
        }
    }

    /// A broadcast that still lands, and has not grown since the last look, holds up no other message.
    private void makeWay() {
        if (session.bulk.begun.first() instanceof BroadcastSend head
                && head.landing instanceof Broadcast of
                && !head.skipped
                && !head.isReady(settings.fragment())) {
            if (landing == head && landed == of.landed() && session.bulk.isWaitedFor()) {
                nodeLoop.broadcasts().giveWay(head);
            }
            landing = head;
            landed = of.landed();
        } else {
            landing = null;
        }
    }

    /// A message of this node to itself has left the queue of the handlers. Any thread.
    void handledOwn(long bytes) {
        quota.give(1, bytes);
    }

    /// A broadcast of the peer's is held no more. Any thread.
    void consumed(Credit credit, long charge, int depth) {
        if (credit.consume(charge, depth)) {
            tellSoon();
        }
    }

    /// A message of the peer's is held no more. Any thread.
    void consumed(Credit credit, long charge) {
        if (credit.consume(charge)) {
            tellSoon();
        }
    }

    private void tellSoon() {
        if (telling.compareAndSet(false, true)) {
            boolean told = false;
            try {
                nodeLoop.onLoop(this::tellCredit);
                told = true;
            } finally {
                if (!told) {
                    telling.set(false);
                }
            }
        }
    }

    private void tellCredit() {
        telling.set(false);
        if (connection != null) {
            connection.owed().oweAck();
            connection.sayOwed();
        }
    }

    PeerStats stats() {
        PeerStats.State state = connection != null
                ? session.isLow() ? PeerStats.State.PAUSED : PeerStats.State.CONNECTED
                : seeking ? PeerStats.State.SEEKING : PeerStats.State.IDLE;
        LocalLink link = connection == null ? null : connection.local();
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
                session.held(),
                local.leases() + (link == null ? 0 : link.leases()),
                local.leasedBytes() + (link == null ? 0 : link.leasedBytes()));
    }
}
