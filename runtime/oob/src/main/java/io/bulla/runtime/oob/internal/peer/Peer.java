// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.PeerStats;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.bypass.FormerLoans;
import io.bulla.runtime.oob.internal.bypass.LocalLink;
import io.bulla.runtime.oob.internal.connection.Acceptor;
import io.bulla.runtime.oob.internal.connection.Connection;
import io.bulla.runtime.oob.internal.connection.MemoryShortage;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.handlers.Handlers;
import io.bulla.runtime.oob.internal.handlers.Notices;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.Session;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One peer: what goes to it, what comes from it, and what finds it, each a part of its own around the one session.
///
/// All on the node's event loop, but for the quota, what is consumed, and what says that any thread may call it.
public final class Peer implements PeerConnector.Host, PendingSend.Owner {

    /// The surroundings that all peers of a node share.
    ///
    /// @param all of the sends to all peers
    public record Surround(
            LoopContext context,
            Acceptor acceptor,
            SendQuota all,
            Handlers handlers,
            Notices notices,
            BroadcastSink broadcasts,
            PeerEvents events) {}

    private final Surround node;
    private final PeerCore core;
    private final FormerLoans local = new FormerLoans();
    private final PeerConnector connector;
    private final Outbound outbound;
    private final Inbound inbound;

    public Peer(Surround node, int rank) {
        this.node = node;
        this.core = new PeerCore(node.context(), rank, node.all());
        MemoryShortage shortage = new MemoryShortage(node.context(), rank, core.session);
        this.connector = new PeerConnector(core, node.acceptor(), shortage, this);
        this.outbound = new Outbound(core, shortage, connector, node.broadcasts());
        this.inbound = new Inbound(core, shortage, connector, node.broadcasts(), node.handlers());
    }

    @Override
    public int rank() {
        return core.rank;
    }

    @Override
    public int self() {
        return node.context().rank();
    }

    @Override
    public long now() {
        return node.context().now();
    }

    @Override
    public SendQuota quota() {
        return core.quota;
    }

    /// The tag of handles of messages to the peer, or `null`. Any thread.
    @Nullable
    public Object tagOfSends() {
        return core.tags.to();
    }

    @Override
    public @Nullable Object tag() {
        return core.tags.from();
    }

    public Session session() {
        return core.session;
    }

    /// The carrier of the session, or `null`.
    @Nullable
    public Carrier carrier() {
        return core.carrier();
    }

    /// Whom its messages are charged to. Any thread.
    public Inbound inbound() {
        return inbound;
    }

    @Override
    public FormerLoans local() {
        return local;
    }

    /// What a cut has in the lanes. Before this node listens.
    public void restore(List<NodeCut.OfLane> cut, List<List<PendingSend>> lanes) {
        outbound.restore(cut, lanes);
    }

    @Override
    public boolean enqueue(PendingSend send) {
        return outbound.enqueue(send);
    }

    @Override
    public void pump() {
        outbound.pump();
    }

    @Override
    public void forget(PendingSend send) {
        outbound.forget(send);
    }

    @Override
    public void end(PendingSend send, Throwable failure) {
        outbound.end(send, failure);
    }

    @Override
    public void refuse(PendingSend send, String why) {
        outbound.refuse(send, why);
    }

    /// Any thread.
    @Override
    public void onCompleted(PendingSend send) {
        node.context().onLoop(() -> outbound.forget(send));
    }

    /// Any thread.
    @Override
    public void close(SealedBuffer handle) {
        node.context().close(handle);
    }

    /// Says something as soon as the connection takes it, in place of an older word of the topic.
    public void notice(int topic, byte[] text) {
        outbound.notice(topic, text);
    }

    @Override
    public boolean writeNotices(Connection out) {
        return outbound.writeNotices(out);
    }

    @Override
    public Frame acknowledgement() {
        return core.session.acknowledgement();
    }

    @Override
    public @Nullable String otherCheckpoint(Hello hello, @Nullable RestoredFrom theirs) {
        return connector.otherCheckpoint(hello, theirs);
    }

    @Override
    public void onHello(Connection fresh, Hello hello) throws IOException {
        connector.onHello(fresh, hello);
    }

    @Override
    public void onAnswer(Connection fresh, Hello hello) throws IOException {
        connector.onAnswer(fresh, hello);
    }

    @Override
    public void onRefusal(Connection fresh, Refusal reason, long incarnation, String text) {
        connector.onRefusal(fresh, reason, incarnation, text);
    }

    @Override
    public void limits(Hello hello) {
        outbound.limits(hello);
    }

    @Override
    public void onCarried(Hello hello) throws IOException {
        node.events().onCarried(core.session);
        outbound.onCarried(hello);
    }

    @Override
    public void onHeard(long loopTime) {
        // before anything is written
        inbound.onRead();
        connector.onHeard(loopTime);
    }

    @Override
    public void check(Frame frame) throws IOException {
        inbound.check(frame);
    }

    @Override
    public boolean owesTooMany(Frame frame) {
        return inbound.owesTooMany(frame);
    }

    @Override
    public boolean isNew(Frame frame) {
        return inbound.isNew(frame);
    }

    @Override
    public void onMemoryShortage(Frame frame, RuntimeException why) {
        inbound.onMemoryShortage(frame, why);
    }

    @Override
    public void onFrame(Frame frame, SealedBuffer body) throws IOException {
        inbound.onFrame(frame, body);
    }

    @Override
    public void onRendezvous(Frame frame) throws IOException {
        inbound.onRendezvous(frame);
    }

    @Override
    public void onCredit(Frame ack) throws IOException {
        outbound.onCredit(ack);
    }

    @Override
    public void onRetry() {
        outbound.onRetry(Objects.requireNonNull(core.carrier(), "carrier"));
    }

    @Override
    public void onReject(Frame reject, String why) {
        outbound.onReject(reject, why);
    }

    @Override
    public void onNotice(int topic, byte[] text) {
        node.notices().arrived(core.rank, topic, text);
    }

    @Override
    public void onBye() {
        giveUp("it has closed");
    }

    @Override
    public void onLost(Connection over, Throwable cause) {
        connector.onLost(over, cause);
    }

    @Override
    public void onNotReached(String verdict, String last) {
        if (outbound.hasNotices()) {
            node.notices().notReached(core.rank, verdict, last);
        }
    }

    @Override
    public void onSessionOver(PeerFailedException failure, boolean all) {
        outbound.end(failure, all);
        core.counters.failures++;
        node.events().onFailed(core.rank, failure);
    }

    /// This node has no connections for now; the session stays.
    public void suspend() {
        connector.suspend();
    }

    /// Goes on where [#suspend] left off.
    public void resume() {
        connector.resume();
    }

    /// Whether the verdict stands: nothing was sent to it since, and it was not heard.
    public boolean isGivenUp() {
        return core.state() == PeerState.GIVEN_UP;
    }

    /// Looks once whether it is back.
    public void probe() {
        connector.probe();
    }

    /// Others say that the peer is gone. That is no verdict, and one may be near.
    public void suspect(String why) {
        connector.suspect(why);
    }

    /// The verdict: nothing more is expected of this peer. A later send, or a hello of the peer's, begins anew.
    public void giveUp(String why) {
        connector.giveUp(why);
    }

    /// This node closes.
    public void close() {
        connector.close();
        outbound.close(node.context().failures().peerFailed(core.rank, "this node is closed"), true);
        Carrier carrier = core.carrier();
        if (carrier != null) {
            carrier.connection().bye();
        }
    }

    /// After a cut, when all nodes have theirs.
    public void goOn() {
        core.session.goOn();
        Carrier carrier = core.carrier();
        if (carrier != null) {
            carrier.connection().owed().oweAck();
        }
        outbound.pump();
    }

    public boolean isDrained() {
        return core.session.queued() == 0;
    }

    public void tick(long now, long loopTime) {
        Carrier carrier = core.carrier();
        if (carrier == null) {
            connector.tick(loopTime);
        } else {
            carrier.connection().tick(now, loopTime, node.context().settings().heartbeatNanos());
            outbound.makeWay();
        }
    }

    PeerStats stats() {
        PeerCounters counters = core.counters;
        Carrier carrier = core.carrier();
        LocalLink link = carrier == null ? null : carrier.connection().local();
        return new PeerStats(
                core.rank,
                state(),
                counters.sentMessages,
                counters.sentBytes,
                counters.receivedMessages,
                counters.receivedBytes,
                core.session.resends(),
                core.session.duplicates(),
                counters.connections,
                counters.failures,
                core.quota.usedMessages(),
                core.quota.usedBytes(),
                core.session.oldest(),
                core.session.held(),
                local.leases() + (link == null ? 0 : link.leases()),
                local.leasedBytes() + (link == null ? 0 : link.leasedBytes()));
    }

    private PeerStats.State state() {
        return switch (core.state()) {
            case CONNECTED -> core.session.isLow() ? PeerStats.State.PAUSED : PeerStats.State.CONNECTED;
            case SEEKING -> PeerStats.State.SEEKING;
            case IDLE, GIVEN_UP -> PeerStats.State.IDLE;
        };
    }
}
