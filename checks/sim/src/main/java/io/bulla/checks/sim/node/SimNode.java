// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.SimChannel;
import io.bulla.checks.sim.net.SimProcess;
import io.bulla.checks.sim.net.SimServerChannel;
import io.bulla.checks.sim.net.Turns;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.HeapAllocator;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.BoundNode;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.fixture.HostMemory;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;

/// One life of a node: an event loop and coroutines that run when the world says, a clock, and memory.
public final class SimNode implements SimProcess {

    private static final long HINT_WAITS = World.SECOND / 20;

    /// A moment from which its loop's time is counted.
    record Moment(long clock, long awake, int holdUps) {}

    final Simulation simulation;
    final int life;
    final int generation;
    // where it goes on, or null
    private final NodeCut cut;
    public final SimMemory memory;
    final SimMemory user;
    private final World world;
    private final int rank;
    private final Turns turns;
    private final HeapAllocator allocator = new HeapAllocator();
    private final SplittableRandom random;
    // when something of a peer was heard last
    private final Moment[] heard;
    private final long[] hintedAt;
    private final long[] connectedAt;
    private final SimDirectory directory;
    final NodeProgram program;
    final Notices notices;
    final CutChecks cuts;
    final Suspension suspension;
    // what it lends and borrows, or null
    private final LocalMemory local;
    private OobNode node;
    private boolean dead;
    private boolean closing;
    private boolean closed;
    private long skew;
    private long heldUp;
    private int holdUps;
    private boolean goesOn;

    SimNode(Simulation simulation, int rank, int life) {
        this(simulation, rank, life, 0, null, null);
    }

    /// The life of a node whose process has ended at its cut: it has all but what is random.
    SimNode(SimNode before, NodeCut cut) {
        this(before.simulation, before.rank, before.life, before.generation + 1, cut, before.program);
    }

    private SimNode(Simulation simulation, int rank, int life, int generation, NodeCut cut, NodeProgram before) {
        this.generation = generation;
        this.cut = cut;
        this.simulation = simulation;
        this.world = simulation.world;
        this.program = new NodeProgram(this, before);
        this.notices = new Notices(this);
        this.cuts = new CutChecks(this);
        this.suspension = new Suspension(this);
        this.rank = rank;
        this.life = life;
        this.directory = new SimDirectory(simulation, this, world.stream('a' + 256L * generation, rank, life));
        this.random = world.stream('r' + 256L * generation, rank, life);
        this.skew = World.SECOND * (1 + rank);
        this.memory = new SimMemory(
                simulation.slabs,
                () -> simulation.ledger.violation("memory over its bound", "node=" + this + " " + memory()));
        this.user = new SimMemory(simulation.slabs, () -> {});
        this.local = simulation.memories.isEmpty() ? null : memories().member(this::poke);
        this.turns = new Turns(
                world, this, world.stream('t' + 256L * generation, rank, life), this::runLoop, this::otherThread);
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

    boolean isClosing() {
        return closing;
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
                .security(SimSecurity.isOn(schedule) ? SimSecurity.security(schedule, rank) : Security.plaintext())
                .signatures(SimSecurity.of(schedule, rank))
                .transport(new Transport(executor -> null, SimServerChannel.class, SimChannel.class))
                .loops(turns.loop())
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
        simulation.bulk.offer(this, builder);
        if (cut != null && schedule.config().getOrDefault("cutNames", 0L) != 0) {
            builder.restore(cut, new CutName(1, world.seed | 1));
        } else if (cut != null) {
            builder.restore(cut);
        }
        if (schedule.config("copying") != 0) {
            builder.sends(SendPolicy.copying(user));
        }
        program.receive(builder);
        if (late > 0) {
            SimulatedNode.bind(builder, this::clock, random::nextLong, turns.threads(), program::looksBy)
                    .whenComplete((bound, failure) -> startLater(bound, failure, late));
        } else {
            SimulatedNode.start(builder, this::clock, random::nextLong, turns.threads(), program::looksBy)
                    .whenComplete(this::started);
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
            notices.receive();
        }
        if (started != null && simulation.isMended()) {
            // when all others were told to, it was not there
            program.claim();
        }
        if (started != null && simulation.isOver()) {
            simulation.close(this, Duration.ZERO, 0);
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
            } catch (IOException cannot) {
                started(null, cannot);
            }
        });
    }

    /// Something of its program's that may wait.
    Thread thread(Runnable what) {
        return turns.thread(what);
    }

    boolean isPaused() {
        return turns.isPaused();
    }

    @Override
    public long clock() {
        return world.now() + skew;
    }

    /// Time in which it was held up.
    long heldUp() {
        return heldUp;
    }

    void heldUpFor(long nanos) {
        heldUp += nanos;
        holdUps++;
    }

    /// Time in which it was not held up.
    long awake() {
        return world.now() - heldUp;
    }

    @Override
    public void poke() {
        turns.poke();
    }

    private void runLoop() {
        simulation.running = this;
        turns.loop().runNow();
        simulation.running = null;
    }

    private void otherThread(Thread other) {
        simulation.ledger.violation("made ready by another thread", other + " " + this);
    }

    /// Something that its program does at a time of its own; not while it is held up.
    void later(long nanos, Runnable what) {
        turns.later(nanos, what);
    }

    void pause(long nanos) {
        heldUpFor(turns.pause(nanos));
    }

    void wake() {
        heldUp -= turns.wake();
    }

    void jump(long nanos) {
        skew += nanos;
        holdUps++;
        poke();
    }

    /// The process has ended.
    void kill() {
        dead = true;
    }

    void close(Duration drain, Runnable after) {
        closing = true;
        thread(() -> {
            node.close(drain);
            closed = true;
            after.run();
        });
    }

    @Override
    public void heard(int peer) {
        heard[peer] = moment();
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

    @Override
    public String toString() {
        return rank + "/" + life;
    }
}
