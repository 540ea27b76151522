// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.internal.broadcast.Broadcasts;
import io.bulla.runtime.oob.internal.broadcast.OwnBroadcasts;
import io.bulla.runtime.oob.internal.connection.Acceptor;
import io.bulla.runtime.oob.internal.connection.ListeningSocket;
import io.bulla.runtime.oob.internal.core.Failures;
import io.bulla.runtime.oob.internal.core.FlightEvents;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.LoopEnd;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.internal.handlers.Handlers;
import io.bulla.runtime.oob.internal.handlers.LoopHandlers;
import io.bulla.runtime.oob.internal.handlers.Notices;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.peer.PeerEvents;
import io.bulla.runtime.oob.internal.peer.PeerTable;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.Session;
import io.netty.channel.EventLoop;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A node put together, and its life on its event loop: it listens, ticks, is suspended, closes.
///
/// One loop serves a whole node, so nothing on it has a lock: a connection that a peer opened is on the loop of
/// the session that it turns out to carry. One event loop's, but for what says that any thread may call it.
public final class NodeLoop implements PeerEvents {

    private static final long LOOK_MILLIS = 2;
    // a handler on the loop may take such a part of a heartbeat
    private static final long LOOP_LIMIT = 4;

    private final LoopContext context;
    private final Settings settings;
    private final EventLoop loop;
    private final HandlerExecutor handlerExecutor;
    private final Handlers handlers;
    private final SendQuota quota;
    private final PeerTable peers;
    private final Broadcasts broadcasts;
    private final Acceptor acceptor;
    private final Notices notices;
    private final Intake intake;
    private final OwnBroadcasts ownBroadcasts;
    private final Peer.Surround surround;
    private @Nullable Future<?> ticks;
    private @Nullable CutGate hold;
    private Runnable whenClosed = () -> {};
    // steps of the end; made while there is memory for them
    private final Runnable endHold = this::endHold;
    private final Runnable endTicks = this::endTicks;
    private final Runnable drain;
    private final Runnable failLate = this::failLate;
    private final Runnable closeBroadcasts;
    private final Runnable closePeers = this::closePeers;
    private final Runnable closeQuota;

    public NodeLoop(Settings settings, EventLoop loop, Failures failures) {
        this.settings = settings;
        this.loop = loop;
        this.context = new LoopContext(settings, loop, failures, this::failLate);
        this.handlerExecutor = new HandlerExecutor(
                "bulla-handler", settings.rank(), settings.environment().threads());
        LoopHandlers onLoop = new LoopHandlers(
                settings.rank(), context::onLoop, settings.environment(), settings.heartbeatNanos() / LOOP_LIMIT);
        this.handlers = new Handlers(
                settings.rank(), settings.unclaimedLimit(), settings.source(), handlerExecutor, onLoop, failures);
        handlers.begin(settings.handlers());
        this.quota = SendQuota.ofAll(settings.allMessages(), settings.allBytes());
        this.peers = new PeerTable(this::newPeer);
        this.broadcasts = new Broadcasts(context, peers, handlers);
        this.acceptor = new Acceptor(context, peers::peer);
        this.notices = new Notices(settings.rank());
        this.intake = new Intake(context, broadcasts);
        this.ownBroadcasts = new OwnBroadcasts(context, broadcasts, peers, intake);
        this.surround = new Peer.Surround(context, acceptor, quota, handlers, notices, broadcasts, this);
        this.drain = intake::drain;
        this.closeBroadcasts = broadcasts::close;
        this.closeQuota = quota::close;
    }

    private Peer newPeer(int rank) {
        return new Peer(surround, rank);
    }

    private void failLate() {
        intake.failLate();
    }

    /// Any thread.
    public LoopContext context() {
        return context;
    }

    /// Any thread.
    public EventLoop eventLoop() {
        return loop;
    }

    /// Whether the caller is a thread of this node, which cannot wait for its own end. Any thread.
    public boolean isRunningHere() {
        return loop.inEventLoop()
                || handlerExecutor.isRunningHere()
                || broadcasts.origins().isRunningHere();
    }

    /// Any thread.
    public Handlers handlers() {
        return handlers;
    }

    /// Any thread.
    public HandlerExecutor handlerExecutor() {
        return handlerExecutor;
    }

    public Broadcasts broadcasts() {
        return broadcasts;
    }

    /// Any thread.
    public OwnBroadcasts ownBroadcasts() {
        return ownBroadcasts;
    }

    /// Any thread.
    public Notices notices() {
        return notices;
    }

    /// Any thread.
    public Acceptor acceptor() {
        return acceptor;
    }

    /// Any thread.
    public PeerTable peers() {
        return peers;
    }

    /// Any thread.
    public Intake intake() {
        return intake;
    }

    /// A message of this node to itself, which has its quota: it goes to the handlers at once. Any thread.
    public void sendHere(PendingSend send) {
        SealedBuffer handle = Objects.requireNonNull(send.handle, "handle");
        send.handle = null;
        // given back when it is handled
        send.hasRoom = false;
        int rank = settings.rank();
        Message message = new Message(rank, send.tag, send.options.format(), handle);
        handlers.dispatchOwn(message, peers.peer(rank).inbound());
        send.reached(send.options.level(), context.now());
    }

    /// The cut that is being taken while this node goes on, or `null`.
    @Nullable
    public CutGate hold() {
        return hold;
    }

    public void hold(@Nullable CutGate now) {
        hold = now;
        intake.holdBroadcasts(now != null);
    }

    @Override
    public void onCarried(Session session) {
        if (hold != null && hold.isTaken()) {
            session.hold();
        }
    }

    /// Accepts connections from now on.
    public void listen(ListeningSocket socket) {
        acceptor.listen(socket);
        ticks = loop.scheduleWithFixedDelay(this::tick, context.tickNanos(), context.tickNanos(), TimeUnit.NANOSECONDS);
        if (settings.cut() != null) {
            context.onLoop(this::goOnFromCut);
        }
    }

    private void goOnFromCut() {
        intake.beginWaiting();
        seekAll();
    }

    /// It cannot listen: what was restored is given back. The loop has nothing of it.
    public void undo() {
        step(Trouble.TICKS_NOT_ENDED, endTicks);
        step(Trouble.BROADCASTS_OF_CUT, intake::failWaiting);
        step(Trouble.PEERS_NOT_CLOSED, closePeers);
        step(Trouble.HANDLERS_NOT_ENDED, handlerExecutor::close);
        step(Trouble.HANDLERS_NOT_ENDED, () -> handlerExecutor.ended().thenRun(handlers::close));
    }

    private void seekAll() {
        for (Peer peer : peers.all()) {
            try {
                peer.resume();
            } catch (Throwable failure) {
                // its next send looks for it
                NodeLog.failed(Trouble.RESUME_OF_PEER, settings.rank(), peer.rank(), failure);
            }
        }
    }

    /// What is to be run, on the loop, when the node is closed. Before it listens.
    void whenClosed(Runnable then) {
        whenClosed = then;
    }

    /// Closes all connections and the port, and keeps the sessions.
    ///
    /// @return completes when all is closed
    CompletableFuture<Void> suspend() {
        // no connection begins from now on
        context.suspend();
        peers.all().forEach(Peer::suspend);
        return acceptor.suspend();
    }

    /// Goes on; suspended still if that fails.
    void resume(ListeningSocket socket) {
        context.resume();
        boolean resumed = false;
        try {
            acceptor.listen(socket);
            seekAll();
            resumed = true;
        } finally {
            if (!resumed) {
                context.suspend();
            }
        }
    }

    /// A stage, or that so much time has passed.
    public CompletableFuture<Void> soon(CompletionStage<Void> stage, long millis) {
        CompletableFuture<Void> either = stage.thenApply(done -> done).toCompletableFuture();
        if (loop.isShuttingDown()) {
            return either.completeOnTimeout(null, millis, TimeUnit.MILLISECONDS);
        }
        Future<?> late = loop.schedule(() -> either.complete(null), millis, TimeUnit.MILLISECONDS)
                .addListener(passed -> {
                    if (passed.isCancelled()) {
                        // by a loop that is shut down, unless the stage is complete
                        either.completeOnTimeout(null, millis, TimeUnit.MILLISECONDS);
                    }
                });
        return either.whenComplete((done, failure) -> late.cancel(false));
    }

    @Override
    public void onFailed(int peer, PeerFailedException failure) {
        context.debug(String.valueOf(failure.getMessage()));
        FlightEvents.failed(settings.rank(), peer, failure.getMessage());
        if (hold != null) {
            hold.fail("peer failed: rank=" + settings.rank() + " peer=" + peer + " reason=" + failure.getMessage());
        }
        if (!context.isClosed()) {
            handlerExecutor.tell(() -> settings.lost().accept(peer, failure));
            broadcasts.peerFailed(peer);
        }
    }

    private void tick() {
        long now = context.now();
        long loopTime = context.advance(now);
        try {
            acceptor.tick(now);
            // what was put while there was no memory to wake those who take it
            handlerExecutor.tick();
            broadcasts.origins().tick();
            intake.drain();
        } catch (Throwable failure) {
            // the next tick comes only if this one returns
            NodeLog.failed(Trouble.TICK, settings.rank(), failure);
        }
        if (context.isSuspended()) {
            return;
        }
        for (Peer peer : peers.all()) {
            try {
                peer.tick(now, loopTime);
            } catch (Throwable failure) {
                NodeLog.failed(Trouble.TICK_OF_PEER, settings.rank(), peer.rank(), failure);
            }
        }
        try {
            broadcasts.tick(loopTime);
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.TICK, settings.rank(), failure);
        }
    }

    /// Waits until nothing is on its way, then closes everything; fails what is left at the deadline. Any thread.
    ///
    /// @return completes when all is closed, whatever fails meanwhile
    public CompletableFuture<Void> close(long drainNanos) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        Runnable then = () -> over.complete(null);
        long deadline = context.now() + drainNanos;
        context.onLoop(
                () -> closeWhenDrained(deadline, then),
                // its channels are closed, and no other thread is in here
                () -> LoopEnd.then(loop, () -> {
                    if (!context.isClosed()) {
                        step(Trouble.CUT_NOT_ENDED, endHold);
                        closeAll();
                    }
                    then.run();
                }));
        return over;
    }

    private void closeWhenDrained(long deadline, Runnable then) {
        step(Trouble.CUT_NOT_ENDED, endHold);
        step(Trouble.SENDS_NOT_TAKEN, drain);
        if (!waitsLonger(deadline, then)) {
            closeAll();
            closeAcceptor(then);
        }
    }

    /// @return false if nothing is on its way, it had its time, or it cannot be waited for
    private boolean waitsLonger(long deadline, Runnable then) {
        try {
            if (broadcasts.isDrained() && peers.all().stream().allMatch(Peer::isDrained)
                    || context.now() - deadline >= 0
                    || loop.isShuttingDown()) {
                return false;
            }
            // passed, or cancelled by a loop that is shut down
            loop.schedule(() -> {}, LOOK_MILLIS, TimeUnit.MILLISECONDS)
                    .addListener(passed -> closeWhenDrained(deadline, then));
            return true;
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.CLOSE_DOES_NOT_WAIT, settings.rank(), failure);
            return false;
        }
    }

    private void closeAll() {
        markClosed();
        step(Trouble.LATE_SENDS, failLate);
        endAll();
    }

    private void markClosed() {
        context.markClosed();
        step(Trouble.TICKS_NOT_ENDED, endTicks);
        step(Trouble.SUSPENSION_NOT_ENDED, whenClosed);
    }

    private void endAll() {
        // what is held by a turn that a failure has cut short
        handlers.endTurn();
        step(Trouble.BROADCASTS_NOT_CLOSED, closeBroadcasts);
        step(Trouble.PEERS_NOT_CLOSED, closePeers);
        step(Trouble.WAITERS_NOT_TOLD, closeQuota);
    }

    /// Whatever one of them throws, the steps behind it are taken.
    private void step(Trouble trouble, Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            NodeLog.failed(trouble, settings.rank(), failure);
        }
    }

    private void closePeers() {
        for (Peer peer : peers.all()) {
            try {
                peer.close();
            } catch (Throwable failure) {
                NodeLog.failed(Trouble.CLOSE_OF_PEER, settings.rank(), peer.rank(), failure);
            }
        }
    }

    /// @param then runs when all connections are closed; at once if they cannot be
    private void closeAcceptor(Runnable then) {
        try {
            acceptor.close().whenComplete((closed, failure) -> then.run());
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.CONNECTIONS_NOT_CLOSED, settings.rank(), failure);
            then.run();
        }
    }

    private void endHold() {
        if (hold != null) {
            hold.fail("node is closed: rank=" + settings.rank());
        }
    }

    private void endTicks() {
        if (ticks != null) {
            ticks.cancel(false);
        }
    }

    /// As if the process had died: no word to anybody. For tests.
    public CompletableFuture<Void> abort() {
        CompletableFuture<Void> over = new CompletableFuture<>();
        context.onLoop(
                () -> {
                    step(Trouble.CUT_NOT_ENDED, endHold);
                    markClosed();
                    closeAcceptor(() -> {
                        step(Trouble.LATE_SENDS, failLate);
                        endAll();
                        over.complete(null);
                    });
                },
                () -> over.complete(null));
        return over;
    }
}
