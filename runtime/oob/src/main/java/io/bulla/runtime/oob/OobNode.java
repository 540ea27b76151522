package io.bulla.runtime.oob;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.FrameFormat;
import io.bulla.interop.netty.FrameReader;
import io.bulla.pack.WireFormat;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

/// One participant of the out-of-band channel.
///
/// - *Sends hold a handle*: `send` takes its own before it is queued and closes it once, when it is over,
///   whatever the outcome. The caller's handle stays the caller's.
/// - *Every send completes once*: with a [Delivery], or with a [PeerFailedException].
/// - *A relay adds nothing*: a broadcast that arrives is handed on as the very bytes that were received, while
///   the handler reads them.
/// - *A length is checked before memory is taken for it.*
///
/// Sends to one peer keep their order. Handlers run one at a time, on a thread of the node's own. Wire: [Frame].
public final class OobNode implements AutoCloseable {

    private static final Logger LOG = System.getLogger(OobNode.class.getName());

    private final int rank;
    private final int size;
    private final MemorySource source;
    private final long limit;
    private final Routing routing;
    private final SendPolicy policy;
    private final PeerDirectory directory;
    private final Security security;
    private final BiConsumer<Integer, IOException> lost;
    private final ByteBufAllocator allocator;
    private final EventLoopGroup loops;
    private final boolean ownsLoops;
    private final ExecutorService handlerThread;
    private final Map<Integer, MessageHandler> handlers = new ConcurrentHashMap<>();
    private final Map<Integer, PeerLink> links = new ConcurrentHashMap<>();
    private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final LongAdder xcastSends = new LongAdder();
    private final Channel listener;
    // volatile: set before the links are walked, read after a link was added, so that one of the two closes it
    private volatile boolean closing;

    private OobNode(Builder setup) throws IOException {
        rank = setup.rank;
        size = setup.size;
        source = Objects.requireNonNull(setup.source, "a node needs a memory source");
        limit = setup.limit;
        routing = setup.routing;
        policy = setup.policy;
        directory = Objects.requireNonNull(setup.directory, "a node needs a peer directory");
        security = Objects.requireNonNull(setup.security, "a node needs a security, such as Security.plaintext()");
        security.checkAddress(setup.bind);
        lost = setup.lost;
        allocator = setup.allocator;
        ownsLoops = setup.loops == null;
        loops = ownsLoops ? new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()) : setup.loops;
        handlerThread = Executors.newSingleThreadExecutor(
                Thread.ofVirtual().name("bulla-handler-" + rank).factory());
        try {
            listener = listen(setup.bind);
        } catch (Throwable failure) {
            handlerThread.shutdown();
            shutDownLoops();
            throw failure;
        }
    }

    /// Begins a node.
    ///
    /// @param rank of the node, 0 to `size - 1`
    /// @param size number of nodes
    /// @return a builder with defaults for all but memory and directory
    public static Builder builder(int rank, int size) {
        return new Builder(rank, size);
    }

    /// This node's rank.
    ///
    /// @return 0 to the number of nodes - 1
    public int rank() {
        return rank;
    }

    /// Where this node listens.
    ///
    /// @return the bound address
    public InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    /// Broadcast messages that this node has started to send, to one child each.
    ///
    /// @return a number that only grows
    public long xcastSends() {
        return xcastSends.sum();
    }

    /// Receives the messages of a tag from now on; a message whose tag has no handler is dropped with a log line.
    ///
    /// @param tag any number
    /// @param handler replaces the tag's former handler
    public void receive(int tag, MessageHandler handler) {
        handlers.put(tag, handler);
    }

    /// Sends bytes to one peer, or to this node itself, which then gets the same bytes; what they are, the
    /// receiver has to know.
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @return completes when the peer's socket has taken all bytes
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    /// @throws IllegalArgumentException if there is no such peer or the message is over the limit
    public CompletionStage<Delivery> send(int peer, int tag, SealedBuffer buffer) {
        return send(peer, tag, Optional.empty(), buffer);
    }

    /// Sends packed items to one peer, as [#send(int, int, SealedBuffer)], and says how they are packed.
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param format what the receiver finds in [Message#format()]
    /// @param items stays the caller's
    /// @return completes when the peer's socket has taken all bytes
    /// @throws io.bulla.buffer.ReleasedBufferException if `items` is closed
    /// @throws IllegalArgumentException if there is no such peer or the message is over the limit
    public CompletionStage<Delivery> send(int peer, int tag, WireFormat format, SealedBuffer items) {
        return send(peer, tag, Optional.of(format), items);
    }

    private CompletionStage<Delivery> send(int peer, int tag, Optional<WireFormat> format, SealedBuffer buffer) {
        Objects.checkIndex(peer, size);
        return start(peer, new Frame(Frame.Kind.DIRECT, tag, rank, format, checkedSize(buffer)), buffer);
    }

    /// Sends bytes to every other node, down the tree that starts here; what they are, the receivers have to
    /// know.
    ///
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @return completes when the sockets of this node's children have taken all bytes; the children see to
    ///     the rest
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    /// @throws IllegalArgumentException if the message is over the limit
    public CompletionStage<List<Delivery>> xcast(int tag, SealedBuffer buffer) {
        return xcast(tag, Optional.empty(), buffer);
    }

    /// Sends packed items to every other node, as [#xcast(int, SealedBuffer)], and says how they are packed.
    ///
    /// @param tag of the message
    /// @param format what the receivers find in [Message#format()]
    /// @param items stays the caller's
    /// @return completes when the sockets of this node's children have taken all bytes
    /// @throws io.bulla.buffer.ReleasedBufferException if `items` is closed
    /// @throws IllegalArgumentException if the message is over the limit
    public CompletionStage<List<Delivery>> xcast(int tag, WireFormat format, SealedBuffer items) {
        return xcast(tag, Optional.of(format), items);
    }

    private CompletionStage<List<Delivery>> xcast(int tag, Optional<WireFormat> format, SealedBuffer buffer) {
        List<CompletableFuture<Delivery>> sends =
                handOn(new Frame(Frame.Kind.XCAST, tag, rank, format, checkedSize(buffer)), buffer);
        return CompletableFuture.allOf(sends.toArray(CompletableFuture[]::new))
                .thenApply(all -> sends.stream().map(CompletableFuture::join).toList());
    }

    /// Ends the node: its port is free, its connections are closed, sends that were not over fail, messages
    /// that were not handled are dropped, its threads end. Closing again does nothing. Not to be called from a
    /// handler.
    @Override
    public void close() {
        if (closing) {
            return;
        }
        closing = true;
        listener.close().awaitUninterruptibly();
        links.values().forEach(PeerLink::close);
        accepted.close().awaitUninterruptibly();
        for (Runnable unhandled : handlerThread.shutdownNow()) {
            ((Incoming) unhandled).drop();
        }
        try {
            handlerThread.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        shutDownLoops();
    }

    ByteBufAllocator allocator() {
        return allocator;
    }

    /// @throws IOException if the address is not known, or is not one for this node's security
    SocketAddress addressOf(int peer) throws IOException {
        SocketAddress address = directory.addressOf(peer);
        if (address == null) {
            throw new IOException("its address is not known");
        }
        security.checkAddress(address);
        return address;
    }

    void peerLost(int peer, IOException cause) {
        if (!closing) {
            lost.accept(peer, cause);
        }
    }

    void install(Channel channel, int peer) throws IOException {
        security.secure(channel, peer != Security.UNKNOWN, peer);
        FrameReader.install(channel, source, new Inbound());
        channel.pipeline().addLast(new Connection(peer));
    }

    private Channel listen(InetSocketAddress bind) throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) throws IOException {
                        accepted.add(fresh);
                        security.checkAddress(fresh.remoteAddress());
                        install(fresh, Security.UNKNOWN);
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
        return bound.channel();
    }

    private long checkedSize(SealedBuffer buffer) {
        long bytes = buffer.byteSize();
        if (bytes > limit) {
            throw new IllegalArgumentException("message over the limit: length=" + bytes + " limit=" + limit);
        }
        return bytes;
    }

    private List<CompletableFuture<Delivery>> handOn(Frame frame, SealedBuffer buffer) {
        List<CompletableFuture<Delivery>> sends = new ArrayList<>();
        for (int child : routing.children(rank, frame.origin(), size)) {
            xcastSends.increment();
            sends.add(start(child, frame, buffer));
        }
        return sends;
    }

    private CompletableFuture<Delivery> start(int peer, Frame frame, SealedBuffer buffer) {
        CompletableFuture<Delivery> completion = new CompletableFuture<>();
        SealedBuffer handle = frame.kind() == Frame.Kind.XCAST ? policy.outgoing(buffer) : buffer.share();
        if (peer == rank) {
            dispatch(new Message(rank, frame.tag(), frame.format(), handle));
            completion.complete(new Delivery(peer, frame.tag(), frame.length()));
        } else {
            links.computeIfAbsent(peer, p -> new PeerLink(this, p, loops.next()))
                    .send(frame, handle, completion);
            if (closing) {
                links.get(peer).close();
            }
        }
        return completion;
    }

    private void dispatch(Message message) {
        Incoming incoming = new Incoming(message);
        try {
            handlerThread.execute(incoming);
        } catch (RejectedExecutionException closed) {
            incoming.drop();
        }
    }

    private static Message message(Frame frame, SealedBuffer body) {
        return new Message(frame.origin(), frame.tag(), frame.format(), body);
    }

    private void shutDownLoops() {
        if (ownsLoops) {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    /// A message on its way to its handler; owns the node's handle.
    private final class Incoming implements Runnable {

        private final Message message;

        Incoming(Message message) {
            this.message = message;
        }

        @Override
        public void run() {
            try (SealedBuffer held = message.buffer()) {
                MessageHandler handler = handlers.get(message.tag());
                if (handler == null) {
                    LOG.log(
                            Level.WARNING,
                            "no handler: rank={0} tag={1} bytes={2}",
                            rank,
                            message.tag(),
                            held.byteSize());
                } else {
                    handler.received(message);
                }
            } catch (RuntimeException failure) {
                LOG.log(Level.ERROR, "handler failed: rank=" + rank + " tag=" + message.tag(), failure);
            }
        }

        void drop() {
            message.buffer().close();
        }
    }

    /// Takes the frames of one connection apart.
    private final class Inbound implements FrameFormat {

        @Override
        public int headerBytes() {
            return Frame.BYTES;
        }

        @Override
        public long bodyBytes(ByteBuffer header) throws IOException {
            Frame frame = Frame.read(header, limit);
            if (frame.origin() < 0 || frame.origin() >= size) {
                throw new IOException("origin is not a node: origin=" + frame.origin() + " nodes=" + size);
            }
            return frame.length();
        }

        @Override
        public void frame(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            Frame frame;
            try {
                frame = Frame.read(header, limit);
            } catch (IOException checkedBefore) {
                throw new AssertionError(checkedBefore);
            }
            switch (frame.kind()) {
                case HELLO -> {
                    body.close();
                    context.pipeline().get(Connection.class).hello(context.channel(), frame.origin());
                }
                case DIRECT -> dispatch(message(frame, body));
                case XCAST -> {
                    try {
                        handOn(frame, body);
                    } finally {
                        dispatch(message(frame, body));
                    }
                }
            }
        }
    }

    /// The end of a connection: tells why, once.
    private final class Connection extends ChannelInboundHandlerAdapter {

        private int peer;
        private Throwable why = new IOException("connection closed");

        Connection(int peer) {
            this.peer = peer;
        }

        void hello(Channel channel, int claimed) {
            try {
                int proven = security.peerOf(channel);
                if (proven != Security.UNKNOWN && proven != claimed) {
                    throw new IOException("not who it says it is: claimed=" + claimed + " proven=" + proven);
                }
                peer = claimed;
            } catch (IOException stranger) {
                why = stranger;
                channel.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            why = cause;
            context.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            peerLost(peer, PeerFailedException.of(peer, why));
        }
    }

    /// What a node is made of.
    public static final class Builder {

        private final int rank;
        private final int size;
        private MemorySource source;
        private PeerDirectory directory;
        private Security security;
        private long limit = 1L << 32;
        private Routing routing = new Radix(4);
        private SendPolicy policy = SendPolicy.SHARED;
        private InetSocketAddress bind = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private BiConsumer<Integer, IOException> lost = (peer, cause) -> {};
        private ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
        private EventLoopGroup loops;

        private Builder(int rank, int size) {
            Objects.checkIndex(rank, size);
            this.rank = rank;
            this.size = size;
        }

        /// Where received messages land.
        ///
        /// @param source outlives the node
        /// @return this builder
        public Builder memory(MemorySource source) {
            this.source = source;
            return this;
        }

        /// Where peers are found.
        ///
        /// @param directory asked when the first message to a peer is sent
        /// @return this builder
        public Builder directory(PeerDirectory directory) {
            this.directory = directory;
            return this;
        }

        /// How connections are protected; there is no default.
        ///
        /// @param security asked of every connection
        /// @return this builder
        public Builder security(Security security) {
            this.security = security;
            return this;
        }

        /// The largest message, sent or received. 4 GiB unless said.
        ///
        /// @param bytes of the body
        /// @return this builder
        public Builder limit(long bytes) {
            this.limit = bytes;
            return this;
        }

        /// The shape of broadcasts, the same at every node. A tree of radix 4 unless said.
        ///
        /// @param routing the shape
        /// @return this builder
        public Builder routing(Routing routing) {
            this.routing = routing;
            return this;
        }

        /// How a broadcast's sends get their handles. Shared unless said.
        ///
        /// @param policy asked once per child
        /// @return this builder
        public Builder sends(SendPolicy policy) {
            this.policy = policy;
            return this;
        }

        /// Where to listen. A free port of the loopback address unless said.
        ///
        /// @param address with a port, or 0 for a free one
        /// @return this builder
        public Builder bind(InetSocketAddress address) {
            this.bind = address;
            return this;
        }

        /// Who is told of a peer that cannot be reached or whose connection ended.
        ///
        /// @param listener gets the rank (-1 if the peer never said who it is) and the reason, perhaps more
        ///     than once; runs on an event loop and must not block
        /// @return this builder
        public Builder onPeerLost(BiConsumer<Integer, IOException> listener) {
            this.lost = listener;
            return this;
        }

        /// What Netty allocates from.
        ///
        /// @param allocator used by all channels of the node
        /// @return this builder
        public Builder allocator(ByteBufAllocator allocator) {
            this.allocator = allocator;
            return this;
        }

        /// The event loops, when several nodes share them; the node does not shut them down then. Its own unless
        /// said.
        ///
        /// @param loops NIO event loops
        /// @return this builder
        public Builder loops(EventLoopGroup loops) {
            this.loops = loops;
            return this;
        }

        /// Starts the node: it listens.
        ///
        /// @return a running node
        /// @throws IOException if the address cannot be bound; nothing is left running then
        public OobNode start() throws IOException {
            return new OobNode(this);
        }
    }
}
