// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.internal.bypass.BulkBackoff;
import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.connection.Acceptor;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.connection.Dialer;
import io.bulla.runtime.oob.internal.connection.MemoryShortage;
import io.bulla.runtime.oob.internal.connection.SilentPeerException;
import io.bulla.runtime.oob.internal.connection.Writer;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.Session;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/// Finds one peer, greets it, and says when it is gone.
///
/// The verdict: for the peer timeout, counted while this node's loop turned, nothing was heard of the peer, and an
/// attempt to connect has failed since. A hint from outside that the peer is gone spares the wait: for the peer
/// timeout from then on, one round of attempts that fails is the verdict.
///
/// A connection that the peer opened is as good as one of this node's. If both connect at once, the one from the
/// lower rank stays. One event loop's.
final class PeerConnector implements Dialer.Target, Seeker {

    private static final long COURTESY_NANOS = 20_000_000;
    private static final int FRUITLESS = 8;

    /// The peer, as this needs it. On the loop.
    public interface Host extends Connection.Owner {

        /// A hello says what the peer takes.
        void limits(Hello hello);

        /// The session is to be carried by another connection.
        void onCarried(Hello hello) throws IOException;

        /// The session is over, or the peer is given up.
        ///
        /// @param all whether what was not begun is over, too
        void onSessionOver(PeerFailedException failure, boolean all);

        /// A peer that was given up was looked for in vain.
        void onNotReached(String verdict, String last);

        /// A message never gets there.
        void refuse(PendingSend send, String why);
    }

    private final PeerCore core;
    private final LoopContext context;
    private final Settings settings;
    private final Session session;
    private final Acceptor acceptor;
    private final Host host;
    private final MemoryShortage shortage;
    private final Dialer dialer;
    private final PeerIncarnations incarnations = new PeerIncarnations();
    private final @Nullable BulkBackoff bulk;
    // once this node is no longer suspended
    private boolean resumes;
    private long soughtAt;
    private long heardAt;
    // why it may be gone, as others say; null if they do not
    private @Nullable String hint;
    private long hintedAt;
    // connections in a row on which no message got anywhere
    private int fruitless;
    private boolean advanced;

    PeerConnector(PeerCore core, Acceptor acceptor, MemoryShortage shortage, Host host) {
        this.core = core;
        this.context = core.context;
        this.settings = context.settings();
        this.session = core.session;
        this.acceptor = acceptor;
        this.shortage = shortage;
        this.host = host;
        this.dialer = new Dialer(context, acceptor, core.rank, this);
        this.bulk = BulkBackoff.of(settings.bulk(), settings.rank(), core.rank);
    }

    @Override
    public Connection.Owner owner() {
        return host;
    }

    @Override
    public Hello hello() {
        return session.hello(context.incarnation());
    }

    @Override
    public @Nullable RestoredFrom restoredFrom() {
        CutName name = settings.cutName();
        return name == null
                ? null
                : new RestoredFrom(name.epoch(), name.attempt(), incarnations.now(), session.isRestored());
    }

    /// Whether this node and the peer do not go on from the same moment.
    ///
    /// @return what is wrong, or `null`
    @Nullable
    String otherCheckpoint(Hello hello, @Nullable RestoredFrom theirs) {
        return new OtherCheckpoint(settings.rank(), settings.cutName())
                .of(hello, theirs, session.isRestored(), incarnations.now(), context.incarnation());
    }

    @Override
    public @Nullable Rendezvous offer(Connection fresh) {
        BulkBackoff way = bulk;
        if (way == null) {
            return null;
        }
        Rendezvous.Host line = new Rendezvous.Host() {
            @Override
            public void say(Frame frame) {
                fresh.owed().answer(frame);
                fresh.sayOwed();
            }

            @Override
            public void pump() {
                host.pump();
            }

            @Override
            public void failed(Throwable why) {
                if (!fresh.isOver()) {
                    way.failed(context.loopTime(), why);
                    fresh.fail(new IOException("bulk transport failed: " + why.getMessage(), why));
                }
            }
        };
        BulkLine open = way.open(context.loopTime(), why -> context.onLoop(() -> line.failed(why)));
        return open == null ? null : new Rendezvous(settings.rank(), way, open, context::onLoop, line);
    }

    /// Something of the peer has arrived.
    void onHeard(long loopTime) {
        heardAt = loopTime;
    }

    /// A hello on a connection that the peer opened.
    void onHello(Connection fresh, Hello hello) throws IOException {
        // a node with a lower rank has its own hello on the way: that one stays
        if (settings.rank() < core.rank && dialer.isGreetingInTime()) {
            onHeard(context.loopTime());
            fresh.refuse(Refusal.OTHER_CONNECTION, "both connect: ranks=" + settings.rank() + "," + core.rank);
            return;
        }
        String whyOver = incarnations.whyOver(hello.life());
        if (!incarnations.take(hello.life(), core.isConnected())) {
            fresh.refuse(Refusal.CLAIMED_TWICE, core.claimedTwice(fresh));
            return;
        }
        session.checkFormer(hello);
        onHeard(context.loopTime());
        Session.Answer answer = session.greet(hello);
        if (answer == Session.Answer.BEGAN_ANEW) {
            startSession(whyOver);
            answer = session.greet(hello);
        }
        switch (answer) {
            case LATE -> fresh.overtaken("hello is not a new one: peer=" + core.rank + " number=" + hello.number());
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
        if (!core.isConnected() && !core.isSeeking() && session.queued() > 0) {
            seek();
        }
    }

    /// A hello on a connection that this node opened.
    void onAnswer(Connection fresh, Hello hello) throws IOException {
        if (!dialer.isAttempt(fresh)) {
            fresh.end();
            return;
        }
        String whyOver = incarnations.whyOver(hello.life());
        if (!incarnations.take(hello.life(), core.isConnected())) {
            throw new IOException(core.claimedTwice(fresh));
        }
        session.checkFormer(hello);
        onHeard(context.loopTime());
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
                throw new IOException("peer has another session: rank=" + core.rank + " reason=" + whyOver);
            }
        }
    }

    /// The other side, which lives, does not take a connection of this node's.
    ///
    /// @param incarnation of the process that refuses; 0 if it does not say
    void onRefusal(Connection fresh, Refusal reason, long incarnation, String text) {
        if (!dialer.isAttempt(fresh)) {
            return;
        }
        switch (reason) {
            case SESSION_OVER -> {
                onHeard(context.loopTime());
                startSession(incarnations.whyOver(incarnation));
            }
            case CLOSING -> giveUp("it is closing");
            case OTHER_CONNECTION -> onHeard(context.loopTime());
            case OTHER_CHECKPOINT -> acceptor.onUnknownPeer(fresh.channel().remoteAddress(), new IOException(text));
            default -> context.debug("refused: peer=" + core.rank + " reason=" + reason + " " + text);
        }
    }

    /// From now on this connection carries the session.
    private void use(Connection fresh, Hello hello) throws IOException {
        Carrier before = core.carrier();
        Writer out = new Writer(fresh, session, settings, fresh.rendezvous());
        core.connected(new Carrier(fresh, out, fresh.rendezvous()));
        if (before != null) {
            before.connection().fail(new IOException("replaced by a new connection"));
        }
        core.verdict = null;
        dialer.stop();
        hint = null;
        advanced = false;
        host.limits(hello);
        fresh.open(host, hello.features());
        host.onCarried(hello);
        fresh.meet();
        core.counters.connections++;
        context.debug("connected: peer=" + core.rank + " dialed=" + fresh.isDialed());
        // what is granted
        fresh.owed().oweAck();
        out.start();
    }

    /// A message has got somewhere: the connection works.
    @Override
    public void onProgress() {
        if (!advanced) {
            advanced = true;
            fruitless = 0;
            dialer.calm();
        }
        shortage.isOver();
    }

    /// A connection is over.
    void onLost(Connection over, Throwable cause) {
        Carrier carrier = core.carrier();
        if (dialer.isAttempt(over)) {
            dialer.failed(cause);
        } else if (carrier != null && carrier.connection() == over) {
            core.become(PeerState.IDLE);
            session.interrupt();
            if (!context.isClosed()) {
                NodeLog.LOG.log(
                        Level.DEBUG,
                        "connection lost: rank=" + settings.rank() + " peer=" + core.rank + " " + cause.getMessage());
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
            session.failHeads(
                    FRUITLESS,
                    send -> host.refuse(
                            send,
                            "connections broke one after the other while it was sent: count=" + fruitless + " last="
                                    + cause.getMessage()));
        }
        // the wait for the verdict begins with the silence
        long since = cause instanceof SilentPeerException ? heardAt : context.loopTime();
        // the lower rank connects first, so that both seldom do
        seek(fruitless > 1 ? dialer.pauseNanos() : settings.rank() < core.rank ? 0 : COURTESY_NANOS, since);
    }

    /// This node has no connections for now; the session stays.
    void suspend() {
        resumes |= core.isConnected() || core.isSeeking();
        Carrier last = core.carrier();
        if (core.isConnected() || core.isSeeking()) {
            core.become(PeerState.IDLE);
        }
        dialer.stop();
        session.interrupt();
        if (last != null) {
            last.connection().end();
        }
    }

    /// Goes on where [#suspend] left off.
    void resume() {
        boolean again = resumes;
        resumes = false;
        if (again || session.queued() > 0) {
            seek(settings.rank() < core.rank ? 0 : COURTESY_NANOS, context.loopTime());
        }
    }

    @Override
    public void seek() {
        seek(0, context.loopTime());
    }

    private void seek(long afterNanos, long since) {
        if (context.isSuspended()) {
            return;
        }
        if (!core.isSeeking() && !core.isConnected()) {
            core.become(PeerState.SEEKING);
            soughtAt = since;
            dialer.countFromNow();
        }
        dialer.start(afterNanos);
    }

    /// Looks once whether it is back.
    void probe() {
        if (!context.isSuspended()) {
            dialer.probe();
        }
    }

    /// Others say that the peer is gone. That is no verdict, and one may be near.
    void suspect(String why) {
        if (core.state() == PeerState.GIVEN_UP) {
            return;
        }
        hint = why;
        hintedAt = context.loopTime();
        if (core.state() == PeerState.IDLE) {
            dialer.countFromNow();
            probe();
        }
        onNotReached();
    }

    @Override
    public void onNotReached() {
        if (core.verdict != null && dialer.hasFailed()) {
            host.onNotReached(core.verdict, dialer.lastFailure());
        }
        if (hint != null && !core.isConnected() && dialer.hasFailed()) {
            if (context.loopTime() - hintedAt < settings.peerTimeoutNanos()) {
                giveUp(hint + " last=" + dialer.lastFailure());
            } else {
                hint = null;
            }
        }
        judge(context.loopTime());
    }

    /// The verdict: nothing more is expected of this peer. A later send, or a hello of the peer's, begins anew.
    void giveUp(String why) {
        resumes = false;
        hint = null;
        dialer.stop();
        Carrier last = end(PeerState.GIVEN_UP, core.judged(why), true);
        if (last != null) {
            last.connection().end();
        }
    }

    /// What was begun may have been handled in the session that is over, and must not be handled twice.
    private void startSession(String why) {
        PeerFailedException failure = context.failures().peerFailed(core.rank, why);
        dialer.calm();
        Carrier last = end(core.isConnected() ? PeerState.IDLE : core.state(), failure, false);
        if (last != null) {
            last.connection().fail(failure);
        }
    }

    private @Nullable Carrier end(PeerState next, PeerFailedException failure, boolean all) {
        Carrier last = core.carrier();
        if (last != null) {
            // before the listener hears of it: what the peer wrote to is the program's again
            last.connection().endRendezvous();
        }
        if (core.state() != next) {
            core.become(next);
        }
        fruitless = 0;
        host.onSessionOver(failure, all);
        return last;
    }

    /// This node closes. A connection says goodbye by itself.
    void close() {
        if (core.isSeeking()) {
            core.become(PeerState.IDLE);
        }
        dialer.stop();
    }

    void tick(long loopTime) {
        dialer.tick(loopTime);
        judge(loopTime);
    }

    private void judge(long loopTime) {
        // one whose machine took the connection may answer yet, until the attempt fails
        if (core.isSeeking()
                && !dialer.isGreeting()
                && dialer.hasFailed()
                && loopTime - Math.max(soughtAt, heardAt) >= settings.peerTimeoutNanos()) {
            giveUp("no connection: millis=" + settings.peerTimeoutNanos() / 1_000_000 + " last="
                    + dialer.lastFailure());
        }
    }
}
