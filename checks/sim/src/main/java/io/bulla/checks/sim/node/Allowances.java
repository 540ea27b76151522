// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.node;

import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Program;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.World;
import java.util.Arrays;

/// What a schedule may take: the memory of a node, and the time until all has ended.
final class Allowances {

    /// Of a message, its answer and their acknowledgements.
    private static final long HEADERS = 512;

    private static final long BATCH = 32 << 10;

    private final Schedule schedule;
    private final int size;
    private final int hosts;
    private long slowNanos;

    /// @param size nodes
    /// @param hosts of these, and of those that are no members
    Allowances(Schedule schedule, int size, int hosts) {
        this.schedule = schedule;
        this.size = size;
        this.hosts = hosts;
    }

    private boolean hasIntruder() {
        return schedule.config("intruder") != 0;
    }

    /// What the documents promise: of each peer a window of either lane, a broadcast of each depth, and a message
    /// that is longer than the window; messages without a receiver; and the signature of each broadcast of its own
    /// that waits.
    long memory() {
        long longest = 2 * schedule.config("fragment") + Program.LEAST;
        long small = 0;
        for (Line line : schedule.lines()) {
            longest = Math.max(longest, line.has("id") ? line.value("bytes") : 0);
            boolean one = line.what().equals("send") || line.what().equals("block");
            small += one && line.value("bytes") < schedule.config("coalesce") ? 1 : 0;
        }
        longest = Math.max(longest, hasIntruder() ? Intruders.LONGEST : 0);
        long signature = SimSecurity.overhead(schedule);
        longest += signature;
        long signatures = signature
                * schedule.lines().stream()
                        .filter(line -> line.what().equals("cast"))
                        .count();
        long lane = Math.max(schedule.config("window"), longest) + depths() * longest;
        // a short message keeps the batch that it came in
        long batches = small * Math.min(BATCH, schedule.config("window"));
        return (size - 1) * 2L * lane + schedule.config("unclaimed") + batches + signatures;
    }

    /// Of the deepest tree.
    private long depths() {
        return schedule.number("radix") == 1 ? size - 1 : 3;
    }

    /// In which all has to end once nothing goes wrong any more: handlers take their time, each broadcast that of its
    /// way down the tree and back, and a small window that of a round trip for each time that it is full.
    long patience() {
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

    /// How much longer all may take, for what handlers do.
    void work(int tag) {
        switch (Program.of(tag)) {
            case SLOW -> slowNanos += 2 * schedule.nanos("slow");
            case REPLY -> slowNanos += schedule.nanos("reply");
            default -> {
                // no time
            }
        }
    }

    /// How much longer all may take for a broadcast. With credit for one at a time the next begins when all below
    /// have confirmed, and credit is back; each hop takes a round trip more for each time that its socket is full,
    /// and one for the question whether the next node has room for a long message.
    void relay(int tag, int bytes) {
        for (int i = 0; i < size; i++) {
            work(tag);
        }
        long fragments = 1 + bytes / schedule.config("fragment");
        long rounds = 1 + (bytes + fragments * HEADERS) / schedule.config("socket");
        long asked = schedule.config().getOrDefault("bulk", 0L) > 0 && bytes >= schedule.config("bulk") ? depths() : 0;
        long trips = (depths() + 1) * rounds + asked;
        slowNanos += 2 * trips * (schedule.nanos("delay") + schedule.nanos("jitter"));
    }
}
