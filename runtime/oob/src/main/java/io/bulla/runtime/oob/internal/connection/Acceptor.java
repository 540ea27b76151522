// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.interop.netty.FrameReader;
import io.bulla.runtime.oob.internal.admission.Admission;
import io.bulla.runtime.oob.internal.admission.RefusalLog;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Where connections begin: each is secured, says hello, and is given to its peer or refused. One event loop's.
public final class Acceptor implements Door {

    private final LoopContext context;
    private final IntFunction<? extends Connection.Owner> peers;
    private final Settings settings;
    private final ChannelGroup channels;
    private final RefusalLog refusals;
    private final Admission admission;
    private @Nullable ListeningSocket listener;

    /// @param peers by rank
    public Acceptor(LoopContext context, IntFunction<? extends Connection.Owner> peers) {
        this.context = context;
        this.peers = peers;
        this.settings = context.settings();
        this.channels = new DefaultChannelGroup(context.eventLoop(), true);
        this.refusals = new RefusalLog(settings.rank(), context.eventLoop());
        this.admission = new Admission(
                settings.connections().greeting(),
                settings.connections().connections(),
                settings.connections().perSecond(),
                settings.environment().clock(),
                context.eventLoop(),
                refusals);
    }

    public Admission admission() {
        return admission;
    }

    /// Accepts connections from now on.
    public void listen(ListeningSocket socket) {
        listener = socket;
        socket.accept(admission, this::accept);
    }

    /// The loop turns.
    public void tick(long now) {
        if (listener != null) {
            listener.tick(now);
        }
    }

    /// Closes the port and every connection, to go on later.
    ///
    /// @return completes when all are closed
    public CompletableFuture<Void> suspend() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        closing.add(Objects.requireNonNull(listener, "listener").close());
        for (Channel channel : List.copyOf(channels)) {
            CompletableFuture<Void> closed = new CompletableFuture<>();
            closing.add(closed);
            channel.closeFuture().addListener(done -> closed.complete(null));
            SureClose.of(channel);
        }
        return CompletableFuture.allOf(closing.toArray(CompletableFuture<?>[]::new));
    }

    private void accept(Channel fresh) {
        if (context.isSuspended()) {
            // it was in Netty's hands when the port was closed
            fresh.close();
            return;
        }
        try {
            settings.security().checkAddress(fresh.remoteAddress());
            install(fresh, null, settings.helloNanos());
        } catch (IOException refused) {
            // Netty would print its stack
            onUnknownPeer(fresh.remoteAddress(), refused);
            fresh.close();
        }
    }

    private WriteBufferWaterMark waterMark() {
        return new WriteBufferWaterMark(settings.fragment() / 2, settings.fragment());
    }

    /// Makes a connection of a fresh channel.
    ///
    /// @param dialed whom it was dialed to, or `null` if it was accepted
    /// @param helloNanos time for the other side to say hello
    void install(Channel channel, Connection.@Nullable Owner dialed, long helloNanos) throws IOException {
        Connection connection = new Connection(context, this, channel, dialed, helloNanos);
        int expected = dialed == null ? Security.UNKNOWN : dialed.rank();
        channels.add(channel);
        channel.config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark());
        settings.security().secure(channel, expected != Security.UNKNOWN, expected);
        FrameDispatch frames = new FrameDispatch(context, connection);
        FrameReader.install(channel, new LandingMemory(settings.source(), frames::isMessage), frames);
        channel.pipeline().addLast(connection);
    }

    @Override
    public void onHello(
            Connection connection, Connection.@Nullable Owner dialed, Hello hello, @Nullable RestoredFrom from)
            throws IOException {
        if (context.isClosed()) {
            connection.refuse(Refusal.CLOSING, "node is closing: rank=" + settings.rank());
            return;
        }
        if (context.isSuspended()) {
            // its channel is being closed, and TLS has let go of what had come
            connection.end();
            return;
        }
        int proven = settings.security().peerOf(connection.channel());
        String wrong = wrongWith(hello, proven, dialed);
        if (wrong != null) {
            connection.refuse(Refusal.STRANGER, wrong);
        } else if (hello.oldest() > settings.newestVersion() || hello.newest() < settings.oldestVersion()) {
            connection.refuse(
                    Refusal.VERSION,
                    "no version in common: rank=" + settings.rank() + " versions=" + settings.oldestVersion() + "-"
                            + settings.newestVersion() + " peer=" + hello.rank() + " versions=" + hello.oldest() + "-"
                            + hello.newest());
        } else {
            hand(connection, dialed, peers.apply(hello.rank()), hello, from);
        }
    }

    private void hand(
            Connection connection,
            Connection.@Nullable Owner dialed,
            Connection.Owner peer,
            Hello hello,
            @Nullable RestoredFrom from)
            throws IOException {
        String other = peer.otherCheckpoint(hello, from);
        if (other != null) {
            if (dialed != null) {
                onUnknownPeer(connection.channel().remoteAddress(), new IOException(other));
            }
            connection.refuse(Refusal.OTHER_CHECKPOINT, other);
        } else if (dialed != null) {
            dialed.onAnswer(connection, hello);
        } else {
            admission.greeted(connection.channel());
            peer.onHello(connection, hello);
        }
    }

    @Override
    public boolean isProven(Channel channel) {
        try {
            return settings.security().peerOf(channel) != Security.UNKNOWN;
        } catch (IOException noPeer) {
            return false;
        }
    }

    private @Nullable String wrongWith(Hello hello, int proven, Connection.@Nullable Owner dialed) {
        int claimed = hello.rank();
        if (hello.nodes() != settings.size()) {
            return "not of this job: nodes=" + hello.nodes() + " expected=" + settings.size();
        }
        if (claimed < 0 || claimed >= settings.size() || claimed == settings.rank()) {
            return "not a peer: rank=" + claimed + " nodes=" + settings.size() + " self=" + settings.rank();
        }
        if (proven != Security.UNKNOWN && proven != claimed) {
            return "not who it says it is: claimed=" + claimed + " proven=" + proven;
        }
        if (dialed != null && dialed.rank() != claimed) {
            return "another peer than called: rank=" + claimed + " called=" + dialed.rank();
        }
        return null;
    }

    @Override
    public void onUnknownPeer(SocketAddress remote, Throwable cause) {
        if (!context.isClosed() && !context.isSuspended()) {
            refusals.refused(remote, cause.getMessage());
        }
    }

    /// Closes the port and every connection, whatever one of them throws; one that has said goodbye closes by itself.
    ///
    /// @return completes when all are closed
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> over = new CompletableFuture<>();
        try {
            refusals.close();
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.REFUSALS_NOT_SAID, settings.rank(), failure);
        }
        portClosed().whenComplete((done, failure) -> closeChannels(over));
        return over;
    }

    private CompletableFuture<Void> portClosed() {
        try {
            return listener == null ? CompletableFuture.completedFuture(null) : listener.close();
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.PORT_NOT_CLOSED, settings.rank(), failure);
            return CompletableFuture.completedFuture(null);
        }
    }

    private void closeChannels(CompletableFuture<Void> over) {
        try {
            // those that come later, too
            channels.close(channel -> !isLeaving(channel)).addListener(done -> closeRest(over));
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.CONNECTIONS_NOT_CLOSED, settings.rank(), failure);
            closeRest(over);
        }
    }

    private static boolean isLeaving(Channel channel) {
        Connection connection = channel.pipeline().get(Connection.class);
        return connection != null && connection.isLeaving();
    }

    private void closeRest(CompletableFuture<Void> over) {
        try {
            for (Channel left : List.copyOf(channels)) {
                if (!isLeaving(left)) {
                    SureClose.now(left);
                }
            }
            channels.newCloseFuture().addListener(done -> over.complete(null));
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.CONNECTIONS_NOT_CLOSED, settings.rank(), failure);
            over.complete(null);
        }
    }

    /// For a report. Any thread.
    @Override
    public String toString() {
        return "channels=" + List.copyOf(channels);
    }
}
