// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.Pipe;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.LogWatch;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.PeerStats;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.fixture.HostMemory;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;

/// One run of a schedule: faults; then all is mended but for those that are to stay, everything has to end in
/// time, and everybody who lives can talk to everybody; then all is closed, and nothing may be left.
public final class Simulation {

    /// @param violation the first rule that was broken, or `null`
    public record Result(
            String violation, long digest, long steps, long nanos, int sends, int lives, Map<String, Long> sights) {}

    private static final int LATE_STRANGERS = 4;
    private static final long HELD_NANOS = 50 * World.MILLI;
    /// Of a message, its answer and their acknowledgements.
    private static final long HEADERS = 512;
    private static final long BATCH = 32 << 10;
    private static final long LEND_NANOS = 3 * World.MILLI;
    private static final Pattern BREACH =
            Pattern.compile("out of place|hole in the sequence|without credit|not a fragment|was not sent|wrong"
                    + " time|not a frame|skips another|not a list of ranks|nodes that there are not|not above|not a rank"
                    + " below|should have no body|not a message of a batch|inside a header|reserved bytes|no such lease|proof of nothing|invited twice"
                    + "|was not borrowed|memory says");
    private static final long MOST_STEPS = 3_000_000;

    public final Schedule schedule;
    public final World world;
    public final Sights sights = new Sights();
    public final Net net;
    public final Ledger ledger;
    final SimMemory.Slabs slabs = SimMemory.Slabs.reset();
    /// What nodes of one host lend each other; none if they do not.
    final List<HostMemory> memories = new ArrayList<>();
    public final int size;
    final int hosts;
    final Chatter chatter = new Chatter();
    final List<Integer> emptyTags = new ArrayList<>();
    final Intruders intruders;
    public final SimBulk bulk;
    /// Whose event loop runs now, or `null`.
    SimNode running;
    private final Map<Integer, List<SimNode>> lives = new HashMap<>();
    private final List<SimNode.Said> said = new ArrayList<>();
    private final Map<SimNode, Long> ends = new HashMap<>();
    private int lifeNumber;
    private long slowNanos;
    private boolean mended;
    private boolean over;
    private final Consumer<String> story;
    private final SplittableRandom logs;

    private Simulation(Schedule schedule, Intruders.Factory intruders, Consumer<String> story) {
        this.schedule = schedule;
        this.story = story;
        this.world = new World(schedule.seed());
        this.size = schedule.number("nodes");
        this.hosts = size + Intruders.HOSTS;
        this.net = new Net(
                world,
                sights,
                hosts,
                schedule.nanos("delay"),
                schedule.nanos("jitter"),
                schedule.number("socket"),
                schedule.number("piece"));
        net.listeners = (from, to) -> new FrameChecks(this, from, to);
        this.ledger = new Ledger(this);
        this.intruders = intruders.of(this);
        this.bulk = new SimBulk(this);
        this.logs = world.stream('e', 0, 0);
        lend();
        for (Line line : schedule.lines()) {
            boolean empty = line.has("bytes") && line.value("bytes") < Program.LEAST;
            if (line.has("id") && (empty || line.what().equals("block"))) {
                emptyTags.add(Program.EMPTY + (int) line.value("id"));
            }
        }
    }

    private void lend() {
        int quota = schedule.config().getOrDefault("lends", 0L).intValue();
        SplittableRandom random = world.stream('h', 0, 0);
        for (int host = 0; quota > 0 && host < schedule.number("hosts"); host++) {
            memories.add(new HostMemory(host, quota, what -> world.after(random.nextLong(LEND_NANOS), what)));
        }
    }

    private boolean lends() {
        return !memories.isEmpty();
    }

    /// @param story is told what happens, for a person who wants to know why; or `null`
    public static Result run(Schedule schedule, Intruders.Factory intruders, Consumer<String> story) {
        Simulation simulation = new Simulation(schedule, intruders, story);
        LogWatch.install(simulation::logged);
        try {
            simulation.run();
        } catch (IOException | RuntimeException broken) {
            StackTraceElement[] where = broken.getStackTrace();
            simulation.ledger.violation(
                    "broken", broken + (where.length == 0 ? "" : " where=" + where[0]) + " in the simulator's call");
        } finally {
            LogWatch.forget();
            // Netty keeps a resolver for each event loop that has not ended, and with it the world
            DefaultAddressResolverGroup.INSTANCE.close();
        }
        return simulation.result();
    }

    public void tell(Object... words) {
        if (story != null) {
            StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%.6f", world.now() / 1e9));
            for (Object word : words) {
                line.append(' ').append(word);
            }
            story.accept(line.toString());
        }
    }

    private Result result() {
        Map<String, Long> seen = new HashMap<>();
        sights.addTo(seen);
        return new Result(
                ledger.violation(),
                World.mix(world.digest(), world.steps()),
                world.steps(),
                world.now(),
                ledger.size(),
                lifeNumber,
                seen);
    }

    /// @return under which number it goes over the wire
    int said(SimNode.Said notice) {
        said.add(notice);
        return said.size() - 1;
    }

    SimNode.Said said(int number) {
        return said.get(number);
    }

    List<SimNode> lives(int rank) {
        return lives.getOrDefault(rank, List.of());
    }

    /// Whether the schedule has such a line.
    boolean has(String what) {
        return schedule.lines().stream().anyMatch(line -> line.what().equals(what));
    }

    /// The longest message that a rank takes.
    public long limit(int rank) {
        return rank == 0 ? schedule.config().getOrDefault("small", schedule.config("limit")) : schedule.config("limit");
    }

    /// When a life was ended.
    long endOf(SimNode life) {
        return ends.getOrDefault(life, Long.MAX_VALUE);
    }

    private SimNode node(int rank) {
        List<SimNode> of = lives(rank);
        return of.isEmpty() ? null : of.getLast();
    }

    /// Or `null`: it has not begun, is closed, or has ended.
    public SimNode running(int rank) {
        SimNode node = node(rank);
        return node != null && node.isRunning() ? node : null;
    }

    private List<SimNode> nodes() {
        List<SimNode> all = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            if (node(rank) != null && node(rank).isRunning()) {
                all.add(node(rank));
            }
        }
        return all;
    }

    int intruderRank() {
        return schedule.config("intruder") != 0 ? size - 1 : -1;
    }

    private void run() throws IOException {
        for (int rank = 0; rank < size; rank++) {
            if (rank != intruderRank()) {
                begin(rank);
            }
        }
        for (Line line : schedule.lines()) {
            world.at(line.micros() * 1000, () -> execute(line));
        }
        checkHeld();
        stepUntil(() -> false, schedule.nanos("faults"));
        heal();
        settle("everything ends");
        rest();
        probe();
        stepUntil(() -> false, world.now() + World.MILLI);
        settle("everybody can talk");
        // connections that are refused end, and those that never say hello
        stepUntil(() -> false, world.now() + schedule.nanos("hello") + World.SECOND);
        // one that knocked while the machine was off may have come in meanwhile, and has its deadline before it
        for (int i = 0; i < LATE_STRANGERS; i++) {
            stepUntil(this::noStranger, world.now() + schedule.nanos("hello") + World.SECOND);
        }
        checkRoom();
        checkChatter();
        closeAll();
    }

    private boolean noStranger() {
        return nodes().stream().allMatch(node -> net.connections(node.rank(), size) == 0);
    }

    private void begin(int rank) throws IOException {
        SimNode node = new SimNode(this, rank, ++lifeNumber);
        lives.computeIfAbsent(rank, r -> new ArrayList<>()).add(node);
        // what is lent is bounded by quotas
        node.memory.bound(lends() ? Long.MAX_VALUE : bound());
        net.host(rank).up = true;
        node.start();
    }

    /// What the documents promise: of each peer a window of either lane, a broadcast of each depth, and a message
    /// that is longer than the window; and messages without a receiver.
    private long bound() {
        long longest = 2 * schedule.config("fragment") + Program.LEAST;
        long small = 0;
        for (Line line : schedule.lines()) {
            longest = Math.max(longest, line.has("id") ? line.value("bytes") : 0);
            boolean one = line.what().equals("send") || line.what().equals("block");
            small += one && line.value("bytes") < schedule.config("coalesce") ? 1 : 0;
        }
        longest = Math.max(longest, intruderRank() < 0 ? 0 : Intruders.LONGEST);
        longest += SimSecurity.overhead(schedule);
        long lane = Math.max(schedule.config("window"), longest) + depths() * longest;
        // a short message keeps the batch that it came in
        long batches = small * Math.min(BATCH, schedule.config("window"));
        return (size - 1) * 2L * lane + schedule.config("unclaimed") + batches;
    }

    /// Of the deepest tree.
    private long depths() {
        return schedule.number("radix") == 1 ? size - 1 : 3;
    }

    private void stepUntil(BooleanSupplier done, long end) {
        while (ledger.violation() == null && !done.getAsBoolean()) {
            if (world.steps() > MOST_STEPS) {
                ledger.violation("too many steps", "steps=" + world.steps());
            } else if (!world.step(end)) {
                return;
            }
        }
    }

    /// Waits until no send is left without an outcome, and what was acknowledged is handled.
    private void settle(String what) {
        long end = world.now() + patience();
        stepUntil(() -> ledger.pending() == 0, end);
        List<String> open = ledger.neverCompleted();
        if (!open.isEmpty()) {
            ledger.violation(what, open.getFirst() + " open=" + open.size());
        }
        for (long wait = 0;
                wait < 8 && ledger.violation() == null && !ledger.unhandled().isEmpty();
                wait++) {
            stepUntil(() -> false, Math.min(end, world.now() + patience() / 8));
        }
        List<String> missing = ledger.unhandled();
        if (!missing.isEmpty()) {
            ledger.violation("handled in time", missing.getFirst() + " missing=" + missing.size());
        }
    }

    /// In which all has to end once nothing goes wrong any more: handlers take their time, each broadcast that of its
    /// way down the tree and back, and a small window that of a round trip for each time that it is full.
    private long patience() {
        return 4 * schedule.nanos("peerTimeout") + 8 * World.SECOND + slowNanos + busiestLink();
    }

    /// The time of all messages between two nodes, both ways, through the window of a connection.
    private long busiestLink() {
        long[] bytes = new long[hosts * hosts];
        long probes = 2 * (2 * schedule.config("fragment") + HEADERS) + size * HEADERS;
        long toAll = probes;
        for (Line line : schedule.lines()) {
            long whole = line.has("id") ? line.value("bytes") + HEADERS : 0;
            if (line.what().equals("send") || line.what().equals("block")) {
                int a = Math.min(line.who(0), line.who(1));
                int b = Math.max(line.who(0), line.who(1));
                bytes[a * hosts + b] += whole;
            } else if (line.what().equals("intrude") || line.what().equals("hostile")) {
                // as many broadcasts as it has credit for, which are handed on
                toAll += 2 * (schedule.config("window") + Intruders.LONGEST);
            } else {
                toAll += whole;
            }
        }
        long roundTrip = 2 * (schedule.nanos("delay") + schedule.nanos("jitter"));
        return roundTrip * (toAll + Arrays.stream(bytes).max().orElse(0)) / schedule.config("socket");
    }

    /// Until connections that only look open are known to be none.
    private void rest() {
        stepUntil(
                () -> false,
                world.now() + 4 * schedule.nanos("heartbeat") + schedule.nanos("peerTimeout") + 2 * World.SECOND);
    }

    /// Whether nothing goes wrong any more.
    boolean isMended() {
        return mended;
    }

    private void heal() {
        mended = true;
        tell("mended");
        net.heal();
        if (intruderLeaves()) {
            sights.see("intruder leaves");
            intruders.leave();
        }
        for (SimNode node : nodes()) {
            node.wake();
            node.resume();
            node.memory.refuse(false);
            node.slowDown(0);
            node.later(0, node::claim);
        }
    }

    /// Broadcasts are beside it, which it holds as long as it is there.
    private boolean intruderLeaves() {
        return schedule.config().getOrDefault("leaves", 0L) != 0;
    }

    /// Something went well while a member broke the protocol.
    void beside(String what) {
        intruders.ways().forEach(way -> sights.see(what + " beside " + way));
    }

    void overheard(Intruders.Overheard broadcast) {
        if (!mended) {
            intruders.overhear(broadcast);
        }
    }

    /// What a node keeps for a peer is as much as programs have sent, what members were granted to broadcast, which
    /// is a KiB or more for each, and confirmations up to a bound, whatever the peer says how often.
    private void checkHeld() {
        long granted = schedule.config("window") / 1024;
        long sends = 2L * schedule.lines().size() + 8L * size + 64 + granted;
        long confirmations = Math.max(256, schedule.config("queueMessages")) + sends;
        for (SimNode node : nodes()) {
            node.checkRetained();
            node.checkSuspended();
            for (int peer = 0; peer < size; peer++) {
                SimulatedNode.Held held = peer == node.rank() ? null : SimulatedNode.held(node.node(), peer);
                if (held != null
                        && (held.sends() > sends || held.confirmations() > confirmations || held.doubled() > 0)) {
                    ledger.violation(
                            "keeps what a peer repeats",
                            "node=" + node + " peer=" + peer + " " + held + " most=" + sends + "," + confirmations);
                }
            }
        }
        if (!over) {
            world.after(HELD_NANOS, this::checkHeld);
        }
    }

    private void probe() {
        int id = 1 << 19;
        for (SimNode from : nodes()) {
            for (SimNode to : nodes()) {
                if (from != to) {
                    probe(from, to, id++);
                }
            }
            int bytes = Program.LEAST + 100;
            if (intruderRank() < 0 && bytes + SimSecurity.overhead(schedule, from.rank()) <= limit(from.rank())) {
                cast(from, id++, 0, bytes);
            }
        }
    }

    private void probe(SimNode from, SimNode to, int id) {
        int bytes = id % 2 == 0 ? 64 : (int) Math.min(limit(0), 2 * schedule.config("fragment") + Program.LEAST);
        from.later(
                0,
                () -> send(from, id, to.rank(), 0, bytes, SendOptions.DEFAULT).whenComplete((delivery, failure) -> {
                    if (failure != null) {
                        ledger.violation("a node cannot talk to another", ledger.of(id) + " failure=" + failure);
                    }
                }));
    }

    private void checkRoom() {
        if (ledger.violation() != null) {
            return;
        }
        for (SimNode node : nodes()) {
            for (PeerStats peer : node.node().stats()) {
                sights.see("resends", peer.resends());
                sights.see("duplicates", peer.duplicates());
                // what an intruder has begun is held until each relay has given it up
                long waiting = intruderRank() < 0 ? peer.waitingBytes() : 0;
                if (peer.queuedMessages() != 0
                        || peer.queuedBytes() != 0
                        || waiting != 0
                        || peer.leases() != 0
                        || peer.leasedBytes() != 0) {
                    ledger.violation("room is not given back", "node=" + node + " " + peer);
                }
            }
            for (int peer = 0; peer < size; peer++) {
                if (net.connections(node.rank(), peer) > 1 && peer != intruderRank()) {
                    ledger.violation("more than one connection of two nodes", "node=" + node + " peer=" + peer);
                }
            }
            // strangers, who say nothing or no hello
            if (net.connections(node.rank(), size) > 0) {
                ledger.violation("a stranger stays connected", "node=" + node);
            }
            if (node.node().unclaimedBytes() != 0) {
                ledger.violation(
                        "unclaimed", "node=" + node + " bytes=" + node.node().unclaimedBytes());
            }
        }
    }

    private void checkChatter() {
        String wrong = chatter.check(size, ledger.size(), world.now() / schedule.nanos("heartbeat"));
        if (wrong != null) {
            ledger.violation("acknowledgements of acknowledgements", wrong);
        }
    }

    /// Whether all is being closed.
    public boolean isOver() {
        return over;
    }

    private void closeAll() {
        over = true;
        for (SimNode node : nodes()) {
            close(node, Duration.ZERO, 0);
        }
        stepUntil(
                () -> lives.values().stream().flatMap(List::stream).allMatch(this::isGone)
                        && memories.stream().allMatch(memory -> memory.unclosed() == 0),
                world.now() + 20 * World.SECOND);
        for (List<SimNode> of : lives.values()) {
            for (SimNode node : of) {
                checkGone(node);
            }
        }
        if (bulk.open() != 0 && ledger.violation() == null) {
            ledger.violation("memory that peers may write to after the close", "landings=" + bulk.open());
        }
        for (HostMemory memory : memories) {
            memory.figures(sights::see);
            if (memory.leases() != 0 && ledger.violation() == null) {
                ledger.violation("leases are not given back", "leases=" + memory.leases());
            }
            if (memory.unclosed() != 0 && ledger.violation() == null) {
                ledger.violation("lent or borrowed after the close", "unclosed=" + memory.unclosed());
            }
        }
    }

    private boolean isGone(SimNode node) {
        return node.isKilled() || node.isClosed() && node.kept() == 0 && node.memory.used() + node.user.used() == 0;
    }

    private void checkGone(SimNode node) {
        if (ledger.violation() != null || node.isKilled()) {
            return;
        }
        if (!node.isClosed()) {
            ledger.violation("does not close", "node=" + node);
        }
        long netty = node.nettyBytes();
        if (node.memory.used() != 0 || node.memory.open() != 0 || node.user.used() != 0 || netty != 0) {
            ledger.violation(
                    "memory is not given back",
                    "node=" + node + " bytes=" + node.memory.used() + " handles=" + node.memory.open() + " user="
                            + node.user.used() + " netty=" + netty);
        }
    }

    Send send(SimNode from, int id, int to, int tag, int bytes, SendOptions options) {
        boolean mayFail =
                options.deadline().isPresent() && options.deadline().get().compareTo(Duration.ofDays(1)) < 0;
        return send(from, id, to, tag, bytes, options, mayFail);
    }

    private Send send(SimNode from, int id, int to, int tag, int bytes, SendOptions options, boolean mayFail) {
        Ledger.Sent sent = ledger.sent(id, from, to, tag, Math.max(bytes, 0), mayFail, List.of());
        sent.deadline = options.deadline()
                .filter(within -> within.compareTo(Duration.ofDays(1)) < 0)
                .map(within -> from.awake() + within.toNanos())
                .orElse(Long.MAX_VALUE);
        try (SealedBuffer message = from.message(id, bytes)) {
            Send send = from.node().send(to, tag, message, options);
            send.whenComplete((delivery, failure) -> ledger.completed(sent, delivery, failure));
            return send;
        }
    }

    private void cast(SimNode from, int id, int tag, int bytes) {
        Ledger.Sent sent = ledger.sent(id, from, -1, tag, bytes, false, nodes());
        // of the node's memory, and on its way with the program's bytes: the queues bound both, and not what peers send
        long signature = SimSecurity.overhead(schedule, from.rank());
        from.later(0, () -> {
            from.memory.keep(signature);
            try (SealedBuffer message = from.message(id, bytes)) {
                from.node().broadcast(tag, message).whenComplete((result, failure) -> {
                    from.memory.keep(-signature);
                    ledger.completed(sent, result, failure);
                });
            } catch (IllegalStateException noMemory) {
                from.memory.keep(-signature);
                // for the signature
                if (!from.memory.isRefusing() || !SimSecurity.isOn(schedule)) {
                    throw noMemory;
                }
                ledger.gaveUp(sent, noMemory);
            }
        });
    }

    private void execute(Line line) {
        tell(line);
        world.note(line.micros());
        switch (line.what()) {
            case "send" -> sendLine(line);
            case "block" -> blockLine(line);
            case "checkpoint" -> new Checkpoint(this, nodes()).begin();
            case "suspend" ->
                // one or the other: which time counts for a verdict is to be known
                onNode(line, node -> {
                    if (!node.isPaused()) {
                        sights.see("suspend");
                        node.suspend(line.nanos("for"));
                    }
                });
            case "cast" -> castLine(line);
            case "pause" ->
                onNode(line, node -> {
                    if (!node.isSuspended()) {
                        sights.see("pause");
                        node.pause(line.nanos("for"));
                    }
                });
            case "jump" ->
                onNode(line, node -> {
                    sights.see("clock step");
                    node.jump(line.nanos("by"));
                });
            case "starve" ->
                onNode(line, node -> {
                    node.memory.refuse(true);
                    world.after(line.nanos("for"), () -> {
                        node.memory.refuse(false);
                        sights.see("memory refused", node.memory.refusals());
                    });
                });
            case "slow" ->
                onNode(line, node -> {
                    node.slowDown(line.nanos("by"));
                    world.after(line.nanos("for"), () -> node.slowDown(0));
                });
            case "unclaim" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (!mended) {
                                node.unclaim();
                            }
                        }));
            case "claim" -> onNode(line, node -> node.later(0, node::claim));
            case "lost" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            sights.see("lost(rank)");
                            node.node().lost(line.who(1), "told so");
                        }));
            case "notice" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning()) {
                                node.notice(line.who(1), (int) line.value("topic"));
                            }
                        }));
            case "livecut" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning() && !node.isSuspended()) {
                                node.liveCut(line.nanos("for"));
                            }
                        }));
            case "hint" ->
                onNode(
                        line,
                        node -> node.later(0, () -> {
                            if (node.isRunning()) {
                                sights.see("hint");
                                node.hinted(line.who(1));
                                node.node().suspect(line.who(1), Verdicts.HINT);
                            }
                        }));
            case "kill" -> onNode(line, node -> kill(node, line.value("machine") != 0, line.nanos("restart")));
            case "close" ->
                onNode(line, node -> close(node, Duration.ofNanos(line.nanos("drain")), line.nanos("restart")));
            case "cut" -> {
                Pipe pipe = net.pipe(line.who(0), line.who(1));
                if (pipe != null) {
                    pipe.cut(line.value("bytes"), Pipe.Cut.values()[(int) line.value("how")]);
                }
            }
            case "squeeze" -> {
                Pipe pipe = net.pipe(line.who(0), line.who(1));
                if (pipe != null) {
                    pipe.squeeze((int) line.value("to"));
                    world.after(line.nanos("for"), () -> pipe.widen(schedule.number("socket")));
                }
            }
            case "partition" -> {
                long until = world.now() + line.nanos("for");
                net.block(line.who(0), line.who(1), until);
                if (line.value("both") != 0) {
                    net.block(line.who(1), line.who(0), until);
                }
            }
            case "flap" ->
                net.flap(
                        line.who(0),
                        line.who(1),
                        world.now() + line.nanos("for"),
                        line.value("bytes"),
                        line.value("how"));
            case "intrude", "hostile" -> intruders.begin(line);
            default -> throw new IllegalArgumentException("no such line: " + line);
        }
    }

    private interface ToNode {
        void run(SimNode node);
    }

    private void onNode(Line line, ToNode what) {
        SimNode node = node(line.who(0));
        if (node != null && node.isRunning()) {
            what.run(node);
        }
    }

    private void sendLine(Line line) {
        onNode(
                line,
                node -> node.later(0, () -> {
                    if (!node.isRunning() || line.value("bytes") > limit(node.rank())) {
                        return;
                    }
                    SendOptions options = SendOptions.DEFAULT;
                    long within = line.value("within");
                    if (within != 0) {
                        options = options.within(
                                within < 0 ? ChronoUnit.FOREVER.getDuration() : Duration.ofNanos(line.nanos("within")));
                    }
                    if (line.value("written") != 0) {
                        options = options.written();
                    }
                    int tag = (int) line.value("tag");
                    int id = (int) line.value("id");
                    int bytes = (int) line.value("bytes");
                    work(tag);
                    Send send = send(
                            node,
                            id,
                            line.who(1),
                            bytes < Program.LEAST ? Program.EMPTY + id : tag,
                            bytes < Program.LEAST ? 0 : bytes,
                            options,
                            within > 0 || line.has("cancel"));
                    if (line.has("cancel")) {
                        node.later(line.nanos("cancel"), send::cancel);
                    }
                }));
    }

    /// A thread of the program's that waits until there is room, perhaps until it is interrupted.
    private void blockLine(Line line) {
        onNode(line, node -> {
            long within = line.value("within");
            int id = (int) line.value("id");
            int bytes = (int) Math.max(Program.LEAST, line.value("bytes"));
            boolean mayFail = within > 0 || line.has("interrupt");
            if (bytes > limit(node.rank())) {
                return;
            }
            Ledger.Sent sent = ledger.sent(id, node, line.who(1), Program.EMPTY + id, bytes, mayFail, List.of());
            sent.waits = true;
            SendOptions options = within > 0
                    ? SendOptions.DEFAULT.within(Duration.ofNanos(line.nanos("within")))
                    : SendOptions.DEFAULT;
            // not while it stands still, when its awake time is ahead
            node.later(0, () -> {
                sent.deadline = within > 0 ? node.awake() + line.nanos("within") : Long.MAX_VALUE;
                Thread waits = node.thread(() -> sendBlocking(node, sent, options));
                if (line.has("interrupt")) {
                    node.later(line.nanos("interrupt"), waits::interrupt);
                }
            });
        });
    }

    private void sendBlocking(SimNode from, Ledger.Sent sent, SendOptions options) {
        try (SealedBuffer message = from.message(sent.id, (int) sent.bytes)) {
            from.node()
                    .sendBlocking(sent.to, sent.tag, message, options)
                    .whenComplete((delivery, failure) -> ledger.completed(sent, delivery, failure));
        } catch (InterruptedException | TimeoutException notQueued) {
            ledger.gaveUp(sent, notQueued);
        }
    }

    /// How much longer all may take, for what handlers do.
    private void work(int tag) {
        switch (Program.of(tag)) {
            case SLOW -> slowNanos += 2 * schedule.nanos("slow");
            case REPLY -> slowNanos += schedule.nanos("reply");
            default -> {
                // no time
            }
        }
    }

    private void castLine(Line line) {
        onNode(line, node -> {
            long onItsWay = line.value("bytes") + SimSecurity.overhead(schedule, node.rank());
            if (node.isSuspended() && has("checkpoint") || onItsWay > limit(node.rank())) {
                return;
            }
            int id = (int) line.value("id");
            int bytes = (int) line.value("bytes");
            int tag = (int) line.value("tag");
            for (int i = 0; i < size; i++) {
                work(tag);
            }
            // with credit for one at a time the next begins when all below have confirmed, and credit is back; each hop
            // takes a round trip more for each time that its socket is full
            long fragments = 1 + bytes / schedule.config("fragment");
            long rounds = 1 + (bytes + fragments * HEADERS) / schedule.config("socket");
            slowNanos += 2 * (depths() + 1) * rounds * (schedule.nanos("delay") + schedule.nanos("jitter"));
            cast(node, id, bytes < Program.LEAST ? Program.EMPTY + id : tag, bytes < Program.LEAST ? 0 : bytes);
        });
    }

    /// A process ends at its cut.
    void endAtCut(SimNode node) {
        sights.see("process ends at its cut");
        beside("process ends at its cut");
        node.endAtCut();
        ledger.saved(node);
        net.kill(node.rank(), false);
    }

    /// ... and another one goes on there.
    void goOn(SimNode before, NodeCut cut) {
        SimNode node = new SimNode(before, cut);
        lives.get(node.rank()).add(node);
        node.memory.bound(Long.MAX_VALUE);
        net.host(node.rank()).up = true;
        try {
            node.start();
        } catch (IOException cannot) {
            ledger.violation("does not go on", node + " " + cannot);
        }
    }

    private void kill(SimNode node, boolean machine, long restart) {
        sights.see(machine ? "machine is gone" : "process is killed");
        node.kill();
        if (node.local() != null) {
            node.memories().died(node.local());
        }
        ends.put(node, world.now());
        ledger.killed(node);
        net.kill(node.rank(), machine);
        restart(node.rank(), restart);
    }

    private void close(SimNode node, Duration drain, long restart) {
        node.close(drain, () -> {
            ends.put(node, world.now());
            restart(node.rank(), restart);
        });
    }

    private void restart(int rank, long after) {
        if (after > 0) {
            world.after(after, () -> {
                try {
                    begin(rank);
                    sights.see("restart");
                } catch (IOException cannot) {
                    ledger.violation("does not start", "rank=" + rank + " " + cannot);
                }
            });
        }
    }

    /// Whether a line that says what has failed cannot be written.
    private boolean isLogFull() {
        long throwing = schedule.config().getOrDefault("logThrows", 0L);
        return throwing > 0 && logs.nextLong(throwing) == 0;
    }

    /// A line of the log, at the time at which it is written.
    private void logged(LogRecord line) {
        if (line.getLoggerName().startsWith("io.netty")) {
            ledger.violation("netty complains", line.getMessage() + " " + line.getThrown());
            return;
        }
        boolean severe = line.getLevel().intValue() >= Level.SEVERE.intValue();
        logged(severe, line.getMessage());
        if (severe && isLogFull()) {
            sights.see("log throws");
            throw new OutOfMemoryError("simulated: no memory for a line of the log");
        }
    }

    private void logged(boolean severe, String line) {
        tell("log", line);
        if (line.startsWith("broadcast is not its origin's")) {
            beside("broadcast refused by its signature");
            boolean unsigned = line.endsWith("broadcast is not signed") && !SimSecurity.isAllSigned(schedule);
            if (intruderRank() < 0 && !unsigned && !line.endsWith("closed")) {
                ledger.violation("refuses what its origin has signed", line);
            }
        }
        if (severe && !line.startsWith("handler failed")) {
            ledger.violation("error in the log", line);
        }
        if (schedule.isGentle() && !mended && line.startsWith("connection lost")) {
            ledger.violation("connection lost although all went well", line);
        }
        if (intruderRank() < 0 && BREACH.matcher(line).find()) {
            ledger.violation("a node says that another breaks the protocol", line);
        }
        int end = line.indexOf(':');
        String said = (line.startsWith("rank=") ? line.substring(line.indexOf(' ') + 1) : line);
        int to = Math.max(said.indexOf(':'), 0);
        sights.see("log " + (to == 0 ? said : said.substring(0, to)).replaceAll("[0-9]+", "N"));
        if (running != null && said.startsWith("connected: peer=")) {
            int space = said.indexOf(' ', 11);
            running.connected(Integer.parseInt(said.substring("connected: peer=".length(), space)));
        }
        if (end >= 0 && running != null && said.startsWith("peer ") && said.contains(" failed: ")) {
            Verdicts.check(this, running, said);
        }
    }
}
