// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Tries to connect to one peer, again and again with growing pauses, until told to stop. A round asks the directory,
/// and takes each of the peer's addresses in turn, beginning with the one that worked last; pauses are between rounds.
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
final class Dialer {

    private static final long FIRST_PAUSE_NANOS = 10_000_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;
    private static final String SILENT = "directory did not answer";

    private final NodeLoop nodeLoop;
    private final Peer peer;
    private @Nullable Future<?> pause;
    private @Nullable Lookup lookup;
    private @Nullable ChannelFuture connecting;
    private @Nullable Connection attempt;
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

    Dialer(NodeLoop nodeLoop, Peer peer) {
        this.nodeLoop = nodeLoop;
        this.peer = peer;
    }

    /// Tries each address once, unless it does already.
    void probe() {
        if (isResting()) {
            once = true;
            tried = 0;
            pauseThenDial(0);
        }
    }

    private boolean isResting() {
        return pause == null && lookup == null && connecting == null && attempt == null;
    }

    /// Begins to try, unless it does already.
    void start(long afterNanos) {
        once = false;
        if (isResting()) {
            tried = 0;
            pauseThenDial(afterNanos);
        }
    }

    void stop() {
        if (pause != null) {
            pause.cancel(false);
            pause = null;
        }
        forgetLookup();
        if (connecting != null) {
            Channel channel = connecting.channel();
            connecting = null;
            channel.close();
        }
        if (attempt != null) {
            Connection given = attempt;
            attempt = null;
            given.end();
        }
    }

    private void forgetLookup() {
        if (lookup != null) {
            Lookup open = lookup;
            lookup = null;
            open.forget();
        }
    }

    /// Whether a hello of this node is on its way.
    boolean isGreeting() {
        return attempt != null && attempt.channel().isActive();
    }

    boolean isAttempt(Connection connection) {
        return connection == attempt;
    }

    /// From now on failures count for the verdict.
    void countFromNow() {
        failedSince = false;
        silent = false;
        askedAt = nodeLoop.awake();
        tried = 0;
    }

    /// Whether all addresses have failed since, or the directory has none and does not answer.
    boolean hasFailed() {
        return failedSince || silent;
    }

    /// The attempt has become the connection to the peer.
    void succeeded() {
        attempt = null;
    }

    /// A connection has proven to work, so the next pause is short again.
    void calm() {
        failures = 0;
    }

    String lastFailure() {
        return silent ? SILENT : lastFailure;
    }

    /// The attempt is over.
    void failed(Throwable cause) {
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
        lastFailure = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        nodeLoop.debug("no connection: peer=" + peer.rank() + " failures=" + (failures + 1) + " reason=" + lastFailure);
        if (!all) {
            pauseThenDial(0);
        } else if (!once) {
            pauseThenDial(pauseNanos());
        }
        peer.notReached();
    }

    /// Looks whether the directory takes too long.
    void tick(long awake) {
        if (lookup == null || silent || awake - askedAt < patience(1)) {
            return;
        }
        silent = true;
        nodeLoop.debug("no connection: peer=" + peer.rank() + " reason=" + SILENT);
        if (once) {
            forgetLookup();
        }
        peer.notReached();
    }

    /// The next pause: each is longer than the one before, until a connection has proven to work.
    long pauseNanos() {
        long longest = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(failures++, 10));
        return nodeLoop.settings().surroundings().between(longest / 2, longest);
    }

    private void pauseThenDial(long nanos) {
        pause = nodeLoop.eventLoop()
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
        Lookup fresh = new Lookup();
        lookup = fresh;
        silent = false;
        askedAt = nodeLoop.awake();
        fresh.ask(nodeLoop.settings().directory(), peer.rank());
        if (fresh.isAnswered()) {
            answered(fresh);
        } else {
            fresh.whenOver(() -> nodeLoop.onLoop(() -> answered(fresh)));
        }
    }

    private void answered(Lookup asked) {
        if (lookup != asked) {
            // forgotten
            return;
        }
        lookup = null;
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
            nodeLoop.settings().security().checkAddress(address);
        } catch (Throwable nowhere) {
            failed(nowhere);
            return;
        }
        connect(address);
    }

    /// For an attempt that is one of so many, such that several rounds fit before the verdict.
    private long patience(int attempts) {
        Settings settings = nodeLoop.settings();
        return Math.min(settings.helloNanos(), Math.max(settings.peerTimeoutNanos() / 3 / attempts, 50_000_000));
    }

    private void connect(SocketAddress address) {
        Settings settings = nodeLoop.settings();
        long patience = patience(addresses.size());
        ChannelFuture future = new Bootstrap()
                .group(nodeLoop.eventLoop())
                .channel(settings.transport().client())
                .option(ChannelOption.ALLOCATOR, settings.allocator())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Math.max(1, patience / 1_000_000))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) throws IOException {
                        Connection connection = new Connection(nodeLoop, fresh, peer, patience);
                        nodeLoop.acceptor().install(fresh, connection, peer.rank());
                    }
                })
                .connect(address);
        connecting = future;
        future.addListener(done -> connected(future));
    }

    private void connected(ChannelFuture future) {
        if (connecting != future) {
            // given up meanwhile
            future.channel().close();
        } else if (!future.isSuccess()) {
            failed(future.cause());
        } else {
            connecting = null;
            attempt = future.channel().pipeline().get(Connection.class);
            if (attempt == null) {
                failed(new IOException("connection closed"));
            } else {
                attempt.hello(peer.hello(), peer.restoredFrom(), peer.offer(attempt));
            }
        }
    }
}
