// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.net.Chatter;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.fixture.HostMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/// One run of a schedule, as its parts see it: the world, the network, the nodes and all their lives.
public final class Simulation {

    /// @param violation the first rule that was broken, or `null`
    public record Result(
            String violation, long digest, long steps, long nanos, int sends, int lives, Map<String, Long> sights) {}

    private static final long LEND_NANOS = 3 * World.MILLI;

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
    final Allowances allowances;
    final Sends sends;
    /// Whose event loop runs now, or `null`.
    SimNode running;
    private final Map<Integer, List<SimNode>> lives = new HashMap<>();
    private final List<Notices.Said> said = new ArrayList<>();
    private final Map<SimNode, Long> ends = new HashMap<>();
    private int lifeNumber;
    private boolean mended;
    private boolean over;
    private final Consumer<String> story;

    Simulation(Schedule schedule, Function<Simulation, Intruders> intruders, Consumer<String> story) {
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
        this.ledger = new Ledger(this);
        this.intruders = intruders.apply(this);
        this.bulk = new SimBulk(this);
        this.allowances = new Allowances(schedule, size, hosts);
        this.sends = new Sends(this);
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

    public void tell(Object... words) {
        if (story != null) {
            StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%.6f", world.now() / 1e9));
            for (Object word : words) {
                line.append(' ').append(word);
            }
            story.accept(line.toString());
        }
    }

    Result result() {
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
    int said(Notices.Said notice) {
        said.add(notice);
        return said.size() - 1;
    }

    Notices.Said said(int number) {
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

    /// The youngest life, or `null`.
    SimNode node(int rank) {
        List<SimNode> of = lives(rank);
        return of.isEmpty() ? null : of.getLast();
    }

    /// Or `null`: it has not begun, is closed, or has ended.
    public SimNode running(int rank) {
        SimNode node = node(rank);
        return node != null && node.isRunning() ? node : null;
    }

    /// Of all ranks, those that have ended too.
    Stream<SimNode> everyLife() {
        return lives.values().stream().flatMap(List::stream);
    }

    /// All that run.
    List<SimNode> nodes() {
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

    void begin(int rank) throws IOException {
        SimNode node = new SimNode(this, rank, ++lifeNumber);
        lives.computeIfAbsent(rank, r -> new ArrayList<>()).add(node);
        // what is lent is bounded by quotas
        node.memory.bound(lends() ? Long.MAX_VALUE : allowances.memory());
        net.host(rank).up = true;
        node.start();
    }

    /// Nothing goes wrong any more, but for what is to stay.
    void mend() {
        mended = true;
        tell("mended");
        net.heal();
    }

    /// Whether nothing goes wrong any more.
    boolean isMended() {
        return mended;
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

    /// All is being closed.
    void end() {
        over = true;
    }

    /// Whether all is being closed.
    public boolean isOver() {
        return over;
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

    void kill(SimNode node, boolean machine, long restart) {
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

    void close(SimNode node, Duration drain, long restart) {
        node.close(drain, () -> {
            ends.put(node, world.now());
            restart(node.rank(), restart);
        });
    }

    private void restart(int rank, long after) {
        if (after > 0) {
            world.after(after, () -> {
                if (over) {
                    // nothing would close it
                    return;
                }
                try {
                    begin(rank);
                    sights.see("restart");
                } catch (IOException cannot) {
                    ledger.violation("does not start", "rank=" + rank + " " + cannot);
                }
            });
        }
    }
}
