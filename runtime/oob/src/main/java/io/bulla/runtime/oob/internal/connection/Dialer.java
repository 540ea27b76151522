// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Tries to connect to one peer, again and again with growing pauses, until told to stop. A round asks the directory,
/// and takes each of the peer's addresses in turn, beginning with the one that worked last; pauses are between
/// rounds.
///
/// ```
/// RESTING --start--> PAUSING --> ASKING --addresses--> CONNECTING --connected--> GREETING --hello--> RESTING
///                       ^           |                      |                        |
///                       +-- failed -+----------------------+------------------------+     any --stop--> RESTING
/// ```
///
/// A directory that does not answer in time counts as an attempt that failed; its answer is waited for all the same.
///
/// One event loop's.
public final class Dialer {

    /// The peer that is dialed. On the loop.
    public interface Target {

        /// Whom connections are for.
        Connection.Owner owner();

        /// The first words of this node.
        Hello hello();

        /// What a hello says of the checkpoint that this node goes on from, or `null`: it goes on from none.
        @Nullable
        RestoredFrom restoredFrom();

        /// What a hello offers beside the connection, or `null`.
        @Nullable
        Rendezvous offer(Connection fresh);

        /// An attempt to connect has failed.
        void onNotReached();
    }

    private static final long FIRST_PAUSE_NANOS = 10_000_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;
    private static final String SILENT = "directory did not answer";

    private final LoopContext context;
    private final Acceptor acceptor;
    private final int peer;
    private final Target target;
    private @Nullable Future<?> pause;
    private @Nullable DirectoryQuery query;
    private @Nullable ChannelFuture connecting;
    private @Nullable Connection attempt;
    private long greetedAt;
    private int failures;
    private boolean failedSince;
    // since when the directory has not answered, and whether that is too long
    private long askedAt;
    private boolean silent;
    // the addresses of this round, which of them is tried, and how many were
    private List<SocketAddress> addresses = List.of();
    private int turn;
    private int tried;
    private boolean once;
    private String lastFailure = "none tried";

    /// @param acceptor makes connections of channels
    public Dialer(LoopContext context, Acceptor acceptor, int peer, Target target) {
        this.context = context;
        this.acceptor = acceptor;
        this.peer = peer;
        this.target = target;
    }

    /// Tries each address once, unless it does already.
    public void probe() {
        if (isResting()) {
            once = true;
            tried = 0;
            pauseThenDial(0);
        }
    }

    private boolean isResting() {
        return pause == null && query == null && connecting == null && attempt == null;
    }

    /// Begins to try, unless it does already.
    public void start(long afterNanos) {
        once = false;
        if (isResting()) {
            tried = 0;
            pauseThenDial(afterNanos);
        }
    }

    public void stop() {
        if (pause != null) {
            pause.cancel(false);
            pause = null;
        }
        forgetQuery();
        if (connecting != null) {
            Channel channel = connecting.channel();
            connecting = null;
            endIfMade(channel);
        }
        if (attempt != null) {
            Connection given = attempt;
            attempt = null;
            given.end();
        }
    }

    /// One that could not be made, for want of a descriptor or of heap, has no loop that could close it.
    private static void endIfMade(Channel channel) {
        if (channel.isRegistered()) {
            SureClose.of(channel);
        }
    }

    private void forgetQuery() {
        if (query != null) {
            DirectoryQuery open = query;
            query = null;
            open.forget();
        }
    }

    /// Whether a hello of this node is on its way.
    public boolean isGreeting() {
        return attempt != null && attempt.channel().isActive();
    }

    /// Whether it may still be answered: not if it has been on its way for half of its time, as one that has come to
    /// something that takes connections and says nothing.
    public boolean isGreetingInTime() {
        return isGreeting() && context.loopTime() - greetedAt < patience(addresses.size()) / 2;
    }

    public boolean isAttempt(Connection connection) {
        return connection == attempt;
    }

    /// From now on failures count for the verdict.
    public void countFromNow() {
        failedSince = false;
        silent = false;
        askedAt = context.loopTime();
        tried = 0;
    }

    /// Whether all addresses have failed since, or the directory has none and does not answer.
    public boolean hasFailed() {
        return failedSince || silent;
    }

    /// The attempt has become the connection to the peer.
    public void succeeded() {
        attempt = null;
    }

    /// A connection has proven to work, so the next pause is short again.
    public void calm() {
        failures = 0;
    }

    public String lastFailure() {
        return silent ? SILENT : lastFailure;
    }

    /// The attempt is over.
    public void failed(Throwable cause) {
        attempt = null;
        connecting = null;
        turn++;
        tried++;
        over(cause);
    }

    private void over(Throwable cause) {
        boolean all = tried >= addresses.size();
        if (all) {
            tried = 0;
            failedSince = true;
        }
        lastFailure = words(cause);
        context.debug("no connection: peer=" + peer + " failures=" + (failures + 1) + " reason=" + lastFailure);
        if (!all) {
            pauseThenDial(0);
        } else if (!once) {
            pauseThenDial(pauseNanos());
        }
        target.onNotReached();
    }

    private static String words(Throwable cause) {
        String said = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        // that a channel could not be made; what the system said lies within
        return cause instanceof ChannelException && cause.getCause() != null
                ? said + ": " + ListeningSocket.innermost(cause).getMessage()
                : said;
    }

    /// Looks whether the directory takes too long.
    public void tick(long loopTime) {
        if (query == null || silent || loopTime - askedAt < patience(1)) {
            return;
        }
        silent = true;
        context.debug("no connection: peer=" + peer + " reason=" + SILENT);
        if (once) {
            forgetQuery();
        }
        target.onNotReached();
    }

    /// The next pause: each is longer than the one before, until a connection has proven to work.
    public long pauseNanos() {
        long longest = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures++, 10));
        return context.settings().environment().between(longest / 2, longest);
    }

    private void pauseThenDial(long nanos) {
        pause = context.eventLoop()
                .schedule(
                        () -> {
                            pause = null;
                            dial();
                        },
                        nanos,
                        TimeUnit.NANOSECONDS);
    }

    private void dial() {
        if (tried == 0) {
            ask();
        } else {
            dialNext();
        }
    }

    private void ask() {
        DirectoryQuery fresh = new DirectoryQuery();
        query = fresh;
        silent = false;
        askedAt = context.loopTime();
        fresh.ask(context.settings().directory(), peer);
        if (fresh.isAnswered()) {
            answered(fresh);
        } else {
            fresh.whenOver(() -> context.onLoop(() -> answered(fresh)));
        }
    }

    private void answered(DirectoryQuery asked) {
        if (query != asked) {
            // forgotten
            return;
        }
        query = null;
        silent = false;
        try {
            addresses = asked.addresses();
        } catch (Throwable nowhere) {
            addresses = List.of();
            over(nowhere);
            return;
        }
        dialNext();
    }

    private void dialNext() {
        SocketAddress address;
        try {
            turn = Math.floorMod(turn, addresses.size());
            address = Objects.requireNonNull(addresses.get(turn), "directory answered a null address");
            context.settings().security().checkAddress(address);
        } catch (Throwable nowhere) {
            failed(nowhere);
            return;
        }
        connect(address);
    }

    /// For an attempt that is one of so many, such that several rounds fit before the verdict.
    private long patience(int attempts) {
        Settings settings = context.settings();
        return Math.min(settings.helloNanos(), Math.max(settings.peerTimeoutNanos() / 3 / attempts, 50_000_000));
    }

    private void connect(SocketAddress address) {
        Settings settings = context.settings();
        long patience = patience(addresses.size());
        ChannelFuture future = new Bootstrap()
                .group(context.eventLoop())
                .channel(settings.transport().client())
                .option(ChannelOption.ALLOCATOR, settings.allocator())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Math.max(1, patience / 1_000_000))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) throws IOException {
                        acceptor.install(fresh, target.owner(), patience);
                    }
                })
                .connect(address);
        connecting = future;
        long begun = context.loopTime();
        future.addListener(done -> {
            // the deadline of the hello ends with that of the connection, and may close it first; a channel that could
            // not be made is closed, too, but at once
            boolean late =
                    future.cause() instanceof ClosedChannelException && context.loopTime() - begun >= patience / 4 * 3;
            Throwable cause = late
                    ? new ConnectTimeoutException(
                            "connection timed out after " + patience / 1_000_000 + " ms: " + address)
                    : future.cause();
            if (context.eventLoop().inEventLoop()) {
                connected(future, cause);
            } else {
                // of a channel that could not be made Netty tells on a thread of its own
                context.onLoop(() -> connected(future, cause));
            }
        });
    }

    private void connected(ChannelFuture future, @Nullable Throwable cause) {
        if (connecting != future) {
            // given up meanwhile
            endIfMade(future.channel());
        } else if (cause != null) {
            failed(cause);
        } else {
            connecting = null;
            attempt = future.channel().pipeline().get(Connection.class);
            if (attempt == null) {
                failed(new IOException("connection closed"));
            } else {
                greetedAt = context.loopTime();
                attempt.hello(target.hello(), target.restoredFrom(), target.offer(attempt));
            }
        }
    }
}
