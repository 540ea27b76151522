// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.connection.ListeningSocket;
import io.bulla.runtime.oob.internal.core.Deadlines;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.cut.Cuts;
import io.bulla.runtime.oob.internal.cut.LiveCutSession;
import io.bulla.runtime.oob.internal.cut.Restoration;
import io.bulla.runtime.oob.internal.node.NodeEnd;
import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.bulla.runtime.oob.internal.node.PeerCalls;
import io.bulla.runtime.oob.internal.node.Sends;
import io.bulla.runtime.oob.internal.node.Suspension;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.ranks.Ranks;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A node of the out-of-band channel: it sends messages and broadcasts to the other nodes of its job.
///
/// - *Sends hold a handle*: `send` takes a handle of its own, and closes it once, after the peer's acknowledgement or
///   the failure of the send. The caller's handle stays the caller's.
/// - *Every send completes once*: with a [Delivery], or exceptionally, as [Send] tells.
/// - *In order*: messages to one peer are handled in the order of their sends. One exception: a message of at most
///   [OobNodeBuilder#fragment] bytes may overtake a longer message that has another tag.
/// - *At most once*: a new connection replaces a broken one. Messages without acknowledgement are sent again from
///   byte 0 of the same bytes; the peer drops those that it has. A message that a dead peer may have handled is not
///   sent to its successor.
/// - *A relay adds nothing*: it sends the received bytes on while the handler reads them.
/// - *A length is checked before memory is taken for it.*
///
/// Handlers and listeners run one at a time, on a thread of the node's own, and hold no lock of the library.
/// `docs/wire-format.md` has the wire format.
public final class OobNode implements AutoCloseable {

    private final Settings settings;
    private final NodeLoop nodeLoop;
    private final Suspension suspension;
    private final Cuts cuts;
    private final Sends sends;
    private final PeerCalls peerCalls;
    private final NodeEnd end;
    // volatile: written by the stage of a resume, and read as one
    private volatile InetSocketAddress address;

    /// @param ownLoops to be shut down with the node, or `null`
    private OobNode(Settings settings, EventLoop loop, @Nullable EventLoopGroup ownLoops, InetSocketAddress address) {
        this.settings = settings;
        this.address = address;
        this.nodeLoop = new NodeLoop(settings, loop, new NodeFailures());
        this.suspension = Suspension.of(nodeLoop);
        this.cuts = new Cuts(nodeLoop);
        this.end = new NodeEnd(nodeLoop, ownLoops);
        this.sends = new Sends(nodeLoop, this::checked, end::isClosing);
        this.peerCalls = new PeerCalls(nodeLoop, this::checked);
    }

    /// Accepts connections from now on.
    static OobNode start(Settings settings, ListeningSocket socket, @Nullable EventLoopGroup ownLoops) {
        OobNode node = new OobNode(settings, socket.loop(), ownLoops, socket.address());
        boolean listens = false;
        try {
            if (settings.cut() != null) {
                new Restoration(node.nodeLoop).restore(settings.cut());
            }
            node.nodeLoop.listen(socket);
            listens = true;
            return node;
        } finally {
            if (!listens) {
                node.nodeLoop.undo();
            }
        }
    }

    /// Begins a node whose rank is not known yet, which [OobNodeBuilder#bind()] gives an address.
    ///
    /// @return a builder with defaults for all but memory and security
    public static OobNodeBuilder builder() {
        return new OobNodeBuilder();
    }

    /// Begins a node.
    ///
    /// @param rank of the node, 0 to `size - 1`
    /// @param size number of nodes
    /// @return a builder with defaults for all but memory, directory and security
    public static OobNodeBuilder builder(int rank, int size) {
        return new OobNodeBuilder(rank, size);
    }

    /// This node's rank.
    ///
    /// @return 0 to the number of nodes - 1
    public int rank() {
        return settings.rank();
    }

    /// Number of nodes.
    ///
    /// @return at least 1
    public int size() {
        return settings.size();
    }

    /// Where this node listens, or did before it was suspended.
    ///
    /// @return the bound address
    public InetSocketAddress address() {
        return address;
    }

    /// Connections that were closed as soon as they were accepted, because they were over the [ConnectionLimits].
    ///
    /// @return a number that only grows
    public long refusedConnections() {
        return nodeLoop.acceptor().admission().refused();
    }

    /// Broadcast messages that this node has started to send, to one child each.
    ///
    /// @return a number that only grows
    public long broadcastSends() {
        return nodeLoop.broadcasts().sends();
    }

    /// Bytes that this node has given to its sockets, headers included, before they are encrypted.
    ///
    /// @return a number that only grows
    public long socketBytes() {
        return nodeLoop.context().socketBytes();
    }

    /// Bytes of messages that this node has lent to peers of its host, each of which is not in [#socketBytes()].
    ///
    /// @return a number that only grows; 0 without an [OobNodeBuilder#localMemory]
    public long lentBytes() {
        return nodeLoop.context().lentBytes();
    }

    /// Broadcasts that were refused: not signed where that is required, or not as their origin has signed them.
    ///
    /// @return a number that only grows
    public long refusedBroadcasts() {
        return nodeLoop.broadcasts().origins().refused();
    }

    /// The peers that this node has had to do with.
    ///
    /// @return one for each, by rank, all of one moment on the event loop, which is waited for; none once the
    ///     node is closed
    public List<PeerStats> stats() {
        return peerCalls.stats();
    }

    /// Messages without a receiver that are kept.
    ///
    /// @return their bytes, each message counted with its header
    public long unclaimedBytes() {
        return nodeLoop.handlers().unclaimed();
    }

    /// Receives the messages of a tag from now on. Messages without a receiver are kept, in order, and handled
    /// first; what is beyond [OobNodeBuilder#unclaimedLimit] uses up the credit of its sender. What was sent
    /// before this call may have come already; [OobNodeBuilder#receive] is before all of it.
    ///
    /// @param tag any number
    /// @param handler replaces the tag's former handler
    public void receive(int tag, MessageHandler handler) {
        nodeLoop.handlers().receive(tag, Objects.requireNonNull(handler, "handler"));
    }

    /// Ends what [#receive] began: the messages of the tag are kept from now on. One that is being handled goes on.
    ///
    /// @param tag that [#receive] was called for
    public void stopReceiving(int tag) {
        nodeLoop.handlers().stopReceiving(tag);
    }

    /// Receives one message of a tag, before the tag's handler does.
    ///
    /// @param tag any number
    /// @return completes with a message whose handle is the receiver's to close, or with a
    ///     [PeerFailedException] if this node is closed before; to give up, cancel its `toCompletableFuture()`
    public CompletionStage<Message> receiveOnce(int tag) {
        return nodeLoop.handlers().receiveOnce(tag);
    }

    /// Looks at the first message of a tag that was not received yet, and leaves it there.
    ///
    /// @param tag any number
    /// @return a message whose handle is the caller's to close, or nothing
    public Optional<Message> peek(int tag) {
        return nodeLoop.handlers().peek(tag);
    }

    /// Sends bytes, whose meaning the receiver has to know, to one peer, or to this node itself, which then gets
    /// the same bytes.
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @return completes when the peer has acknowledged; fails at once with a [QueueFullException] without room
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    /// @throws IllegalArgumentException if there is no such peer, or the message is over the limit
    public Send send(int peer, int tag, SealedBuffer buffer) {
        return send(peer, tag, buffer, SendOptions.DEFAULT);
    }

    /// Sends packed items to one peer, as [#send(int, int, SealedBuffer)], and says how they are packed.
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param format what the receiver finds in [Message#format()]
    /// @param items stays the caller's
    /// @return completes when the peer has acknowledged
    public Send send(int peer, int tag, WireFormat format, SealedBuffer items) {
        return send(peer, tag, items, SendOptions.DEFAULT.packed(format));
    }

    /// Sends bytes to one peer, as [#send(int, int, SealedBuffer)].
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @param options when it is complete, until when, and how the bytes are packed
    /// @return completes as the options say; fails at once with a [QueueFullException] if there is no room
    public Send send(int peer, int tag, SealedBuffer buffer, SendOptions options) {
        return sends.send(peer, tag, buffer, options);
    }

    /// Sends bytes to one peer if there is room for them, as [#send(int, int, SealedBuffer, SendOptions)].
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @param options when it is complete, until when, and how the bytes are packed
    /// @return nothing if there is no room: nothing was queued then
    public Optional<Send> trySend(int peer, int tag, SealedBuffer buffer, SendOptions options) {
        return sends.trySend(peer, tag, buffer, options);
    }

    /// Sends bytes to one peer, and waits until there is room for them: backpressure for a thread that may wait,
    /// best a virtual one. It goes on when the peer's queue and all queues together are at most half full. A
    /// handler that waits holds up the messages behind it, so it needs a deadline.
    ///
    /// @param peer rank of the receiver
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @param options as of [#send(int, int, SealedBuffer, SendOptions)]; the deadline counts from this call on
    /// @return a send that is queued; it has failed with a [PeerFailedException] if this node is closed
    /// @throws InterruptedException if the caller is interrupted before there is room: nothing was queued
    /// @throws TimeoutException if the deadline passes before there is room: nothing was queued
    /// @throws IllegalStateException if it is called on the event loop, or by a handler to its own node: who makes
    ///     room cannot wait for it
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    /// @throws IllegalArgumentException if there is no such peer, or the message is over the limit
    public Send sendBlocking(int peer, int tag, SealedBuffer buffer, SendOptions options)
            throws InterruptedException, TimeoutException {
        return sends.sendBlocking(peer, tag, buffer, options);
    }

    /// Waits for room after [#trySend] found none.
    ///
    /// @param peer rank of the receiver
    /// @return completes when both the peer's queue and all queues together are at most half full, or the node is
    ///     closed; on the node's event loop, so what depends on it must not block
    /// @throws IllegalArgumentException if there is no such peer
    public CompletionStage<Void> room(int peer) {
        return checked(peer).quota().await(0);
    }

    private Peer checked(int peer) {
        return nodeLoop.peers().peer(Ranks.check(peer, settings.size()));
    }

    /// Sends bytes, whose meaning the receivers have to know, to every other node, down the tree that starts here.
    ///
    /// The node keeps a handle until each of its children has confirmed that all nodes below it have the message.
    /// A child that fails before is replaced by its own children, here and all the way down. Broadcasts of one
    /// node with one tag arrive in order; around a failed node, one may overtake another.
    ///
    /// If this node signs ([OobNodeBuilder#signatures]), the caller's thread reads all bytes for that.
    ///
    /// @param tag of the message
    /// @param buffer stays the caller's
    /// @return completes when everybody alive has the message; fails at once with a [QueueFullException] if the
    ///     queue of a child is full, with an [IOException] if it cannot be signed, and with a
    ///     [PeerFailedException] if this node is closed before. To complete its `toCompletableFuture()` ends the
    ///     wait alone: the broadcast goes on
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed
    /// @throws IllegalArgumentException if the message is over the limit
    public CompletionStage<BroadcastResult> broadcast(int tag, SealedBuffer buffer) {
        return sends.broadcast(tag, SendOptions.DEFAULT, buffer);
    }

    /// Sends packed items to every other node, as [#broadcast(int, SealedBuffer)], and says how they are packed.
    ///
    /// @param tag of the message
    /// @param format what the receivers find in [Message#format()]
    /// @param items stays the caller's
    /// @return completes when everybody alive has the message
    public CompletionStage<BroadcastResult> broadcast(int tag, WireFormat format, SealedBuffer items) {
        return sends.broadcast(tag, SendOptions.DEFAULT.packed(format), items);
    }

    /// Says that a peer is gone, as a launcher knows sooner than a timeout does: the verdict falls now. A later
    /// send, or a hello of the peer's, begins anew.
    ///
    /// @param peer its rank
    /// @param reason for the failures of what is on its way to it, and for the listener
    /// @throws IllegalArgumentException if there is no such peer
    public void lost(int peer, String reason) {
        peerCalls.lost(peer, reason);
    }

    /// Says that a peer may be gone, as a launcher's event does. It is a hint: nothing happens while the peer can be
    /// reached. If its connection breaks within the peer timeout, or there is none, the verdict falls, without the
    /// wait, once all its addresses were tried in vain. A hello of the peer's ends the hint.
    ///
    /// @param peer its rank
    /// @param reason for the failures of what is on its way to it, and for the listener
    /// @throws IllegalArgumentException if there is no such peer
    public void suspect(int peer, String reason) {
        peerCalls.suspect(peer, reason);
    }

    /// Gives up the port and all connections, and keeps everything else: for the image of a process that holds no
    /// socket, or a machine that moves. Sends are taken and queued as ever, deadlines run, handlers go on with what
    /// has arrived. No peer is given up meanwhile; but a peer that goes on may give up this node after its own
    /// timeout, so a job suspends all nodes, or has a timeout that is longer.
    ///
    /// @return completes when the port is free, all connections are closed and no selector has one of them; a
    ///     loop of the node's own, or of [Transport#restingLoops], has no descriptor then. Again is harmless. A
    ///     call of this or of [#resume] begins when the one before it is over. Fails with an
    ///     [IllegalStateException] if this node is closed
    public CompletionStage<Void> suspend() {
        return suspension.begin();
    }

    /// Goes on after [#suspend]: binds, and connects again. What was not acknowledged is sent again from byte 0;
    /// what had arrived is not handled twice. Time since the suspension counts for no verdict.
    ///
    /// @param bind where to listen: [#address()], or another address, which the peers' directories then have to
    ///     know
    /// @return completes with the bound address; fails with an [IOException] if it cannot be bound or is not one
    ///     for the security: this node is suspended still; and with an [IllegalStateException] if it is not
    ///     suspended, or closed
    public CompletionStage<InetSocketAddress> resume(InetSocketAddress bind) {
        try {
            settings.security().checkAddress(bind);
        } catch (IOException notForIt) {
            return CompletableFuture.failedFuture(notForIt);
        }
        CompletableFuture<InetSocketAddress> resumed = new CompletableFuture<>();
        suspension.end(bind).whenComplete((bound, failure) -> {
            if (failure == null) {
                address = bound;
                resumed.complete(bound);
            } else {
                resumed.completeExceptionally(failure);
            }
        });
        return resumed;
    }

    /// Takes a cut between two handlers: none runs while it is taken, and no listener. What handlers sent before is
    /// in it, what they send later is not; what other threads send meanwhile is or is not.
    ///
    /// @param between runs on the handlers' thread right before, to save what belongs to the program
    /// @return completes with a cut, which the caller closes, on the event loop. Fails, and keeps nothing, with
    ///     what `between` throws; with an [IllegalStateException] if a broadcast is on its way or the node closed
    public CompletionStage<NodeCut> cut(Runnable between) {
        return cuts.take(Objects.requireNonNull(between, "between"));
    }

    /// Begins a cut of a node that goes on, one at a time: no connection is closed, nothing waits for the network.
    ///
    /// @param most after this time it is over by itself, as if it had failed
    /// @return a cut to be taken when it is [LiveCut#ready()], and to be ended
    /// @throws IllegalArgumentException if the time is negative
    public LiveCut liveCut(Duration most) {
        return LiveCutSession.begin(nodeLoop, cuts, Deadlines.nanos(most));
    }

    /// Sends a notice to the same layer of another node, beside the messages: it waits for no message and no
    /// credit, has no number, and is in no cut. A lost connection may lose it, so what matters is sent again; a
    /// newer notice of the topic replaces one that is not written yet. What waits when the peer fails is dropped;
    /// what has yet to reach the event loop then goes to the next process of the rank.
    ///
    /// @param peer rank of another node
    /// @param topic 0 to 7
    /// @param text at most 256 bytes
    /// @throws IndexOutOfBoundsException if there is no such topic
    /// @throws IllegalArgumentException if there is no such peer, it is this node, or the text is too long
    public void notice(int peer, int topic, byte[] text) {
        peerCalls.notice(peer, topic, text);
    }

    /// Who hears the notices of the peers, from now on: the newest of each peer and topic, so a slow receiver costs
    /// bounded memory. What came before is lost.
    ///
    /// @param executor runs the receiver; asked on the event loop, so it must not block
    /// @param receiver replaces the former one
    public void receiveNotices(Executor executor, NoticeReceiver receiver) {
        nodeLoop.notices().receive(executor, receiver);
    }

    /// Ends the node at once, as [#close(Duration)] without time to drain: what is on its way fails.
    @Override
    public void close() {
        close(Duration.ZERO);
    }

    /// Ends the node: it takes no more sends; what is on its way has time until the deadline, and then fails. Peers
    /// are told, and have up to a second to hear it; the port is free, messages that were not handled are dropped,
    /// threads end. Closing again waits for the first one. A thread of the node, as of a handler, a listener or a
    /// check of signatures, does not wait.
    ///
    /// @param drain time for what is on its way, perhaps zero
    public void close(Duration drain) {
        end.close(drain);
    }

    /// For tests.
    NodeLoop loop() {
        return nodeLoop;
    }

    /// As if the process had been killed: peers hear nothing. For tests.
    void abort() {
        end.abort();
    }
}
