// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.World;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/// Draws a schedule from a seed. Each kind of fault is on or off for the whole of a schedule, and so is each kind
/// of load, so that schedules differ more than their sum would. Times are around the protocol's own limits.
final class Draw {

    private enum Fault {
        CUT,
        FLAP,
        PARTITION,
        PAUSE,
        JUMP,
        KILL,
        CLOSE,
        SQUEEZE,
        STARVE,
        SLOW,
        LOST,
        INTRUDE
    }

    private static final int TAGS = 8;
    private static final int STORM = 150;
    private static final int STORM_BYTES = 4000;
    private static final long LENDABLE = 4 << 10;
    private static final long LONG = 30_000;

    private final long seed;
    private SplittableRandom random;
    private final Map<String, Long> config = new TreeMap<>();
    private final List<Line> lines = new ArrayList<>();
    private int nodes;
    private int honest;
    private long faults;
    private int id;

    private Draw(long seed) {
        this.seed = seed;
        this.random = new SplittableRandom(World.mix(seed, 'd'));
    }

    static Schedule schedule(long seed) {
        return schedule(seed, true);
    }

    /// @param features whether [DrawFeatures] come on top
    static Schedule schedule(long seed, boolean features) {
        return new Draw(seed).draw(features);
    }

    private boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    private long between(long least, long most) {
        return least + random.nextLong(most - least + 1);
    }

    @SafeVarargs
    private static <T> T pick(SplittableRandom random, T... of) {
        return of[random.nextInt(of.length)];
    }

    private long any(Long... of) {
        return pick(random, of);
    }

    private Schedule draw(boolean features) {
        boolean gentle = oneIn(8);
        Set<Fault> on = EnumSet.noneOf(Fault.class);
        if (!gentle) {
            for (Fault fault : Fault.values()) {
                if (oneIn(fault == Fault.INTRUDE ? 6 : 3)) {
                    on.add(fault);
                }
            }
        }
        configure(gentle, on);
        load(gentle);
        for (Fault fault : on) {
            int count = fault == Fault.INTRUDE ? 3 : (int) between(1, fault == Fault.CUT ? 12 : 5);
            for (int i = 0; i < count; i++) {
                lines.add(line(fault).at(between(0, faults)));
            }
        }
        more(gentle, on);
        directories(gentle);
        lend();
        features(gentle);
        if (features) {
            new DrawFeatures(seed, config, lines, gentle, honest < nodes, nodes, id).draw();
        }
        return new Schedule(seed, config, lines);
    }

    /// What came later still, from another stream.
    private void directories(boolean gentle) {
        random = new SplittableRandom(World.mix(seed, 'a'));
        boolean late = oneIn(5);
        long most = between(1, config.get("peerTimeout") / (oneIn(3) && !hasCheckpoints() ? 2 : 20));
        config.put("lookup", late ? most : 0);
        // two addresses leave half as long for each, which small pieces need; a directory that does not answer ends
        // in a verdict, which no peer gets where all that was sent has to arrive
        boolean mayBeWrong = !gentle && !hasCheckpoints() && config.get("tiny") == 0;
        config.put("lookupWrong", late && mayBeWrong && oneIn(2) ? 1L : 0L);
    }

    private boolean hasCheckpoints() {
        return lines.stream().anyMatch(line -> line.what().equals("checkpoint"));
    }

    /// What came later, from a stream of its own: the rest of a seed's schedule is as it was.
    private void more(boolean gentle, Set<Fault> on) {
        random = new SplittableRandom(World.mix(seed, 'm'));
        config.put("late", oneIn(4) ? between(1, 5000) : 0);
        for (long left = oneIn(4) ? between(3, 80) : 0; left > 0; left--) {
            int from = random.nextInt(honest);
            Line waits = Line.of(between(0, faults), "block", from, random.nextInt(honest))
                    .with("id", ++id)
                    .with("bytes", bytes(any(200L, 5000L, 20_000L)));
            waits = oneIn(4) ? waits.with("within", any(1000L, 50_000L, 1_000_000L)) : waits;
            lines.add(oneIn(6) ? waits.with("interrupt", any(0L, 3000L, 200_000L)) : waits);
        }
        for (long left = !gentle && oneIn(5) ? between(1, 4) : 0; left > 0; left--) {
            lines.add(Line.of(between(0, faults), "suspend", host()).with("for", duration()));
        }
        // where nothing else ends a node or gives one up, all that was sent has to arrive
        if (honest == nodes && oneIn(2) && EnumSet.of(Fault.CUT, Fault.SLOW).containsAll(on)) {
            config.put("gentle", 0L);
            config.put("reply", any(200_000L, 1_000_000L));
            lines.removeIf(line -> line.what().equals("suspend"));
            for (long left = between(1, 4); left > 0; left--) {
                lines.add(Line.of(between(0, faults), "checkpoint"));
            }
        }
    }

    /// Later still: nodes of one host or of two lend each other memory.
    private void lend() {
        random = new SplittableRandom(World.mix(seed, 'l'));
        boolean lends = oneIn(3) && !hasCheckpoints();
        config.put("lends", lends ? any(1L, 3L, 1000L) : 0);
        config.put("hosts", oneIn(3) ? 2L : 1L);
        if (lends && config.get("tiny") == 0) {
            lines.replaceAll(line -> isMessage(line) && oneIn(3) ? line.with("bytes", between(LENDABLE, LONG)) : line);
        }
    }

    /// What came last: notices, hints, live cuts, and broadcasts beside a member that does not keep to the protocol.
    private void features(boolean gentle) {
        random = new SplittableRandom(World.mix(seed, 'f'));
        for (long left = oneIn(3) ? between(1, 20) : 0; left > 0; left--) {
            int from = random.nextInt(honest);
            lines.add(Line.of(between(0, faults), "notice", from, other(from)).with("topic", between(0, 7)));
        }
        for (long left = !gentle && !hasCheckpoints() && oneIn(4) ? between(1, 6) : 0; left > 0; left--) {
            int from = random.nextInt(honest);
            lines.add(Line.of(between(0, faults), "hint", from, other(from)));
        }
        for (long left = !hasCheckpoints() && oneIn(4) ? between(1, 4) : 0; left > 0; left--) {
            lines.add(Line.of(between(0, faults), "livecut", host()).with("for", between(1000, 300_000)));
        }
        boolean leaves = honest < nodes && oneIn(2);
        config.put("leaves", leaves ? 1L : 0L);
        if (!leaves) {
            return;
        }
        // it is there in time, and does more often what is about broadcasts
        lines.replaceAll(line -> line.what().equals("intrude")
                ? line.at(line.micros() / 4).with("how", oneIn(3) ? line.value("how") : between(9, 12))
                : line);
        long largest = config.get("tiny") != 0 ? 2000 : any(5000L, 20_000L, 40_000L);
        for (long left = between(4, 16); left > 0; left--) {
            lines.add(Line.of(between(faults / 4, faults), "cast", random.nextInt(honest))
                    .with("id", ++id)
                    .with("tag", random.nextInt(4))
                    .with("bytes", oneIn(2) ? between(2000, Math.max(2000, largest)) : bytes(largest)));
        }
    }

    private static boolean isMessage(Line line) {
        return line.what().equals("send") || line.what().equals("cast") && line.value("bytes") != STORM_BYTES;
    }

    private void configure(boolean gentle, Set<Fault> on) {
        nodes = (int) between(2, oneIn(4) ? 9 : 5);
        boolean intruder = on.contains(Fault.INTRUDE);
        nodes += intruder ? 1 : 0;
        honest = intruder ? nodes - 1 : nodes;
        boolean tiny = oneIn(6);
        config.put("gentle", gentle ? 1L : 0L);
        config.put("nodes", (long) nodes);
        config.put("intruder", intruder ? 1L : 0L);
        config.put("radix", between(1, 3));
        config.put("heartbeat", any(200_000L, 500_000L, 1_000_000L));
        config.put("peerTimeout", any(500_000L, 1_000_000L, 2_000_000L, 3_000_000L));
        long hello = any(300_000L, 1_000_000L, 5_000_000L);
        // where nothing goes wrong, small pieces on slow links are in time
        config.put("hello", gentle ? 5_000_000L : hello);
        config.put("fragment", any(1024L, 4096L, 16_384L));
        config.put("coalesce", any(0L, 256L, 1024L));
        config.put("window", any(0L, 2048L, 8192L, 32_768L, 262_144L));
        config.put("limit", any(65_536L, 65_536L, 131_072L));
        // of rank 0, if it takes less than others
        config.put("small", oneIn(3) ? any(1500L, 5000L, 20_000L) : config.get("limit"));
        config.put("queueMessages", any(8L, 64L, 4096L));
        config.put("queueBytes", any(16_384L, 262_144L, 4_194_304L));
        config.put("unclaimed", any(0L, 1000L, 100_000L));
        // so that a hello has an answer before an attempt to connect is given up
        long slowest = config.get("peerTimeout") / (tiny ? 60 : 30);
        config.put("delay", Math.min(slowest / 2, any(20L, 200L, 2000L, 20_000L)));
        config.put("jitter", Math.min(slowest / 2, any(0L, 100L, 1000L, 30_000L)));
        config.put("socket", tiny ? any(100L, 700L) : any(4096L, 16_384L, 65_536L));
        config.put("piece", tiny ? any(7L, 60L, 300L) : any(300L, 1500L, 65_536L));
        config.put("copying", oneIn(6) ? 1L : 0L);
        config.put("slow", any(1000L, 20_000L, 100_000L));
        config.put("keep", any(10_000L, 300_000L, 1_000_000L));
        config.put("reply", gentle ? 60_000_000L : any(200_000L, 1_000_000L));
        faults = any(300_000L, 2_000_000L, 2_000_000L, 6_000_000L);
        config.put("faults", faults);
        config.put("tiny", tiny ? 1L : 0L);
    }

    private void load(boolean gentle) {
        boolean tiny = config.get("tiny") != 0;
        boolean bursts = oneIn(3);
        int sends = (int) (tiny ? between(5, 25) : between(10, bursts ? 300 : 120));
        int casts = oneIn(3) ? 0 : (int) between(1, tiny ? 4 : 16);
        long largest = tiny ? 2000 : any(200L, 5000L, 40_000L, config.get("limit"));
        int replies = 0;
        long burst = between(0, faults);
        boolean deadlines = !gentle && oneIn(3);
        boolean cancels = oneIn(3);
        int onlyTag = oneIn(4) ? (int) between(0, TAGS - 1) : -1;
        for (int i = 0; i < sends; i++) {
            int from = random.nextInt(honest);
            int to = random.nextInt(honest);
            long at = bursts && oneIn(2) ? burst + between(0, 2000) : between(0, faults);
            int tag = onlyTag >= 0 ? onlyTag : random.nextInt(TAGS);
            if (Program.of(tag) == Program.REPLY && ++replies > 6) {
                tag = 0;
            }
            Line send = Line.of(at, "send", from, to)
                    .with("id", ++id)
                    .with("tag", tag)
                    .with("bytes", bytes(largest));
            if (deadlines && oneIn(5)) {
                send = send.with("within", oneIn(4) ? -1 : any(1000L, 50_000L, 1_000_000L));
            }
            if (cancels && oneIn(3)) {
                send = send.with("cancel", any(0L, 300L, 5000L, 100_000L));
            }
            lines.add(oneIn(8) ? send.with("written", 1) : send);
        }
        // a member that does not confirm holds a broadcast for ever
        for (int i = 0; i < casts && honest == nodes; i++) {
            lines.add(Line.of(between(0, faults), "cast", random.nextInt(honest))
                    .with("id", ++id)
                    .with("tag", random.nextInt(4))
                    .with("bytes", bytes(largest)));
        }
        if (!gentle && !tiny && honest == nodes && oneIn(10)) {
            storm();
        }
        if (oneIn(3)) {
            lines.add(Line.of(between(0, faults), "claim", random.nextInt(honest)));
            lines.add(Line.of(between(0, faults), "unclaim", random.nextInt(honest)));
        }
    }

    /// More broadcasts than relays may hold, while the last of a chain stands still.
    private void storm() {
        config.put("radix", 1L);
        config.put("window", 8192L);
        config.put("coalesce", 0L);
        config.put("queueMessages", 4096L);
        config.put("queueBytes", 4_194_304L);
        lines.removeIf(line -> line.value("bytes") > STORM_BYTES);
        lines.add(Line.of(1000, "pause", honest - 1).with("for", config.get("peerTimeout") / 2));
        for (int i = 0; i < STORM; i++) {
            lines.add(Line.of(between(2000, 50_000), "cast", 0)
                    .with("id", ++id)
                    .with("tag", 0)
                    .with("bytes", STORM_BYTES));
        }
    }

    private long bytes(long largest) {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> between(Program.LEAST, 100);
            case 4 -> config.get("fragment") + between(-1, 1);
            default -> between(Program.LEAST, Math.max(largest, 100));
        };
    }

    /// A time that matters to the protocol, in microseconds.
    private long duration() {
        return switch (random.nextInt(6)) {
            case 0 -> between(1000, 50_000);
            case 1 -> between(50_000, 500_000);
            case 2, 3 -> config.get("peerTimeout") * between(50, 150) / 100;
            case 4 -> config.get("heartbeat") * between(200, 400) / 100;
            default -> between(500_000, 6_000_000);
        };
    }

    private int host() {
        return random.nextInt(honest);
    }

    private int other(int host) {
        return (host + 1 + random.nextInt(nodes - 1)) % nodes;
    }

    private Line line(Fault fault) {
        int host = host();
        int other = other(host);
        return switch (fault) {
            case CUT ->
                Line.of(0, "cut", host, other)
                        .with("bytes", oneIn(2) ? between(0, 300) : between(0, 100_000))
                        .with("how", any(0L, 0L, 1L, 2L));
            case FLAP ->
                Line.of(0, "flap", host, other)
                        .with("bytes", oneIn(3) ? between(200, 5000) : between(100, 420))
                        .with("how", any(0L, 1L))
                        .with("for", oneIn(2) ? duration() : between(2_000_000, 6_000_000));
            case PARTITION ->
                Line.of(0, "partition", host, other).with("for", duration()).with("both", any(0L, 1L, 1L));
            case PAUSE -> Line.of(0, "pause", host).with("for", duration());
            case JUMP -> Line.of(0, "jump", host).with("by", duration());
            case KILL ->
                Line.of(0, "kill", host).with("machine", any(0L, 0L, 1L)).with("restart", oneIn(5) ? 0 : duration());
            case CLOSE ->
                Line.of(0, "close", host).with("drain", any(0L, 1_000_000L)).with("restart", oneIn(5) ? 0 : duration());
            case SQUEEZE ->
                Line.of(0, "squeeze", host, other)
                        .with("to", any(0L, 1L, 64L, 1000L))
                        .with("for", duration());
            case STARVE -> Line.of(0, "starve", host).with("for", duration());
            case SLOW ->
                Line.of(0, "slow", host)
                        .with("by", any(1000L, 20_000L, 200_000L))
                        .with("for", duration());
            case LOST -> Line.of(0, "lost", host, other);
            case INTRUDE -> Line.of(0, "intrude", nodes - 1, host).with("how", between(0, 25));
        };
    }
}
