// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.admission.Admission;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.channel.EventLoop;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// What a node's event loop runs: sends come in from all threads, peers and their connections live here.
///
/// One loop serves a whole node, so nothing in here has a lock: a connection that a peer opened is on the loop of
/// the session that it turns out to carry.
final class NodeLoop {

    private static final Logger LOG = NodeLog.LOG;

    private final Settings settings;
    private final EventLoop loop;
    private final HandlerExecutor handlerExecutor;
    private final Handlers handlers;
    private final SendQuota quota;
    private final long life;
    private final long tickNanos;
    private final Broadcasts broadcasts;
    private final Map<Integer, Peer> peers = new ConcurrentHashMap<>();
    private final Acceptor acceptor;
    private final Notices notices;
    private final List<Peer> dirty = new ArrayList<>();
    private final Runnable drain = this::drain;
    private final MpscQueue<PendingSend> intake = new MpscQueue<>() {
        @Override
        @Nullable
        PendingSend next(PendingSend send) {
            return send.next;
        }

        @Override
        void link(PendingSend send, @Nullable PendingSend next) {
            send.next = next;
        }
    };
    private final LongAdder socketBytes = new LongAdder();
    private final LongAdder lentBytes = new LongAdder();
    private @Nullable Future<?> ticks;
    private long lastTick;
    private long awake;
    private boolean suspended;
    private boolean closed;
    private @Nullable Hold hold;
    // of this node's own, until the cut is over, or until this listens
    private final Queue<BroadcastSend> waitingBroadcasts = new ArrayDeque<>();
    private Runnable whenClosed = () -> {};

    NodeLoop(Settings settings, EventLoop loop) {
        this.settings = settings;
        this.lastTick = settings.surroundings().now();
        this.loop = loop;
        this.handlerExecutor = new HandlerExecutor(
                "bulla-handler", settings.rank(), settings.surroundings().threads());
        this.handlers = new Handlers(settings.rank(), settings.unclaimedLimit(), settings.source(), handlerExecutor);
        settings.handlers().forEach(handlers::receive);
        this.quota = SendQuota.ofAll(settings.allMessages(), settings.allBytes());
        this.life = settings.surroundings().name();
        this.tickNanos = Math.max(1, Math.min(settings.heartbeatNanos() / 2, settings.peerTimeoutNanos() / 4));
        this.broadcasts = new Broadcasts(this);
        this.acceptor = new Acceptor(this);
        this.notices = new Notices(settings.rank());
    }

    Settings settings() {
        return settings;
    }

    long now() {
        return settings.surroundings().now();
    }

    EventLoop eventLoop() {
        return loop;
    }

    Handlers handlers() {
        return handlers;
    }

    HandlerExecutor handlerExecutor() {
        return handlerExecutor;
    }

    SendQuota quota() {
        return quota;
    }

    /// A random number that is this node's for as long as it lives.
    long life() {
        return life;
    }

    /// Time in which this loop turned and was not suspended. Of a time in which it did not turn, because the
    /// machine or the loop was held up, two ticks count: nothing was heard then, and no attempt was made. On the
    /// loop.
    long awake() {
        return isSuspended() ? awake : awake + Math.min(now() - lastTick, 2 * tickNanos);
    }

    Broadcasts broadcasts() {
        return broadcasts;
    }

    Notices notices() {
        return notices;
    }

    /// The cut that is being taken while this node goes on, or `null`. On the loop.
    @Nullable
    Hold hold() {
        return hold;
    }

    void hold(@Nullable Hold now) {
        hold = now;
    }

    /// A session that goes on, or begins, while a cut is not over.
    void holdIfCut(Session session) {
        if (hold != null && hold.isTaken()) {
            session.hold();
        }
    }

    Admission admission() {
        return acceptor.admission();
    }

    boolean isClosed() {
        return closed;
    }

    /// Any thread.
    Peer peer(int rank) {
        Peer known = peers.get(rank);
        return known != null ? known : peers.computeIfAbsent(rank, r -> new Peer(this, r));
    }

    /// Accepts connections from now on.
    void listen(ListeningSocket socket) {
        acceptor.listen(socket);
        ticks = loop.scheduleWithFixedDelay(this::tick, tickNanos, tickNanos, TimeUnit.NANOSECONDS);
        if (settings.cut() != null) {
            onLoop(this::goOnFromCut);
        }
    }

    private void goOnFromCut() {
        beginBroadcasts();
        seekAll();
    }

    /// It cannot listen: what was restored is given back. The loop has nothing of it.
    void undo() {
        if (ticks != null) {
            ticks.cancel(false);
        }
        for (BroadcastSend own = waitingBroadcasts.poll(); own != null; own = waitingBroadcasts.poll()) {
            fail(own);
        }
        peers.values().forEach(Peer::close);
        handlerExecutor.close();
        handlerExecutor.ended().thenRun(handlers::close);
    }

    private void seekAll() {
        for (Peer peer : peers.values()) {
            try {
                peer.resume();
            } catch (Throwable failure) {
                // its next send looks for it
                NodeLog.failed("resume failed", settings.rank(), "peer", peer.rank(), failure);
            }
        }
    }

    Collection<Peer> peers() {
        return peers.values();
    }

    /// Says who is told, on the loop, that the node is closed. Before it listens.
    void whenClosed(Runnable told) {
        whenClosed = told;
    }

    /// Whether there are to be no connections for now. On the loop.
    boolean isSuspended() {
        return suspended;
    }

    /// Closes all connections and the port, and keeps the sessions.
    ///
    /// @return completes when all is closed
    CompletableFuture<Void> suspend() {
        // no connection begins from now on
        suspended = true;
        peers.values().forEach(Peer::suspend);
        return acceptor.suspend();
    }

    /// Goes on; suspended still if that fails.
    void resume(ListeningSocket socket) {
        lastTick = now();
        suspended = false;
        boolean resumed = false;
        try {
            acceptor.listen(socket);
            seekAll();
            resumed = true;
        } finally {
            suspended = !resumed;
        }
    }

    /// A stage, or that so much time has passed.
    CompletableFuture<Void> soon(CompletionStage<Void> stage, long millis) {
        CompletableFuture<Void> either = stage.thenApply(done -> done).toCompletableFuture();
        Future<?> late = loop.schedule(() -> either.complete(null), millis, TimeUnit.MILLISECONDS);
        return either.whenComplete((done, failure) -> late.cancel(false));
    }

    /// So many bytes were given to a socket.
    void written(long bytes) {
        socketBytes.add(bytes);
    }

    long socketBytes() {
        return socketBytes.sum();
    }

    /// So many bytes of messages were lent in place of that.
    void lent(long bytes) {
        lentBytes.add(bytes);
    }

    long lentBytes() {
        return lentBytes.sum();
    }

    Acceptor acceptor() {
        return acceptor;
    }

    /// Queues a send, which has its quota. Any thread.
    void submit(PendingSend send) {
        if (intake.put(send)) {
            try {
                onLoop(drain);
            } catch (Throwable noMemory) {
                // it is queued: the next tick drains
                NodeLog.failed("loop was not woken", settings.rank(), noMemory);
            }
        }
    }

    /// A send was completed from outside. Any thread.
    void forget(PendingSend send) {
        onLoop(() -> send.peer.forget(send));
    }

    /// Any thread. When the loop has ended there is nothing left to do but to fail what came too late.
    void onLoop(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException loopIsDown) {
            failLate();
        }
    }

    private void failLate() {
        for (PendingSend send = intake.takeAll(); send != null; ) {
            PendingSend next = send.next;
            send.next = null;
            fail(send);
            send = next;
        }
    }

    void fail(PendingSend send) {
        release(send);
        PeerFailedException failure = new PeerFailedException(send.peer.rank(), "this node is closed", null);
        send.fail(failure);
        endOwn(send, failure);
    }

    /// A broadcast of this node's own, which has not begun.
    private void endOwn(PendingSend send, Throwable failure) {
        if (send instanceof BroadcastSend own && own.result != null) {
            own.giveRooms(this);
            own.result.completeExceptionally(failure);
        }
    }

    private void drain() {
        takeIntake();
        if (closed) {
            return;
        }
        for (int i = 0; i < dirty.size(); i++) {
            try {
                dirty.get(i).pump();
            } catch (Throwable failure) {
                // those behind it go on; it does with its next send or acknowledgement
                NodeLog.failed(
                        "writing failed", settings.rank(), "peer", dirty.get(i).rank(), failure);
            }
        }
        dirty.clear();
    }

    /// Whatever was sent until now is in its lane.
    void takeIntake() {
        if (closed) {
            failLate();
            return;
        }
        for (PendingSend send = intake.takeAll(); send != null; ) {
            PendingSend next = send.next;
            send.next = null;
            take(send);
            send = next;
        }
    }

    /// Whatever goes wrong with one send ends that one, and no other.
    private void take(PendingSend send) {
        try {
            if (send.isDone()) {
                release(send);
            } else if (send instanceof BroadcastSend own) {
                begin(own);
            } else {
                enqueue(send);
            }
        } catch (Throwable failure) {
            end(send, failure);
        }
    }

    private void begin(BroadcastSend own) {
        if (hold == null) {
            broadcasts.begin(own);
        } else {
            waitingBroadcasts.add(own);
        }
    }

    Collection<BroadcastSend> waitingBroadcasts() {
        return waitingBroadcasts;
    }

    /// Those that waited for the end of a cut, or are from one.
    void beginBroadcasts() {
        for (BroadcastSend own = waitingBroadcasts.poll(); own != null; own = waitingBroadcasts.poll()) {
            take(own);
        }
    }

    /// Ends one send that cannot go on, wherever it is.
    void end(PendingSend send, Throwable failure) {
        try {
            endOne(send, failure);
        } catch (Throwable again) {
            // those behind it go on
            NodeLog.failed("send was not ended", settings.rank(), "tag", send.tag, again);
        }
    }

    private void endOne(PendingSend send, Throwable failure) {
        NodeLog.failed("send failed", settings.rank(), "tag", send.tag, failure);
        endOwn(send, failure);
        send.fail(failure);
        send.peer.forget(send);
        release(send);
        if (send instanceof BroadcastSend toChild && toChild.of != null) {
            // not while the broadcast asks its children
            onLoop(() -> broadcasts.refused(toChild, String.valueOf(failure)));
        }
    }

    private void enqueue(PendingSend send) {
        if (send.options.hasDeadline()) {
            long left = SendOptions.nanos(send.options.deadline().get()) - send.ageNanos(now());
            send.deadline = loop.schedule(() -> late(send), left, TimeUnit.NANOSECONDS);
        }
        if (send.peer.enqueue(send)) {
            dirty.add(send.peer);
        }
    }

    private void late(PendingSend send) {
        send.fail(send.late());
        send.peer.forget(send);
    }

    /// A send needs its handle and its room no more; again is harmless.
    void release(PendingSend send) {
        SealedBuffer handle = send.handle;
        if (handle != null) {
            send.handle = null;
            close(handle);
        }
        if (send.kind == Frame.Kind.DIRECT) {
            giveRoom(send);
        }
        if (send.deadline != null) {
            send.deadline.cancel(false);
            send.deadline = null;
        }
    }

    /// A user's listener, or what releases a user's memory, may fail: the handle is closed all the same.
    void close(SealedBuffer handle) {
        try {
            handle.close();
        } catch (Throwable failure) {
            NodeLog.failed("release failed", settings.rank(), failure);
        }
    }

    /// The program may have so much more on its way; again is harmless.
    void giveRoom(PendingSend send) {
        if (send.hasRoom) {
            send.hasRoom = false;
            send.peer.quota.give(1, send.bytes);
        }
    }

    /// To the handlers, which own the message's handle from now on. Any thread if it is this node's own.
    ///
    /// @param credit that the message holds, or `null` if it is this node's own
    void dispatch(Message message, Peer from, @Nullable Credit credit) {
        dispatch(new Incoming(message, handlers, from, credit), from.rank());
    }

    /// A broadcast, to the handlers.
    ///
    /// @param check that its handler waits for; or `null`
    void dispatch(Message message, BroadcastCharge charge, @Nullable OriginCheck check) {
        dispatch(Incoming.broadcast(message, handlers, charge, check), message.origin());
    }

    private void dispatch(Incoming incoming, int from) {
        FlightEvents.received(settings.rank(), from, incoming.message, incoming.bytes);
        handlerExecutor.put(incoming);
    }

    void peerFailed(Peer peer, PeerFailedException failure) {
        LOG.log(Level.DEBUG, () -> "rank=" + settings.rank() + " " + failure.getMessage());
        FlightEvents.failed(settings.rank(), peer.rank(), failure.getMessage());
        if (hold != null) {
            hold.fail("peer failed: rank=" + settings.rank() + " peer=" + peer.rank() + " reason="
                    + failure.getMessage());
        }
        if (!closed) {
            handlerExecutor.tell(() -> settings.lost().accept(peer.rank(), failure));
            broadcasts.peerFailed(peer.rank());
        }
    }

    /// A connection broke, which is put right if it can be.
    void lost(int peer, Throwable cause) {
        if (!closed) {
            LOG.log(
                    Level.DEBUG,
                    "connection lost: rank=" + settings.rank() + " peer=" + peer + " " + cause.getMessage());
        }
    }

    void debug(String what) {
        LOG.log(Level.DEBUG, () -> "rank=" + settings.rank() + " " + what);
    }

    /// On the loop.
    List<PeerStats> stats() {
        return peers.values().stream()
                .map(Peer::stats)
                .sorted(Comparator.comparingInt(PeerStats::peer))
                .toList();
    }

    private void advance(long now) {
        awake = awake();
        lastTick = now;
    }

    private void tick() {
        long now = now();
        advance(now);
        try {
            // what was put while there was no memory to wake those who take it
            handlerExecutor.tick();
            broadcasts.origins().tick();
            drain();
        } catch (Throwable failure) {
            // the next tick comes only if this one returns
            NodeLog.failed("tick failed", settings.rank(), failure);
        }
        if (isSuspended()) {
            return;
        }
        for (Peer peer : peers.values()) {
            try {
                peer.tick(now, awake);
            } catch (Throwable failure) {
                NodeLog.failed("tick failed", settings.rank(), "peer", peer.rank(), failure);
            }
        }
        try {
            broadcasts.tick(awake);
        } catch (Throwable failure) {
            NodeLog.failed("tick failed", settings.rank(), failure);
        }
    }

    /// Waits until nothing is on its way, then closes everything; fails what is left at the deadline. Any thread.
    ///
    /// @return completes when all is closed
    CompletableFuture<Void> close(long drainNanos) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        long deadline = now() + drainNanos;
        try {
            loop.execute(() -> closeWhenDrained(deadline, over));
        } catch (RejectedExecutionException loopIsDown) {
            failLate();
            over.complete(null);
        }
        return over;
    }

    private void closeWhenDrained(long deadline, CompletableFuture<Void> over) {
        endHold();
        drain();
        boolean drained = broadcasts.isDrained() && peers.values().stream().allMatch(Peer::isDrained);
        if (!drained && now() - deadline < 0) {
            loop.schedule(() -> closeWhenDrained(deadline, over), 2, TimeUnit.MILLISECONDS);
            return;
        }
        closed = true;
        if (ticks != null) {
            ticks.cancel(false);
        }
        failLate();
        whenClosed.run();
        broadcasts.close();
        peers.values().forEach(Peer::close);
        quota.close();
        acceptor.close().thenRun(() -> over.complete(null));
    }

    private void endHold() {
        if (hold != null) {
            hold.fail("node is closed: rank=" + settings.rank());
        }
    }

    /// As if the process had died: no word to anybody. For tests.
    CompletableFuture<Void> abort() {
        CompletableFuture<Void> over = new CompletableFuture<>();
        onLoop(() -> {
            endHold();
            closed = true;
            Objects.requireNonNull(ticks, "ticks").cancel(false);
            whenClosed.run();
            acceptor.close().thenRun(() -> {
                failLate();
                broadcasts.close();
                peers.values().forEach(Peer::close);
                quota.close();
                over.complete(null);
            });
        });
        return over;
    }
}
