// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.UnpackException;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.Radix;
import io.bulla.runtime.oob.Security;
import io.bulla.runtime.oob.SendPolicy;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/// A root and its nodes, wired into a tree, and the broadcasts that go down it.
///
/// Rank 0 is the root. Every node acknowledges to the root, directly; a node that loses a peer tells the root so.
final class Xcast implements AutoCloseable {

    private static final int LAUNCH = 1;
    private static final int ACK = 2;
    private static final int TROUBLE = 3;
    private static final int ROOT = 0;
    private static final WireFormat FORMAT = WireFormat.OPAL_DSS;

    private final XcastCommand options;
    private final Radix radix;
    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget;
    private final ArenaSource arenas;
    private final Meters meters;
    private final SendPolicy policy;
    private final EventLoopGroup loops =
            new MultiThreadIoEventLoopGroup(Runtime.getRuntime().availableProcessors(), NioIoHandler.newFactory());
    private final List<OobNode> nodes = new ArrayList<>();
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    // volatile: seen soon by the nodes' threads; nothing else hangs on it
    private volatile boolean closing;

    /// What the root hears: a node has verified, or `trouble` says why not.
    private record Event(int node, String trouble, long nanos) {}

    Xcast(XcastCommand options) {
        this(options, meters -> switch (options.send) {
            case SHARED -> SendPolicy.SHARED;
            case COPY -> SendPolicy.copying(meters.source());
        });
    }

    /// With a policy of the caller's making, for tests.
    Xcast(XcastCommand options, Function<Meters, SendPolicy> policy) {
        this.options = options;
        this.radix = new Radix(options.radix);
        // FFM memory is booked against the JVM's limit for direct memory, which is the maximal heap unless set
        this.budget = new MemoryBudget(Runtime.getRuntime().maxMemory());
        this.arenas = ArenaSource.create(budget, handles);
        this.meters = new Meters(arenas, handles);
        this.policy = policy.apply(meters);
    }

    /// Starts all nodes; each listens on a port of its own.
    void start() throws IOException {
        checkLoopback();
        int size = options.nodes + 1;
        for (int rank = 0; rank < size; rank++) {
            int self = rank;
            OobNodeBuilder node = OobNode.builder(rank, size)
                    .memory(meters.source())
                    .security(Security.plaintext())
                    .allocator(meters.allocator())
                    .directory(peer -> nodes.get(peer).address())
                    .bind(new InetSocketAddress(
                            InetAddress.getLoopbackAddress(), options.port == 0 ? 0 : options.port + rank))
                    .limit(options.limit)
                    .routing(radix)
                    .sends(policy)
                    // a message is never copied here, however short: copies are what this counts
                    .inline(-1)
                    .loops(loops)
                    .onPeerLost((peer, cause) -> trouble(self, cause));
            nodes.add(started(node));
        }
        OobNode root = nodes.getFirst();
        root.receive(ACK, this::acknowledged);
        root.receive(TROUBLE, this::acknowledged);
        for (OobNode node : nodes.subList(1, size)) {
            node.receive(LAUNCH, message -> launched(node, message));
        }
    }

    /// Packs one launch message, broadcasts it, and waits until every node has verified it.
    ///
    /// @throws IOException if a file cannot be read or a node fails
    Report broadcast(Progress progress) throws IOException, InterruptedException {
        List<String> addresses = nodes.stream()
                .map(node ->
                        node.address().getHostString() + ":" + node.address().getPort())
                .toList();
        long bytes;
        Meters.Reading before;
        long sendsBefore;
        long start;
        long[] verifiedAt;
        try (SealedBuffer message = LaunchMessage.pack(
                meters.source(), options.limit, "bulla-xcast", addresses, System.getenv(), options.files)) {
            bytes = message.byteSize();
            checkMemory(bytes);
            before = meters.read();
            sendsBefore = sends();
            start = System.nanoTime();
            nodes.getFirst().xcast(LAUNCH, LaunchMessage.FORMAT, message);
            // the broadcast's own handle goes at once: the sends have theirs
        }
        try {
            verifiedAt = awaitAll(start, progress);
        } finally {
            progress.done();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        awaitHandles();
        Meters.Reading cost = meters.read().since(before);
        return new Report(
                options.nodes,
                options.radix,
                bytes,
                sends() - sendsBefore,
                cost.copies(),
                cost.allocated(),
                options.nodes,
                meters.handlesOpen(),
                seconds,
                levels(verifiedAt));
    }

    /// Ends all nodes, waits for their threads and gives the memory back.
    @Override
    public void close() {
        closing = true;
        nodes.forEach(OobNode::close);
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        arenas.close();
    }

    Meters meters() {
        return meters;
    }

    private long[] awaitAll(long start, Progress progress) throws IOException, InterruptedException {
        long[] verifiedAt = new long[options.nodes + 1];
        long deadline = start + TimeUnit.SECONDS.toNanos(options.timeoutSeconds);
        progress.verified(0);
        for (int done = 0; done < options.nodes; ) {
            Event event = events.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (event == null) {
                throw new IOException("timed out: seconds=" + options.timeoutSeconds + " verified=" + done + " nodes="
                        + options.nodes);
            }
            if (event.trouble() != null) {
                throw new IOException(event.trouble() + " (reported by node " + event.node() + ")");
            }
            if (verifiedAt[event.node()] == 0) {
                verifiedAt[event.node()] = event.nanos() - start;
                progress.verified(++done);
            }
        }
        return verifiedAt;
    }

    // an acknowledgement may overtake the close of the handle that its sender's handler still holds
    private void awaitHandles() throws InterruptedException {
        for (long wait = 0; meters.handlesOpen() > 0 && wait < 2000; wait++) {
            Thread.sleep(1);
        }
    }

    private void launched(OobNode node, Message message) {
        if (node.rank() == options.failNode) {
            Thread.startVirtualThread(node::close);
            return;
        }
        String trouble = null;
        try {
            LaunchMessage.verify(message.unpacker(Limits.DEFAULT));
        } catch (IOException | UnpackException failure) {
            trouble = failure.getMessage();
        }
        tellRoot(node, trouble == null ? ACK : TROUBLE, trouble);
    }

    private void trouble(int rank, IOException cause) {
        if (!closing) {
            if (rank == ROOT) {
                events.add(new Event(rank, cause.getMessage(), System.nanoTime()));
            } else {
                tellRoot(nodes.get(rank), TROUBLE, cause.getMessage());
            }
        }
    }

    private void tellRoot(OobNode node, int tag, String trouble) {
        try (BufferBuilder builder = BufferBuilder.create(meters.source())) {
            Packer.into(builder, FORMAT).packInt32(node.rank()).packString(trouble);
            try (SealedBuffer words = builder.seal()) {
                node.send(ROOT, tag, FORMAT, words);
            }
        }
    }

    private void acknowledged(Message message) {
        Unpacker words = message.unpacker(Limits.DEFAULT);
        events.add(new Event(words.unpackInt32(), words.unpackString(), System.nanoTime()));
    }

    private OobNode started(OobNodeBuilder node) throws IOException {
        try {
            return node.start();
        } catch (IOException failure) {
            throw options.port == 0
                    ? failure
                    : new IOException(failure.getMessage() + "; --port 0 takes free ports", failure);
        }
    }

    private static void checkLoopback() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        NetworkInterface carrier = NetworkInterface.getByInetAddress(loopback);
        if (carrier == null || !carrier.isUp()) {
            throw new IOException("loopback address is not up: address=" + loopback.getHostAddress()
                    + "; bring it up, as by: ip link set lo up");
        }
    }

    private void checkMemory(long bytes) throws IOException {
        long needed = Math.multiplyExact(bytes, (long) options.nodes) + budget.used();
        if (needed > budget.limit()) {
            throw new IOException("not enough memory, every node holds what it receives: needed=" + needed + " limit="
                    + budget.limit() + " nodes=" + options.nodes + " bytes=" + bytes);
        }
    }

    private long sends() {
        return nodes.stream().mapToLong(OobNode::xcastSends).sum();
    }

    private List<Report.Level> levels(long[] verifiedAt) {
        List<Report.Level> levels = new ArrayList<>();
        int size = verifiedAt.length;
        for (int rank = 1; rank < size; rank++) {
            int depth = radix.level(rank, ROOT, size);
            double millis = verifiedAt[rank] / 1e6;
            if (levels.size() < depth) {
                levels.add(new Report.Level(depth, 1, millis, millis));
            } else {
                Report.Level level = levels.getLast();
                levels.set(
                        depth - 1,
                        new Report.Level(
                                depth,
                                level.nodes() + 1,
                                Math.min(level.firstMillis(), millis),
                                Math.max(level.lastMillis(), millis)));
            }
        }
        return levels;
    }
}
