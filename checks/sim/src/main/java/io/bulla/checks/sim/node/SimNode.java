// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.SimChannel;
import io.bulla.checks.sim.net.SimLoop;
import io.bulla.checks.sim.net.SimProcess;
import io.bulla.checks.sim.net.SimServerChannel;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.Coroutines;
import io.bulla.checks.sim.world.HeapAllocator;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.BoundNode;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.LiveCut;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.fixture.HostMemory;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadFactory;

/// One life of a node: an event loop and coroutines that run when the world says, a clock, memory, and what its
/// program does with messages.
public final class SimNode implements SimProcess {

    private static final long WAKE_UP = 20_000;
    private static final long HINT_WAITS = World.SECOND / 20;

    /// A moment from which its loop's time is counted.
    record Moment(long clock, long awake, int holdUps) {}

    final Simulation simulation;
    final int life;
    private final int generation;
    // where it goes on, or null
    private final NodeCut cut;
    public final SimMemory memory;
    final SimMemory user;
    private final World world;
    private final int rank;
    private final SimLoop loop;
    private final ThreadFactory threads;
    private final HeapAllocator allocator = new HeapAllocator();
    private final SplittableRandom random;
    private final SplittableRandom timing;
    private final Queue<Runnable> held = new ArrayDeque<>();
    // when something of a peer was heard last
    private final Moment[] heard;
    private final long[] hintedAt;
    private final long[] connectedAt;
    private final SimDirectory directory;
    // what it lends and borrows, or null
    private final LocalMemory local;
    private OobNode node;
    private boolean dead;
    private boolean closing;
    private boolean closed;
    private long pausedUntil;
    private long skew;
    private long heldUp;
    private int holdUps;
    private long runAt = Long.MAX_VALUE;
    private long slowness;
    private int orders;
    private int kept;
    private final Deque<Runnable> calls = new ArrayDeque<>();
    private boolean goesOn;
    private boolean stays;
    private boolean suspended;
    // all its connections are closed
    private boolean silent;
    private Map<Integer, SimulatedNode.Numbers> atCut = Map.of();
    private long suspendedAt;
    private long heldUpBefore;

    SimNode(Simulation simulation, int rank, int life) {
        this(simulation, rank, life, 0, null);
    }

    /// The life of a node whose process has ended at its cut: it has all but what is random.
    SimNode(SimNode before, NodeCut cut) {
        this(before.simulation, before.rank, before.life, before.generation + 1, cut);
        orders = before.orders;
    }

    private SimNode(Simulation simulation, int rank, int life, int generation, NodeCut cut) {
        this.generation = generation;
        this.cut = cut;
        this.simulation = simulation;
        this.world = simulation.world;
        this.rank = rank;
        this.life = life;
        this.directory = new SimDirectory(simulation, this, world.stream('a' + 256L * generation, rank, life));
        this.random = world.stream('r' + 256L * generation, rank, life);
        this.timing = world.stream('t' + 256L * generation, rank, life);
        this.skew = World.SECOND * (1 + rank);
        this.memory = new SimMemory(
                simulation.slabs,
                () -> simulation.ledger.violation("memory over its bound", "node=" + this + " " + memory()));
        this.user = new SimMemory(simulation.slabs, () -> {});
        this.local = simulation.memories.isEmpty() ? null : memories().member(this::poke);
        this.threads = Coroutines.scheduledBy(this::ready);
        this.loop = new SimLoop(world.thread, this);
        this.hintedAt = new long[simulation.hosts];
        this.connectedAt = new long[simulation.hosts];
        this.heard = new Moment[simulation.hosts];
        Arrays.fill(heard, moment());
    }

    /// Of its host.
    HostMemory memories() {
        return simulation.memories.get(rank % simulation.memories.size());
    }

    LocalMemory local() {
        return local;
    }

    private SimMemory memory() {
        return memory;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public Net net() {
        return simulation.net;
    }

    public OobNode node() {
        return node;
    }

    boolean isRunning() {
        return !dead && !closing && node != null;
    }

    /// Neither killed nor closed: who sent to it may expect an answer.
    boolean isDead() {
        return closing || dead && !goesOn;
    }

    /// The process ends, and its life goes on from a cut.
    void endAtCut() {
        dead = true;
        goesOn = true;
    }

    @Override
    public boolean isKilled() {
        return dead;
    }

    boolean isClosed() {
        return closed;
    }

    /// Bytes that Netty has allocated for it.
    public long nettyBytes() {
        return allocator.used();
    }

    void start() throws IOException {
        Schedule schedule = simulation.schedule;
        long late = cut != null ? 0 : rank * schedule.config().getOrDefault("late", 0L) * 1000;
        OobNodeBuilder builder = (late > 0 ? OobNode.builder() : OobNode.builder(rank, simulation.size))
                .memory(memory)
                .directory(directory)
                .bind(Net.address(rank))
                .security(SimSecurity.isOn(schedule) ? SimSecurity.of(simulation, rank) : Security.plaintext())
                .signatures(SimSecurity.of(schedule, rank))
                .transport(new Transport(executor -> null, SimServerChannel.class, SimChannel.class))
                .loops(loop)
                .allocator(allocator)
                .routing(new Radix(schedule.number("radix")))
                .limit(simulation.limit(rank))
                .fragment(schedule.number("fragment"))
                .coalesceBelow(schedule.number("coalesce"))
                .queuePerPeer(schedule.number("queueMessages"), schedule.config("queueBytes"))
                .inboundHighWaterMark(schedule.config("window"))
                .unclaimedLimit(schedule.config("unclaimed"))
                .helloDeadline(Duration.ofNanos(schedule.nanos("hello")))
                .heartbeat(Duration.ofNanos(schedule.nanos("heartbeat")))
                .peerTimeout(Duration.ofNanos(schedule.nanos("peerTimeout")))
                .onPeerLost((peer, cause) -> simulation.sights.see("listener told"));
        if (local != null) {
            builder.localMemory(local);
        }
        if (SimBulk.above(schedule) > 0) {
            SplittableRandom devices = world.stream('b' + 256L * generation, rank, life);
            builder.bulk(simulation.bulk.device(this, devices), SimBulk.above(schedule));
        }
        if (cut != null && schedule.config().getOrDefault("cutNames", 0L) != 0) {
            builder.restore(cut, new CutName(1, simulation.world.seed | 1));
        } else if (cut != null) {
            builder.restore(cut);
        }
        if (schedule.config("copying") != 0) {
            builder.sends(SendPolicy.copying(user));
        }
        for (int tag = 0; tag < Program.TAGS; tag++) {
            if (Program.of(tag) != Program.LATE || simulation.isMended()) {
                builder.receive(tag, this::received);
            }
        }
        builder.receive(Intruders.FORGED, this::forged);
        for (int tag : simulation.emptyTags) {
            builder.receive(tag, this::received);
        }
        if (late > 0) {
            SimulatedNode.bind(builder, this::clock, random::nextLong, threads)
                    .whenComplete((bound, failure) -> startLater(bound, failure, late));
        } else {
            SimulatedNode.start(builder, this::clock, random::nextLong, threads).whenComplete(this::started);
        }
        poke();
    }

    private void started(OobNode started, Throwable failure) {
        if (cut != null) {
            cut.close();
        }
        if (failure != null) {
            simulation.ledger.violation("does not start", this + " " + failure);
        }
        node = started;
        if (started != null && simulation.has("notice")) {
            started.receiveNotices(task -> later(0, task), this::noticed);
        }
    }

    /// A notice, and the life that its node had a session with right before and right after it was queued: the loop
    /// may hear that a life is over when the program has said its word and the loop has not taken it.
    static final class Said {
        private SimNode before;
        private SimNode after;

        private boolean isNotOf(SimNode node) {
            return before != null
                    && before == after
                    && (before.life != node.life || before.generation != node.generation);
        }
    }

    void notice(int peer, int topic) {
        Said said = new Said();
        SimulatedNode.onLoop(node, () -> said.before = known(peer));
        node.notice(
                peer,
                topic,
                ByteBuffer.allocate(4).putInt(simulation.said(said)).array());
        SimulatedNode.onLoop(node, () -> said.after = known(peer));
    }

    /// The life of the peer's that it has a session with, as far as the two agree, or `null`.
    private SimNode known(int peer) {
        long known = SimulatedNode.known(node, peer);
        SimNode found = null;
        for (SimNode each : simulation.lives(peer)) {
            if (known != 0 && each.node != null && SimulatedNode.session(each.node, rank) == known) {
                found = each;
            }
        }
        simulation.sights.see(found == null ? "notice to an unknown peer" : "notice");
        return found;
    }

    private void noticed(int peer, int topic, byte[] text) {
        if (peer == simulation.intruderRank()) {
            return;
        }
        Said said = simulation.said(ByteBuffer.wrap(text).getInt());
        simulation.sights.see("notice heard");
        if (said.isNotOf(this)) {
            simulation.ledger.violation(
                    "notice reaches a successor",
                    "node=" + this + " peer=" + peer + " topic=" + topic + " of=" + said.before);
        }
    }

    /// Takes a cut while it goes on, and ends it after a while; the other nodes know nothing of it.
    void liveCut(long nanos) {
        LiveCut live = node.liveCut(Duration.ofNanos(nanos + World.SECOND));
        live.ready().whenComplete((ready, notReady) -> {
            simulation.sights.see(notReady == null ? "live cut is ready" : "live cut is over before it is ready");
            if (notReady != null) {
                return;
            }
            live.take(() -> {}).whenComplete((cut, notTaken) -> {
                simulation.sights.see(notTaken == null ? "live cut is taken" : "live cut is over before it is taken");
                if (notTaken == null) {
                    simulation.beside("live cut is taken");
                    atCut = SimulatedNode.numbers(node);
                    cut.close();
                }
            });
        });
        later(nanos, live::end);
    }

    /// A node that is suspended has no connection, also none that has not said hello.
    void checkSuspended() {
        for (int peer = 0; peer < simulation.hosts && silent && !closing; peer++) {
            if (net().connections(rank, peer) > 0) {
                simulation.ledger.violation("connected while it is suspended", "node=" + this + " peer=" + peer);
            }
        }
    }

    boolean isSilent() {
        return silent && !closing && !dead;
    }

    /// What messages without a receiver keep of its memory is counted.
    void checkRetained() {
        long retained = memory.retained(SimulatedNode.unclaimed(node));
        if (retained > node.unclaimedBytes()) {
            simulation.ledger.violation(
                    "messages without a receiver keep more than is counted",
                    "node=" + this + " bytes=" + retained + " counted=" + node.unclaimedBytes());
        }
    }

    /// What it says while its cut is taken and not over: nothing of what has arrived since, and no new message.
    ///
    /// @param small next number that it expects, or that it gives
    void checkHeld(int peer, boolean acknowledges, long small, long bulk, long control) {
        if (node == null || !SimulatedNode.isHeld(node)) {
            return;
        }
        SimulatedNode.Numbers then = atCut.get(peer);
        if (then == null || then.session() != SimulatedNode.session(node, peer)) {
            then = SimulatedNode.Numbers.NONE;
        }
        simulation.sights.see("says something while its cut is taken");
        if (!then.covers(acknowledges, small, bulk, control)) {
            simulation.ledger.violation(
                    "goes on in the middle of a cut",
                    "node=" + this + " peer=" + peer + " says=" + small + "," + bulk + "," + control + " cut=" + then);
        }
    }

    void hinted(int peer) {
        hintedAt[peer] = world.now();
    }

    void connected(int peer) {
        connectedAt[peer] = world.now();
    }

    /// Whether a hint came after the last connection had begun, or just before: the loop may hear of it behind the
    /// hello, with all that waited for a node that goes on.
    boolean wasHinted(int peer) {
        return hintedAt[peer] > 0 && hintedAt[peer] + HINT_WAITS >= connectedAt[peer];
    }

    private void startLater(BoundNode bound, Throwable failure, long nanos) {
        if (failure != null) {
            started(null, failure);
            return;
        }
        simulation.sights.see("bound before the start");
        later(nanos, () -> {
            try {
                started(bound.start(rank, simulation.size, directory), null);
                if (simulation.isMended()) {
                    // when all others were told to, it was not there
                    claim();
                }
            } catch (IOException cannot) {
                started(null, cannot);
            }
        });
    }

    /// Something of its program's that may wait.
    Thread thread(Runnable what) {
        Thread thread = threads.newThread(what);
        thread.start();
        return thread;
    }

    boolean isSuspended() {
        return suspended;
    }

    boolean isPaused() {
        return pausedUntil > world.now();
    }

    /// Has no connections for a while.
    void suspend(long nanos) {
        suspend(nanos, () -> {});
    }

    /// Until it is told to go on.
    ///
    /// @param then when it has none
    void suspend(Runnable then) {
        stays = true;
        suspend(Long.MAX_VALUE, then);
    }

    private void suspend(long nanos, Runnable then) {
        if (suspended) {
            return;
        }
        suspended = true;
        suspendedAt = world.now();
        heldUpBefore = heldUp;
        call(() -> node.suspend().whenComplete((done, failure) -> {
            if (failure != null && !closing) {
                simulation.ledger.violation("does not suspend", this + " " + failure);
            }
            for (int peer = 0; peer < simulation.size && suspended && !closing; peer++) {
                if (net().connections(rank, peer) > 0) {
                    simulation.ledger.violation("suspended with a connection", this + " peer=" + peer);
                }
            }
            silent = suspended && failure == null;
            then.run();
        }));
        if (!stays) {
            world.after(nanos, this::resume);
        }
    }

    /// As one thread of the program's calls, also after a time in which all calls had to wait.
    private void call(Runnable what) {
        calls.add(what);
        later(0, () -> calls.removeFirst().run());
    }

    void goOn() {
        stays = false;
        resume();
    }

    void resume() {
        if (!suspended || stays || dead || closing) {
            return;
        }
        suspended = false;
        silent = false;
        // what it was held up meanwhile is counted already
        heldUp += Math.max(0, world.now() - suspendedAt - (heldUp - heldUpBefore));
        holdUps++;
        call(() -> node.resume(Net.address(rank)).whenComplete((address, failure) -> {
            if (failure != null && !closing) {
                simulation.ledger.violation("does not resume", this + " " + failure);
            }
        }));
    }

    @Override
    public long clock() {
        return world.now() + skew;
    }

    /// Time in which it was not held up.
    long awake() {
        return world.now() - heldUp;
    }

    @Override
    public void poke() {
        runAt(world.now() + 1 + timing.nextLong(WAKE_UP));
    }

    private void runAt(long time) {
        long at = Math.max(time, pausedUntil);
        if (at < runAt) {
            runAt = at;
            world.at(at, () -> run(at));
        }
    }

    private void run(long at) {
        if (dead || at != runAt) {
            return;
        }
        runAt = Long.MAX_VALUE;
        if (world.now() < pausedUntil) {
            runAt(pausedUntil);
            return;
        }
        world.note(rank);
        simulation.running = this;
        loop.runNow();
        simulation.running = null;
        long deadline = loop.nextDeadline();
        if (deadline >= 0) {
            runAt(world.now() + Math.max(1, deadline - clock()));
        }
    }

    /// A coroutine of this node's may go on.
    private void ready(Runnable continuation) {
        if (Thread.currentThread() != world.thread && !Thread.currentThread().isVirtual()) {
            simulation.ledger.violation("made ready by another thread", Thread.currentThread() + " " + this);
        }
        inTurn(continuation, 1 + timing.nextLong(WAKE_UP));
    }

    private void inTurn(Runnable what, long nanos) {
        world.after(nanos, () -> {
            if (dead) {
                return;
            }
            if (world.now() < pausedUntil) {
                held.add(what);
                return;
            }
            world.note(-1 - rank);
            what.run();
        });
    }

    /// Something that its program does at a time of its own; not while it is held up.
    void later(long nanos, Runnable what) {
        world.after(
                nanos,
                () -> inTurn(
                        () -> {
                            what.run();
                            poke();
                        },
                        0));
    }

    void pause(long nanos) {
        long until = Math.max(pausedUntil, world.now() + nanos);
        heldUp += until - Math.max(pausedUntil, world.now());
        holdUps++;
        pausedUntil = until;
        world.at(until, this::afterPause);
    }

    void wake() {
        if (pausedUntil > world.now()) {
            heldUp -= pausedUntil - world.now();
            pausedUntil = world.now();
            afterPause();
        }
    }

    private void afterPause() {
        if (world.now() >= pausedUntil) {
            while (!held.isEmpty()) {
                inTurn(held.poll(), 1 + timing.nextLong(WAKE_UP));
            }
            poke();
        }
    }

    void jump(long nanos) {
        skew += nanos;
        holdUps++;
        poke();
    }

    void slowDown(long nanos) {
        slowness = nanos;
    }

    /// The process has ended.
    void kill() {
        dead = true;
    }

    void close(Duration drain, Runnable after) {
        closing = true;
        threads.newThread(() -> {
                    node.close(drain);
                    closed = true;
                    after.run();
                })
                .start();
    }

    @Override
    public void heard(int peer) {
        heard[peer] = moment();
    }

    @Override
    public void read(int bytes) {
        // costs nothing: what is looked for here is order, not time
    }

    @Override
    public void wrote(int bytes) {
        // costs nothing, too
    }

    /// Loop time since something of the peer was heard, at most.
    long silence(int peer) {
        return loopTimeSince(heard[peer]);
    }

    Moment moment() {
        return new Moment(clock(), awake(), holdUps);
    }

    /// What its loop counts, at most: no more than its clock does, and of each time in which it was held up, or the
    /// clock made a step, two ticks.
    long loopTimeSince(Moment before) {
        Schedule schedule = simulation.schedule;
        long tick = Math.min(schedule.nanos("heartbeat") / 2, schedule.nanos("peerTimeout") / 4);
        return Math.min(clock() - before.clock, awake() - before.awake + 2 * tick * (holdUps - before.holdUps));
    }

    SimDirectory directory() {
        return directory;
    }

    int nextOrder() {
        return ++orders;
    }

    SealedBuffer message(int id, int bytes) {
        if (bytes < Program.LEAST) {
            return SealedBuffer.concat();
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(user, bytes)) {
            return builder.putInt(id)
                    .putInt(life)
                    .putInt(nextOrder())
                    .put(Program.content(id, bytes - Program.LEAST))
                    .seal();
        }
    }

    /// Receives what had no receiver so far.
    void claim() {
        for (int tag = 0; tag < Program.TAGS; tag++) {
            if (Program.of(tag) == Program.LATE) {
                node.receive(tag, this::received);
            }
        }
    }

    void unclaim() {
        for (int tag = 0; tag < Program.TAGS; tag++) {
            if (Program.of(tag) == Program.LATE) {
                node.stopReceiving(tag);
            }
        }
    }

    /// What a member that does not keep to the protocol has sent, or made of what others have.
    private void forged(Message message) {
        simulation.sights.see("handled what an intruder sent");
        boolean own = message.origin() == simulation.intruderRank();
        BroadcastSignatures mode = SimSecurity.of(simulation.schedule, rank);
        // of intruders that sign nothing
        boolean unsigned = !simulation.intruders.hasMember() && mode == BroadcastSignatures.SIGN;
        if (own && message.buffer().byteSize() > 0 && mode != BroadcastSignatures.NONE) {
            simulation.beside("handled what a member signed");
        }
        if (!own && mode != BroadcastSignatures.NONE && !unsigned) {
            simulation.ledger.violation("handled a forged broadcast", "node=" + this + " " + message);
        }
    }

    private void received(Message message) {
        int id = simulation.ledger.handled(this, message);
        if (slowness > 0) {
            world.sleep(slowness);
        }
        switch (Program.of(message.tag())) {
            case SLOW -> world.sleep(simulation.schedule.nanos("slow"));
            case KEEP -> keep(message.buffer().share());
            case THROW -> throw new IllegalStateException("thrown on purpose: id=" + id);
            case REPLY -> reply(message, id);
            default -> {
                // nothing more
            }
        }
    }

    int kept() {
        return kept;
    }

    private void keep(SealedBuffer buffer) {
        long bytes = buffer.byteSize();
        kept++;
        memory.keep(bytes);
        later(simulation.schedule.nanos("keep"), () -> {
            buffer.close();
            memory.keep(-bytes);
            kept--;
        });
    }

    /// Waits for it, as a handler may.
    private void reply(Message message, int id) {
        Duration deadline = Duration.ofNanos(simulation.schedule.nanos("reply"));
        try {
            CompletableFuture<?> reply = simulation
                    .send(
                            this,
                            Program.reply(id, rank),
                            message.origin(),
                            0,
                            Program.LEAST,
                            SendOptions.DEFAULT.within(deadline))
                    .toCompletableFuture();
            reply.join();
        } catch (CompletionException | CancellationException failed) {
            simulation.sights.see("reply failed");
        }
    }

    @Override
    public String toString() {
        return rank + "/" + life;
    }
}
