package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.FrameReader;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/// What a node's event loop runs: sends come in from all threads, peers and their connections live here.
///
/// One loop serves a whole node, so nothing in here has a lock: a connection that a peer opened is on the loop of
/// the session that it turns out to carry.
final class Hub {

    private static final Logger LOG = System.getLogger(OobNode.class.getName());

    private final Settings settings;
    private final EventLoop loop;
    private final Inbox inbox;
    private final Handlers handlers;
    private final Room room;
    private final Broadcasts broadcasts;
    private final Map<Integer, Peer> peers = new ConcurrentHashMap<>();
    private final ChannelGroup channels;
    private final List<Peer> dirty = new ArrayList<>();
    private final Runnable drain = this::drain;
    private final Handover<Send> intake = new Handover<>() {
        @Override
        Send next(Send send) {
            return send.next;
        }

        @Override
        void link(Send send, Send next) {
            send.next = next;
        }
    };
    private Future<?> ticks;
    private long lastTick = System.nanoTime();
    private boolean closed;

    Hub(Settings settings, EventLoop loop) {
        this.settings = settings;
        this.loop = loop;
        this.inbox = new Inbox(settings.rank());
        this.handlers = new Handlers(settings.rank(), settings.keepBytes(), inbox);
        this.room = new Room(new Quota(settings.allMessages(), settings.allBytes()));
        this.broadcasts = new Broadcasts(this);
        this.channels = new DefaultChannelGroup(loop, true);
    }

    Settings settings() {
        return settings;
    }

    EventLoop loop() {
        return loop;
    }

    Handlers handlers() {
        return handlers;
    }

    Inbox inbox() {
        return inbox;
    }

    Room room() {
        return room;
    }

    Broadcasts broadcasts() {
        return broadcasts;
    }

    boolean isClosed() {
        return closed;
    }

    /// Any thread.
    Peer peer(int rank) {
        Peer known = peers.get(rank);
        return known != null ? known : peers.computeIfAbsent(rank, r -> new Peer(this, r));
    }

    /// Binds, and from then on accepts.
    Channel listen(InetSocketAddress bind) throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loop, loop)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.ALLOCATOR, settings.allocator())
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) throws IOException {
                        settings.security().checkAddress(fresh.remoteAddress());
                        install(fresh, new Connection(Hub.this, fresh, null, settings.helloNanos()), Security.UNKNOWN);
                    }
                })
                .bind(bind)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + bind.getAddress().getHostAddress() + ":" + bind.getPort() + ": "
                            + bound.cause().getMessage(),
                    bound.cause());
        }
        ticks = loop.scheduleAtFixedRate(
                this::tick, settings.heartbeatNanos() / 2, settings.heartbeatNanos() / 2, TimeUnit.NANOSECONDS);
        return bound.channel();
    }

    WriteBufferWaterMark waterMark() {
        return new WriteBufferWaterMark(settings.fragment() / 2, settings.fragment());
    }

    void install(Channel channel, Connection connection, int expected) throws IOException {
        channels.add(channel);
        settings.security().secure(channel, expected != Security.UNKNOWN, expected);
        FrameReader.install(channel, settings.source(), connection);
        channel.pipeline().addLast(connection);
    }

    /// @throws IOException if the address is not known, or is not one for this node's security
    SocketAddress addressOf(int peer) throws IOException {
        SocketAddress address = settings.directory().addressOf(peer);
        if (address == null) {
            throw new IOException("its address is not known");
        }
        settings.security().checkAddress(address);
        return address;
    }

    /// Queues a send, which has its quota. Any thread.
    void submit(Send send) {
        if (intake.put(send)) {
            onLoop(drain);
        }
    }

    /// A send was completed by somebody else. Any thread.
    void forget(Send send) {
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
        for (Send send = intake.takeAll(); send != null; ) {
            Send next = send.next;
            send.next = null;
            fail(send);
            send = next;
        }
    }

    void fail(Send send) {
        release(send);
        PeerFailedException failure = new PeerFailedException(send.peer.rank(), "this node is closed", null);
        send.fail(failure);
        if (send.result != null) {
            send.result.completeExceptionally(failure);
        }
    }

    private void drain() {
        if (closed) {
            failLate();
            return;
        }
        for (Send send = intake.takeAll(); send != null; ) {
            Send next = send.next;
            send.next = null;
            if (send.isDone()) {
                release(send);
            } else if (send.result != null) {
                broadcasts.begin(send);
            } else {
                enqueue(send);
            }
            send = next;
        }
        for (int i = 0; i < dirty.size(); i++) {
            dirty.get(i).pump();
        }
        dirty.clear();
    }

    private void enqueue(Send send) {
        if (send.deadlineNanos > 0) {
            long left = send.deadlineNanos - send.ageNanos(System.nanoTime());
            send.deadline = loop.schedule(() -> late(send), left, TimeUnit.NANOSECONDS);
        }
        if (send.peer.enqueue(send)) {
            dirty.add(send.peer);
        }
    }

    private void late(Send send) {
        send.fail(send.late());
        send.peer.forget(send);
    }

    /// A send needs its handle and its room no more; again is harmless.
    void release(Send send) {
        SealedBuffer handle = send.handle;
        if (handle != null) {
            send.handle = null;
            handle.close();
        }
        if (send.hasRoom) {
            send.hasRoom = false;
            give(send.peer, send.bytes);
        }
        if (send.deadline != null) {
            send.deadline.cancel(false);
            send.deadline = null;
        }
    }

    void give(Peer peer, long bytes) {
        room.give(peer.quota, bytes);
    }

    /// A whole message has arrived from a peer, and ownership of its bytes.
    void arrived(Frame frame, SealedBuffer whole, Peer from) throws IOException {
        if (frame.kind() == Frame.Kind.XDONE) {
            try (whole) {
                broadcasts.confirmed(frame, whole, from);
            }
        } else {
            dispatch(new Message(frame.origin(), frame.tag(), frame.format(), whole), from);
        }
    }

    /// To the handlers, which own the message's handle from now on. Any thread if it is this node's own.
    void dispatch(Message message, Peer from) {
        Incoming incoming = new Incoming(message, handlers, from);
        from.handing(incoming.bytes);
        inbox.put(incoming);
    }

    /// A hello has arrived.
    void greeted(Connection connection, Peer dialed, Hello hello) throws IOException {
        if (closed) {
            connection.refuse(Refusal.CLOSING, "node is closing: rank=" + settings.rank());
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
        } else if (dialed != null) {
            dialed.answered(connection, hello);
        } else {
            peer(hello.rank()).accept(connection, hello);
        }
    }

    private String wrongWith(Hello hello, int proven, Peer dialed) {
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

    /// A connection ended that never belonged to a peer.
    void strangerLeft(SocketAddress remote, Throwable cause) {
        if (!closed) {
            LOG.log(
                    Level.WARNING,
                    "refused a connection: rank=" + settings.rank() + " remote=" + remote + " reason="
                            + cause.getMessage());
        }
    }

    void peerFailed(Peer peer, PeerFailedException failure) {
        LOG.log(Level.DEBUG, () -> "rank=" + settings.rank() + " " + failure.getMessage());
        if (!closed) {
            inbox.tell("listener", () -> settings.lost().accept(peer.rank(), failure));
            broadcasts.peerFailed(peer.rank());
        }
    }

    /// A connection broke, which is put right if it can be.
    void lost(int peer, Throwable cause) {
        if (!closed) {
            LOG.log(
                    Level.INFO,
                    "connection lost: rank=" + settings.rank() + " peer=" + peer + " " + cause.getMessage());
        }
    }

    void debug(String what) {
        LOG.log(Level.DEBUG, () -> "rank=" + settings.rank() + " " + what);
    }

    private void tick() {
        long now = System.nanoTime();
        // a loop that was held up did not listen either, so it may not judge
        boolean listened = now - lastTick < settings.heartbeatNanos();
        lastTick = now;
        for (Peer peer : peers.values()) {
            peer.tick(now, listened);
        }
    }

    /// Waits until nothing is on its way, then closes everything; fails what is left at the deadline. Any thread.
    ///
    /// @return completes when all is closed
    CompletableFuture<Void> close(long drainNanos) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        long deadline = System.nanoTime() + drainNanos;
        try {
            loop.execute(() -> closeWhenDrained(deadline, over));
        } catch (RejectedExecutionException loopIsDown) {
            failLate();
            over.complete(null);
        }
        return over;
    }

    private void closeWhenDrained(long deadline, CompletableFuture<Void> over) {
        drain();
        boolean drained = broadcasts.isDrained() && peers.values().stream().allMatch(Peer::isDrained);
        if (!drained && System.nanoTime() - deadline < 0) {
            loop.schedule(() -> closeWhenDrained(deadline, over), 2, TimeUnit.MILLISECONDS);
            return;
        }
        closed = true;
        if (ticks != null) {
            ticks.cancel(false);
        }
        failLate();
        broadcasts.close();
        peers.values().forEach(Peer::close);
        room.close();
        channels.close().addListener(done -> over.complete(null));
    }

    /// As if the process had died: no word to anybody. For tests.
    CompletableFuture<Void> abort() {
        CompletableFuture<Void> over = new CompletableFuture<>();
        onLoop(() -> {
            closed = true;
            ticks.cancel(false);
            channels.close().addListener(done -> {
                failLate();
                broadcasts.close();
                peers.values().forEach(Peer::close);
                room.close();
                over.complete(null);
            });
        });
        return over;
    }
}
