// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.MemorySource;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.core.BulkSettings;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.core.SettingsDraft;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.ranks.Ranks;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.Routing;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// What a node is made of.
public final class OobNodeBuilder {

    private static final int UNKNOWN = -1;

    private final int rank;
    private final int size;
    private final SettingsDraft draft = new SettingsDraft();
    private @Nullable PeerDirectory directory;

    OobNodeBuilder(int rank, int size) {
        Ranks.check(rank, size);
        this.rank = rank;
        this.size = size;
    }

    OobNodeBuilder() {
        this.rank = UNKNOWN;
        this.size = UNKNOWN;
    }

    /// Where received messages land.
    ///
    /// @param source outlives the node
    /// @return this builder
    public OobNodeBuilder memory(MemorySource source) {
        draft.source = source;
        return this;
    }

    /// What nodes of one host lend each other memory by: of what is in it, a peer of this host gets 32 bytes
    /// that say where, in place of the bytes. None by default: all goes over the sockets. Peers that have none, and
    /// those of other hosts, get bytes.
    ///
    /// What arrives can be lent on if the node's [#memory] is the one that this lends.
    ///
    /// @param memory outlives the node
    /// @return this builder
    public OobNodeBuilder localMemory(LocalMemory memory) {
        draft.localMemory = Objects.requireNonNull(memory, "memory");
        return this;
    }

    /// Where peers are found.
    ///
    /// @param directory asked on the event loop before each round of attempts to connect to a peer; it must
    ///     not block, but may answer later ([PeerDirectory#lookUp(int)])
    /// @return this builder
    public OobNodeBuilder directory(PeerDirectory directory) {
        this.directory = directory;
        return this;
    }

    /// How connections are protected; there is no default.
    ///
    /// @param security asked of every connection
    /// @return this builder
    public OobNodeBuilder security(Security security) {
        draft.security = security;
        return this;
    }

    /// Whether broadcasts are signed by their origin, so that relays need not be trusted with what they hand on. The
    /// signature counts towards the [#limit] of a message. [BroadcastSignatures#NONE] by default.
    ///
    /// @param signatures made and checked by the [#security], which has to have a key for each node
    /// @return this builder
    public OobNodeBuilder signatures(BroadcastSignatures signatures) {
        draft.signatures = Objects.requireNonNull(signatures, "signatures");
        return this;
    }

    /// How many connections are accepted. [ConnectionLimits#DEFAULT] by default.
    ///
    /// @param limits what is over them is closed at once
    /// @return this builder
    public OobNodeBuilder connections(ConnectionLimits limits) {
        draft.connections = Objects.requireNonNull(limits, "limits");
        return this;
    }

    /// What carries the connections. [Transport#NIO] by default.
    ///
    /// @param transport whose event loops [#loops] has to give, if they are given
    /// @return this builder
    public OobNodeBuilder transport(Transport transport) {
        draft.transport = Objects.requireNonNull(transport, "transport");
        return this;
    }

    /// The largest message, sent or received. 4 GiB by default.
    ///
    /// @param bytes of the body
    /// @return this builder
    /// @throws IllegalArgumentException if it is negative or more than 512 GiB
    public OobNodeBuilder limit(long bytes) {
        draft.limit = SettingsDraft.bounded("limit of a message", bytes, 0, SendQuota.MOST_BYTES);
        return this;
    }

    /// Longer messages travel in fragments of this size, between which shorter ones may go. 512 KiB by default.
    ///
    /// @param bytes from 1 KiB to 16 MiB
    /// @return this builder
    /// @throws IllegalArgumentException if it is outside
    public OobNodeBuilder fragment(int bytes) {
        draft.fragment = (int) SettingsDraft.bounded("size of a fragment", bytes, Frame.MIN_FRAGMENT, Frame.MAX_BODY);
        return this;
    }

    /// Messages of fewer bytes than this are copied behind their header, into one buffer with their neighbours,
    /// which costs less than to write them where they are. Such a copy is counted in [io.bulla.iovec.CopyTally].
    /// 1 KiB by default.
    ///
    /// @param bytes from 0, never, to 16 KiB
    /// @return this builder
    /// @throws IllegalArgumentException if it is outside
    public OobNodeBuilder coalesceBelow(int bytes) {
        draft.coalesceBelow = (int) SettingsDraft.bounded("size of a coalesced message", bytes, 0, 16 << 10);
        return this;
    }

    /// What may be on its way to one peer, from the send to the acknowledgement. 65536 messages and 256 MiB
    /// by default. A message that is larger than the bound is taken when there is nothing else.
    ///
    /// @param messages 1 to 4 Mi
    /// @param bytes 1 to 512 GiB
    /// @return this builder
    public OobNodeBuilder queuePerPeer(int messages, long bytes) {
        draft.peerMessages = messages;
        draft.peerBytes = bytes;
        return this;
    }

    /// What may be on its way to all peers, from the send to the acknowledgement. 262144 messages and 1 GiB
    /// by default. A message that is larger than the bound is taken when there is nothing else.
    ///
    /// @param messages 1 to 4 Mi
    /// @param bytes 1 to 512 GiB
    /// @return this builder
    public OobNodeBuilder queueInAll(int messages, long bytes) {
        draft.allMessages = messages;
        draft.allBytes = bytes;
        return this;
    }

    /// What a peer may have waiting here, of messages of at most a [#fragment] and of longer ones each: for the
    /// handlers, or for the nodes below to confirm. Each message is counted with its header. The peer is
    /// granted that much and no more before something of it is handled; the direct messages and broadcasts of
    /// its own use at most half. A message that is longer is taken when there is nothing else. 64 MiB by
    /// default.
    ///
    /// @param bytes at least 0
    /// @return this builder
    /// @throws IllegalArgumentException if it is negative
    public OobNodeBuilder inboundHighWaterMark(long bytes) {
        draft.inboundHighWaterMark = SettingsDraft.bounded("inbound high-water mark", bytes, 0, Hello.MOST_WINDOW);
        return this;
    }

    /// How much of messages without a receiver costs their senders nothing, each counted with its header. What is
    /// beyond is kept too, but uses up the sender's credit until it is received. 16 MiB by default.
    ///
    /// @param bytes at least 0
    /// @return this builder
    /// @throws IllegalArgumentException if it is negative
    public OobNodeBuilder unclaimedLimit(long bytes) {
        draft.unclaimedLimit = SettingsDraft.bounded("limit of unclaimed messages", bytes, 0, Long.MAX_VALUE);
        return this;
    }

    /// The shape of broadcasts, the same at every node. A tree of radix 4 by default.
    ///
    /// @param routing the shape
    /// @return this builder
    public OobNodeBuilder routing(Routing routing) {
        draft.routing = Objects.requireNonNull(routing, "routing");
        return this;
    }

    /// How a broadcast's sends get their handles. Shared by default.
    ///
    /// @param policy asked once per child
    /// @return this builder
    public OobNodeBuilder sends(SendPolicy policy) {
        draft.policy = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /// Receives the messages of a tag, from the first on. As [OobNode#receive], but before anything can arrive.
    ///
    /// @param tag any number
    /// @param handler of the tag, replaced by a later one
    /// @return this builder
    public OobNodeBuilder receive(int tag, MessageHandler handler) {
        draft.handlers.put(tag, Objects.requireNonNull(handler, "handler"));
        return this;
    }

    /// Goes on where a cut was taken: what had arrived is handled first, what was not acknowledged is sent, and
    /// numbers go on, so that no message that the peers' cuts have is handled twice. Peers that do not go on from a
    /// cut that fits lose what was begun; their nodes are as those that were restarted.
    ///
    /// @param cut stays the caller's, to be closed after the start
    /// @return this builder
    public OobNodeBuilder restore(NodeCut cut) {
        draft.cut = Objects.requireNonNull(cut, "cut");
        draft.cutName = null;
        return this;
    }

    /// As [#restore(NodeCut)], of a checkpoint that has a name. A peer that goes on from another one, or from none
    /// while this node waits for it, is refused: a line of the log names both, and neither side loses what its
    /// cut has. So is this node by peers that have gone on without it.
    ///
    /// @param cut stays the caller's, to be closed after the start
    /// @param name the same for all nodes of the job
    /// @return this builder
    public OobNodeBuilder restore(NodeCut cut, CutName name) {
        restore(cut);
        draft.cutName = Objects.requireNonNull(name, "name");
        return this;
    }

    /// What carries long messages beside the connections, to peers that have such a transport too: by
    /// rendezvous, from the sender's memory into the receiver's. A broadcast, too, which a node then
    /// hands on when it is whole, and not while it arrives. Order and delivery are as ever, and whatever
    /// fails goes by the connection. None by default.
    ///
    /// The bytes are neither encrypted nor authenticated by the node, so it is for [Security#plaintext()]
    /// alone.
    ///
    /// @param transport outlives the node
    /// @param above messages of at least so many bytes, and longer than a [#fragment]
    /// @return this builder
    /// @throws IllegalArgumentException if `above` is less than 1
    public OobNodeBuilder bulk(BulkTransport transport, long above) {
        draft.bulk = new BulkSettings(
                Objects.requireNonNull(transport, "transport"),
                SettingsDraft.bounded("size of a bulk message", above, 1, Long.MAX_VALUE));
        return this;
    }

    /// Where to listen. A free port of the loopback address by default.
    ///
    /// @param address with a port, or 0 for a free one
    /// @return this builder
    public OobNodeBuilder bind(InetSocketAddress address) {
        draft.bind = Objects.requireNonNull(address, "address");
        return this;
    }

    /// A socket that listens already, in place of [#bind]: for a node whose address has to be known to others before
    /// its rank is. Who connects meanwhile waits in the system's queue. Only for [Transport#NIO].
    ///
    /// @param socket bound and listening; the node's from [#start] on, which closes it if it fails
    /// @return this builder
    public OobNodeBuilder listener(ServerSocketChannel socket) {
        draft.listener = Objects.requireNonNull(socket, "socket");
        return this;
    }

    /// Who is told of a peer that has failed: it cannot be reached, says goodbye, or was restarted.
    ///
    /// @param listener gets the rank and the reason, once per failure; runs as handlers do
    /// @return this builder
    public OobNodeBuilder onPeerLost(BiConsumer<Integer, IOException> listener) {
        draft.lost = Objects.requireNonNull(listener, "listener");
        return this;
    }

    /// What Netty allocates from.
    ///
    /// @param allocator used by all channels of the node
    /// @return this builder
    public OobNodeBuilder allocator(ByteBufAllocator allocator) {
        draft.allocator = Objects.requireNonNull(allocator, "allocator");
        return this;
    }

    /// The event loops, when several nodes share them; the node takes one of them and does not shut it down.
    /// One of its own by default.
    ///
    /// @param loops of the node's [#transport]
    /// @return this builder
    public OobNodeBuilder loops(EventLoopGroup loops) {
        draft.loops = loops;
        return this;
    }

    /// How long who connects may take to say who it is. 5 s by default.
    ///
    /// @param deadline from the connection on
    /// @return this builder
    /// @throws IllegalArgumentException if it is not positive, or more than a day
    public OobNodeBuilder helloDeadline(Duration deadline) {
        draft.hello = SettingsDraft.positive("hello deadline", deadline);
        return this;
    }

    /// How often something is heard of a peer at least. A connection on which nothing arrives for three times as
    /// long is given up. 1 s by default; the peers' should be the same.
    ///
    /// @param interval between signs of life
    /// @return this builder
    /// @throws IllegalArgumentException if it is not positive, or more than a day
    public OobNodeBuilder heartbeat(Duration interval) {
        draft.heartbeat = SettingsDraft.positive("heartbeat", interval);
        return this;
    }

    /// How long a peer may be without a working connection before it counts as failed. 5 s by default.
    ///
    /// @param timeout from the loss of the connection, or from the first send
    /// @return this builder
    /// @throws IllegalArgumentException if it is not positive, or more than a day
    public OobNodeBuilder peerTimeout(Duration timeout) {
        draft.peerTimeout = SettingsDraft.positive("peer timeout", timeout);
        return this;
    }

    /// For the simulator.
    OobNodeBuilder environment(Environment environment) {
        draft.environment = environment;
        return this;
    }

    /// Binds, for a node whose address has to be known to others before its rank, the job's size and the directory
    /// are, and which then starts. Who connects meanwhile waits in the system's queue.
    ///
    /// @return a port that is bound, to be started or closed
    /// @throws IOException if the address cannot be bound, or is not one for the security; nothing is left running
    ///     then
    /// @throws NullPointerException if memory or security is missing
    public BoundNode bind() throws IOException {
        boolean bound = false;
        try {
            Objects.requireNonNull(draft.source, "a node needs a memory source");
            BoundNode node = BoundNode.waitFor(binding());
            bound = true;
            return node;
        } finally {
            if (!bound && draft.listener != null) {
                draft.listener.close();
            }
        }
    }

    /// Starts the node: it listens.
    ///
    /// @return a running node
    /// @throws IOException if the address cannot be bound, or is not one for the security, or the security is
    ///     another rank's; nothing is left running then
    /// @throws NullPointerException if memory, directory or security is missing
    /// @throws IllegalArgumentException if a bound is outside
    /// @throws IllegalStateException if the rank is not known: [#bind()] is before it
    public OobNode start() throws IOException {
        boolean started = false;
        try {
            OobNode node = BoundNode.waitFor(starting());
            started = true;
            return node;
        } finally {
            if (!started && draft.listener != null) {
                draft.listener.close();
            }
        }
    }

    /// As [#start], without waiting.
    CompletableFuture<OobNode> starting() throws IOException {
        Settings settings = settings();
        settings.security().checkRank(rank);
        return binding().thenApply(bound -> bound.begin(settings));
    }

    /// As [#bind()], without waiting.
    CompletableFuture<BoundNode> binding() throws IOException {
        return BoundNode.binding(this, draft);
    }

    Settings settings() {
        if (rank == UNKNOWN) {
            throw new IllegalStateException("rank is not known: bind() first, and start what is bound");
        }
        return settings(rank, size, directory);
    }

    /// @throws NullPointerException if memory, directory or security is missing
    /// @throws IllegalArgumentException if a bound is outside
    Settings settings(int rank, int size, @Nullable PeerDirectory directory) {
        Settings settings = draft.checked(rank, size, directory);
        checkBulk(settings);
        return settings;
    }

    private static void checkBulk(Settings settings) {
        if (settings.bulk() != null && !isPlaintext(settings.security())) {
            throw new IllegalArgumentException("bulk transport carries bytes as they are: security="
                    + settings.security().name());
        }
    }

    private static boolean isPlaintext(Security security) {
        return Security.plaintext().equals(security)
                || Security.plaintextBeyondLoopback().equals(security);
    }
}
