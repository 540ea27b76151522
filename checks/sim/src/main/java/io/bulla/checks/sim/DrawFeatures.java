// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import io.bulla.checks.sim.hostile.HostileMember;
import io.bulla.checks.sim.node.SimSecurity;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.world.World;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/// What a node has on beyond what [Draw] draws: signed broadcasts, bulk lines, logs that throw; and a member that
/// breaks the protocol of what is on. From a stream of its own, so the rest of a seed's schedule is as it was.
final class DrawFeatures {

    private static final long LONG = 30_000;
    private static final long ATTACKED = 2_500_000;

    private final long seed;
    private final SplittableRandom random;
    private final Map<String, Long> config;
    private final List<Line> lines;
    private final boolean gentle;
    private final boolean intruder;
    private final boolean checkpoints;
    private final int nodes;
    private long faults;
    private int id;

    /// @param intruder whether one of the nodes is none
    /// @param id of the last message
    DrawFeatures(
            long seed,
            Map<String, Long> config,
            List<Line> lines,
            boolean gentle,
            boolean intruder,
            int nodes,
            int id) {
        this.seed = seed;
        this.random = new SplittableRandom(World.mix(seed, 'g'));
        this.config = config;
        this.lines = lines;
        this.gentle = gentle;
        this.intruder = intruder;
        this.nodes = nodes;
        this.id = id;
        this.faults = config.get("faults");
        this.checkpoints = has("checkpoint");
    }

    private boolean has(String what) {
        return lines.stream().anyMatch(line -> line.what().equals(what));
    }

    private boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    private long between(long least, long most) {
        return least + random.nextLong(most - least + 1);
    }

    private long any(long... of) {
        return of[random.nextInt(of.length)];
    }

    private int host() {
        return random.nextInt(intruder ? nodes - 1 : nodes);
    }

    void draw() {
        boolean beside = !gentle && !intruder && !(checkpoints && has("cast")) && oneIn(3);
        if (beside) {
            faults = Math.max(faults, ATTACKED);
            config.put("faults", faults);
        }
        boolean signs = oneIn(beside ? 2 : 3);
        if (signs) {
            sign(beside);
        }
        if (!signs && oneIn(2)) {
            bulk();
        }
        config.put("cutNames", oneIn(2) ? 1L : 0L);
        config.put("logThrows", oneIn(4) ? 2L : 0L);
        for (long left = config.get("logThrows") > 0 ? between(2, 20) : 0; left > 0; left--) {
            lines.add(Line.of(between(0, faults), "send", host(), host())
                    .with("id", ++id)
                    .with("tag", Program.THROW.ordinal())
                    .with("bytes", between(Program.LEAST, 300)));
        }
        if (beside) {
            hostile(signs);
        }
        onLoop();
    }

    /// Handlers that run on the event loop, from a stream of their own.
    private void onLoop() {
        SplittableRandom loops = new SplittableRandom(World.mix(seed, 'o'));
        config.put("onLoop", loops.nextInt(2) == 0 ? loops.nextLong(1L << Program.TAGS) : 0);
        if (config.get("onLoop") == 0) {
            return;
        }
        config.put("loopHeld", !gentle && !checkpoints && loops.nextInt(3) == 0 ? 1 + loops.nextLong(20) : 0);
        for (int left = loops.nextInt(2) == 0 ? 1 + loops.nextInt(60) : 0; left > 0; left--) {
            lines.add(Line.of(loops.nextLong(faults + 1), "swap", loops.nextInt(intruder ? nodes - 1 : nodes))
                    .with("tag", loops.nextInt(Program.TAGS))
                    .with("loop", loops.nextInt(2)));
        }
    }

    private void sign(boolean beside) {
        long mix = beside
                ? any(SimSecurity.SIGN, SimSecurity.REQUIRE, SimSecurity.REQUIRE, SimSecurity.REQUIRE_AND_SIGN)
                : any(SimSecurity.SIGN, SimSecurity.REQUIRE, SimSecurity.REQUIRE_AND_SIGN, SimSecurity.SIGN_AND_NONE);
        boolean some = !gentle && !beside && !checkpoints && oneIn(3);
        config.put("signatures", some ? SimSecurity.REQUIRE_AND_NONE : mix);
        config.put("signature", config.get("tiny") != 0 ? 40 : any(16, 40, 300, 2000));
        if (!checkpoints && !intruder) {
            casts(between(2, 8));
        }
    }

    private void casts(long count) {
        long largest = config.get("tiny") != 0 ? 2000 : any(5000, 20_000, 40_000);
        for (long left = count; left > 0; left--) {
            lines.add(Line.of(between(0, faults * 3 / 4), "cast", host())
                    .with("id", ++id)
                    .with("tag", random.nextInt(4))
                    .with("bytes", oneIn(3) ? between(Program.LEAST, 300) : between(Program.LEAST, largest)));
        }
    }

    private void bulk() {
        long above = config.get("fragment") + any(1, 1000);
        config.put("bulk", above);
        boolean tiny = config.get("tiny") != 0;
        config.put("bulkTrouble", !gentle && !checkpoints && oneIn(2) ? 1L : 0L);
        if (!tiny) {
            lines.replaceAll(line -> line.has("id") && line.value("bytes") < above && oneIn(4)
                    ? line.with("bytes", between(above, Math.max(above, LONG)))
                    : line);
        }
        for (long left = !gentle && !checkpoints && oneIn(2) ? between(1, 4) : 0; left > 0; left--) {
            lines.add(Line.of(between(0, faults), "starve", host()).with("for", between(1000, 300_000)));
        }
    }

    private void hostile(boolean signs) {
        int rank = nodes;
        config.put("nodes", nodes + 1L);
        config.put("intruder", 1L);
        config.put("leaves", 1L);
        List<HostileMember.Way> ways = ways(signs);
        if (oneIn(8)) {
            ways = List.of(HostileMember.Way.ANOTHER_CUT);
        }
        for (long left = between(2, 4); left > 0; left--) {
            HostileMember.Way way = ways.get(random.nextInt(ways.size()));
            lines.add(Line.of(between(0, faults / 4), "hostile", rank)
                    .with("how", way.ordinal())
                    .with("kind", kind())
                    .with("victim", random.nextInt(nodes))
                    .with("reads", oneIn(3) ? 0 : 1));
        }
        if (checkpoints) {
            return;
        }
        for (long left = between(1, 3); left > 0; left--) {
            lines.add(Line.of(between(faults / 8, faults), "livecut", host()).with("for", between(1000, 300_000)));
        }
        if (!signs) {
            casts(between(1, 5));
        }
    }

    private List<HostileMember.Way> ways(boolean signs) {
        Set<HostileMember.Way> possible = EnumSet.allOf(HostileMember.Way.class);
        possible.removeIf(way -> way.isOfSignatures() && !signs
                || way.isOfBulk() && !config.containsKey("bulk")
                || way.isOfLending() && config.get("lends") == 0
                || checkpoints && way == HostileMember.Way.FLOODS);
        // of two lengths an attacker needs no signature
        if (!signs && !checkpoints) {
            possible.add(HostileMember.Way.BEGINS_ANOTHER_LENGTH);
        }
        List<HostileMember.Way> ways = new ArrayList<>(possible);
        for (int more = 0; more < 3 && !checkpoints; more++) {
            ways.add(HostileMember.Way.FLOODS);
        }
        return ways;
    }

    private long kind() {
        List<HostileMember.Flood> kinds = new ArrayList<>(List.of(HostileMember.Flood.values()));
        if (!config.containsKey("bulk")) {
            kinds.remove(HostileMember.Flood.REQUEST);
            kinds.remove(HostileMember.Flood.CLEAR);
        }
        return kinds.get(random.nextInt(kinds.size())).ordinal();
    }
}
