// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.report.Progress;
import io.bulla.cli.report.Report;
import io.bulla.cli.shell.LatestQueue;
import io.bulla.cli.shell.NodeTags;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.fabric.BulkFigures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

/// The root, its [Crew], and the broadcasts that go down the tree.
///
/// Rank 0 is the root. Every other node verifies, and tells the root so, directly. What the broadcast itself
/// confirms is heard too: which nodes have failed.
final class Xcast implements AutoCloseable {

    private static final int ROOT = 0;
    private static final long PATIENCE_NANOS = 2_000_000_000;

    private final XcastCommand options;
    private final int nodes;
    private final Radix radix;
    private final Meters meters;
    private final NodeParts parts;
    private final EventLoopGroup loops =
            new MultiThreadIoEventLoopGroup(Runtime.getRuntime().availableProcessors(), NioIoHandler.newFactory());
    private final Crew crew;
    private final LatestQueue<Event> events = new LatestQueue<>();
    // volatile: written by the broadcast alone, read as a snapshot
    private volatile int verified;
    private Security security;
    private OobNode root;
    private StatsLines stats;

    /// What the root hears.
    private sealed interface Event {

        /// What it is the latest of.
        default Object kind() {
            return this;
        }
    }

    /// @param what kind of event, or of answer
    private record OfRank(int rank, Class<?> what) {}

    private record Verified(int rank, String trouble, long nanos) implements Event {

        @Override
        public Object kind() {
            return new OfRank(rank, Verified.class);
        }
    }

    private record Answered(int rank, ControlMessage answer) implements Event {

        @Override
        public Object kind() {
            return new OfRank(rank, answer.getClass());
        }
    }

    private record Lost(int rank, String why) implements Event {

        @Override
        public Object kind() {
            return new OfRank(rank, Lost.class);
        }
    }

    private record Confirmed(BroadcastResult result) implements Event {}

    private record Failed(Throwable why) implements Event {}

    Xcast(XcastCommand options) throws IOException {
        this(options, meters -> options.tree.send.policy(meters));
    }

    /// With a policy of the caller's making, for tests.
    Xcast(XcastCommand options, Function<Meters, SendPolicy> policy) throws IOException {
        this.options = options;
        this.nodes = options.nodes();
        this.radix = new Radix(options.tree.radix);
        this.meters = options.tree.meters();
        this.parts = options.tree.parts(meters, policy.apply(meters));
        try {
            this.crew = options.crew(parts, loops);
        } catch (Throwable failure) {
            meters.close();
            throw failure;
        }
    }

    /// Starts all nodes; each listens on a port of its own.
    void start() throws IOException, InterruptedException {
        try {
            security = crew.rootSecurity();
            root = crew.startRoot(parts.node(ROOT, nodes + 1, security)
                    .loops(loops)
                    .onPeerLost((peer, cause) -> add(new Lost(peer, cause.getMessage()))));
            root.receive(NodeTags.VERDICT, this::judged);
            root.receive(NodeTags.COUNTS, message -> answered(message, ControlMessage.Counts.of(message)));
            root.receive(NodeTags.MEMORY, message -> answered(message, ControlMessage.Memory.of(message)));
            if (!crew.isHere()) {
                Recipient.practise(meters);
            }
            crew.start(root.address());
        } catch (IOException failure) {
            throw options.where.port == 0
                            || failure.getMessage() == null
                            || !failure.getMessage().startsWith("cannot listen")
                    ? failure
                    : new IOException(failure.getMessage() + "; --port 0 takes free ports", failure);
        }
        if (options.tree.stats != null) {
            stats = new StatsLines(
                    options.tree.stats, root, meters, options.spec.commandLine().getOut());
        }
    }

    /// How far the broadcast under way has come; any thread may ask.
    String progress() {
        return "verified=" + verified;
    }

    /// How the nodes are protected, and where they are.
    String describe() {
        return "security=" + security.name() + (options.tree.sign ? " signed" : "") + " nodes=" + nodes + " "
                + crew.describe();
    }

    /// Packs one launch message, broadcasts it, and waits until every node has verified it.
    ///
    /// @throws IOException if a file cannot be read or a node fails
    Report broadcast(Progress progress) throws IOException, InterruptedException {
        Totals before = totals();
        long bytes;
        long start;
        Broadcast broadcast;
        Meters.Reading packing;
        try (SealedBuffer message = pack()) {
            bytes = message.byteSize();
            checkMemory(bytes);
            packing = meters.read();
            start = System.nanoTime();
            broadcast = new Broadcast(start, progress);
            root.broadcast(NodeTags.LAUNCH, LaunchMessage.FORMAT, message)
                    .whenComplete((result, why) -> add(result == null ? new Failed(why) : new Confirmed(result)));
            // the broadcast's own handle goes at once: the sends have theirs
        }
        try {
            broadcast.await();
        } finally {
            progress.done();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long memoryHeld = crew.isHere() ? 0 : memoryOfAll();
        Totals after = totals();
        // what it took to pack the message is not the broadcast's
        Meters.Reading cost = after.meters().since(before.meters()).since(packing.since(before.here()));
        return new Report(
                nodes,
                options.tree.radix,
                bytes,
                after.sends() - before.sends(),
                cost.copies(),
                cost.allocated(),
                nodes,
                after.handlesOpen(),
                seconds,
                levels(broadcast.verifiedAt),
                crew.isHere()
                        ? null
                        : new Report.Host(after.socketBytes() - before.socketBytes(), memoryHeld - before.memory()));
    }

    /// What went beside the connections, of the nodes in this process: a line.
    String bulk() {
        BulkFigures figures = meters.bulk().figures();
        return "bulk: provider=" + options.tree.bulk + " sent=" + figures.sent() + " bytes=" + figures.sentBytes()
                + " received=" + figures.received() + " failed=" + figures.failed();
    }

    /// Ends all nodes, waits for their threads and gives the memory back.
    @Override
    public void close() throws IOException {
        if (stats != null) {
            stats.close();
        }
        if (root != null) {
            crew.dismiss(root);
            root.close();
        }
        try {
            crew.close();
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
            meters.close();
        }
    }

    private SealedBuffer pack() throws IOException {
        List<String> addresses = new ArrayList<>();
        for (int rank = 0; rank <= nodes; rank++) {
            var address = rank == ROOT ? root.address() : crew.addressOf(rank);
            addresses.add(address.getHostString() + ":" + address.getPort());
        }
        return LaunchMessage.pack(
                meters.source(), options.tree.limit, "bulla-xcast", addresses, options.what.variables(), options.files);
    }

    private void judged(Message message) {
        ControlMessage.Verdict verdict = ControlMessage.Verdict.of(message);
        // whatever rank it names: a node speaks for itself
        add(new Verified(message.origin(), verdict.trouble(), System.nanoTime()));
    }

    private void answered(Message message, ControlMessage answer) {
        add(new Answered(message.origin(), answer));
    }

    private void add(Event event) {
        events.put(event.kind(), event);
    }

    /// One broadcast, as its verdicts come in.
    private final class Broadcast {

        private final long start;
        private final Progress progress;
        private final long[] verifiedAt = new long[nodes + 1];
        private final Map<Integer, String> lost = new TreeMap<>();
        /// Failed, as the broadcast was told; why is heard later, or never.
        private final Set<Integer> unexplained = new TreeSet<>();

        private long pingAt = Long.MAX_VALUE;

        Broadcast(long start, Progress progress) {
            this.start = start;
            this.progress = progress;
        }

        /// Waits until each node has verified or failed.
        void await() throws IOException, InterruptedException {
            long deadline = start + TimeUnit.SECONDS.toNanos(options.run.timeoutSeconds);
            verified = 0;
            progress.verified(0);
            while (verified + lost.size() < nodes) {
                long until = Math.min(deadline, pingAt);
                Event event = events.poll(until - System.nanoTime());
                if (event != null) {
                    heard(event);
                } else if (until == pingAt) {
                    // they have it, and may die before they say so: who does not take a message is lost
                    pingAt = Long.MAX_VALUE;
                    unexplained.forEach(rank -> lose(rank, "peer " + rank + " failed: the node above it lost it"));
                    sendAll(NodeTags.PING, rank -> verifiedAt[rank] == 0 && !lost.containsKey(rank));
                } else {
                    throw new IOException("timed out: seconds=" + options.run.timeoutSeconds + " verified=" + verified
                            + " nodes=" + nodes);
                }
            }
            if (!lost.isEmpty()) {
                int rank = lost.keySet().iterator().next();
                throw new IOException(lost.get(rank) + " (failed=" + lost.keySet() + " verified=" + verified + " nodes="
                        + nodes + ")");
            }
        }

        private void heard(Event event) throws IOException {
            switch (event) {
                case Verified verdict -> {
                    if (verdict.trouble() != null) {
                        throw new IOException(verdict.trouble() + " (reported by node " + verdict.rank() + ")");
                    }
                    if (verifiedAt[verdict.rank()] == 0) {
                        verifiedAt[verdict.rank()] = verdict.nanos() - start;
                        verified = verified + 1;
                        progress.verified(verified);
                    }
                }
                case Lost peer -> lose(peer.rank(), peer.why());
                case Confirmed confirmed -> {
                    unexplained.addAll(confirmed.result().failed());
                    // the root asks for itself, and hears why
                    sendAll(NodeTags.PING, rank -> unexplained.contains(rank) && !lost.containsKey(rank));
                    pingAt = System.nanoTime() + PATIENCE_NANOS;
                }
                case Failed failed -> throw new IOException(failed.why().getMessage(), failed.why());
                case Answered late -> {}
            }
        }

        private void lose(int rank, String why) {
            if (verifiedAt[rank] == 0) {
                lost.putIfAbsent(rank, why);
            }
        }
    }

    /// What all have spent so far.
    ///
    /// @param meters of all processes
    /// @param here of this one's alone
    /// @param memory of all processes, if they are several
    private record Totals(
            long sends, Meters.Reading meters, Meters.Reading here, long handlesOpen, long socketBytes, long memory) {}

    private Totals totals() throws IOException, InterruptedException {
        Map<Integer, ControlMessage.Counts> others =
                crew.isHere() ? Map.of() : answers(NodeTags.ASK, ControlMessage.Counts.class);
        Meters.Reading here = meters.read();
        long sends = root.broadcastSends() + crew.sends();
        Meters.Reading all = here;
        // an answer may be heard before the handle of its message is closed
        long open = meters.awaitHandles();
        long socketBytes = root.socketBytes();
        long memory = crew.isHere() ? 0 : ProcessMemory.bytes();
        for (ControlMessage.Counts one : others.values()) {
            sends += one.sends();
            all = all.plus(one.meters());
            open += one.handlesOpen();
            socketBytes += one.socketBytes();
            memory += one.memory();
        }
        return new Totals(sends, all, here, open, socketBytes, memory);
    }

    /// The memory of all processes, each of which has the last message: asked of all at once, so that a page which
    /// they share is divided among all of them.
    private long memoryOfAll() throws IOException, InterruptedException {
        long others = answers(NodeTags.LOOK, ControlMessage.Memory.class).values().stream()
                .mapToLong(ControlMessage.Memory::memory)
                .sum();
        return others + ProcessMemory.bytes();
    }

    /// Asks each other process, and waits for the answers, by rank.
    private <T extends ControlMessage> Map<Integer, T> answers(int question, Class<T> kind)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(options.run.timeoutSeconds);
        Map<Integer, T> answers = new TreeMap<>();
        events.clear();
        sendAll(question, rank -> true);
        while (answers.size() < nodes) {
            switch (events.poll(deadline - System.nanoTime())) {
                case Answered one
                when kind.isInstance(one.answer()) -> answers.put(one.rank(), kind.cast(one.answer()));
                case Lost peer -> throw new IOException(peer.why());
                case null ->
                    throw new IOException("timed out: seconds=" + options.run.timeoutSeconds + " answered="
                            + answers.size() + " nodes=" + nodes);
                default -> {}
            }
        }
        return answers;
    }

    private void sendAll(int tag, Predicate<Integer> which) {
        try (BufferBuilder builder = BufferBuilder.create(meters.source());
                SealedBuffer nothing = builder.seal()) {
            for (int rank = 1; rank <= nodes; rank++) {
                if (which.test(rank)) {
                    root.send(rank, tag, nothing);
                }
            }
        }
    }

    private void checkMemory(long bytes) throws IOException {
        if (!crew.isHere()) {
            return;
        }
        long received = Math.multiplyExact(bytes, (long) nodes);
        long needed = received + meters.budget().used();
        if (needed > meters.budget().limit()) {
            needed = received + meters.bytesInUse();
        }
        if (needed > meters.budget().limit()) {
            throw new IOException("not enough memory, every node holds what it receives: needed=" + needed + " limit="
                    + meters.budget().limit() + " nodes=" + nodes + " bytes=" + bytes);
        }
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
