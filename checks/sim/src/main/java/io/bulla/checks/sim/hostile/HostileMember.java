// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.node.SimSecurity;
import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.runtime.oob.topology.Radix;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/// A member of the job that speaks the protocol well enough to be believed, to all others at once, and breaks it in
/// the ways that the schedule says: `hostile RANK how=N`. It leaves when the faults end.
public final class HostileMember {

    /// What it does. Those of relays are done to each broadcast that passes through it.
    public enum Way {
        /// Hands broadcasts on with another byte, behind which is the signature as it was.
        TAMPERS,
        /// The same, with a byte of the last fragment.
        TAMPERS_AT_THE_END,
        /// Hands them on without signature and without the flag.
        STRIPS,
        /// Hands them on under another tag.
        RETAGS,
        /// Hands on an earlier one of the origin's under the number of this one.
        REPLAYS,
        /// Makes one up in the name of an origin, under its next number, and signs it itself.
        FORGES,
        /// The length of the signature is none.
        CUTS_SIGNATURE,
        /// Finishes a copy of another length.
        ANOTHER_LENGTH,
        /// Begins a copy of another length, and is gone for the origin.
        BEGINS_ANOTHER_LENGTH,
        /// Keeps to the rules: signs its own broadcasts.
        SIGNS_RIGHTLY,
        /// Sends a REQUEST, and the bytes all the same.
        ASKS_AND_SENDS,
        FINISHES_WITHOUT_LANDING,
        /// Finishes what was granted, and has written nothing.
        FINISHES_UNWRITTEN,
        /// Answers a REQUEST with a key that is none.
        GRANTS_VOID_KEYS,
        OFFERS_NO_ADDRESS,
        /// Each frame comes twice.
        REPEATS_FRAMES,
        /// A number that is not the next.
        SKIPS_NUMBERS,
        /// Expects what was not sent.
        EXPECTS_THE_FUTURE,
        /// Says that it goes on from a checkpoint, which is another.
        ANOTHER_CUT,
        INVITES_TWICE,
        LENDS_NOTHING,
        PROVES_NOTHING,
        /// As many frames of one kind as it may send.
        FLOODS;

        public boolean relays() {
            return compareTo(BEGINS_ANOTHER_LENGTH) <= 0 && this != FORGES;
        }

        public boolean isOfSignatures() {
            return compareTo(SIGNS_RIGHTLY) <= 0;
        }

        public boolean isOfBulk() {
            return compareTo(ASKS_AND_SENDS) >= 0 && compareTo(OFFERS_NO_ADDRESS) <= 0;
        }

        public boolean isOfLending() {
            return compareTo(INVITES_TWICE) >= 0 && compareTo(PROVES_NOTHING) <= 0;
        }
    }

    /// Of which a peer sends how many it likes.
    public enum Flood {
        WANTS_IT_AGAIN,
        SAME_BROADCAST,
        ODD_BROADCASTS,
        RETRY,
        RESUME,
        REQUEST,
        CLEAR,
        NOTICE,
        SKIP,
        ACK,
        REJECT
    }

    /// A broadcast that has passed.
    ///
    /// @param mark with the flag of a signature
    record Passed(int origin, long session, long number, int tag, int mark, byte[] bytes) {}

    final Simulation simulation;
    final int rank;
    final long life;
    final SimSecurity security;
    final SplittableRandom random;
    final Radix tree;
    private final Set<Way> ways = EnumSet.noneOf(Way.class);
    private final List<HostileLine> lines = new ArrayList<>();
    // of each origin the last one
    private final Map<Integer, Passed> before = new LinkedHashMap<>();
    private boolean gone;

    HostileMember(Simulation simulation, int rank) {
        this.simulation = simulation;
        this.rank = rank;
        this.random = simulation.world.stream('o', rank, 0);
        this.life = random.nextLong() | 1;
        this.security = SimSecurity.security(simulation.schedule, rank);
        this.tree = new Radix(simulation.schedule.number("radix"));
    }

    /// `hostile RANK how=... kind=...`
    void begin(Line line) {
        Way way = Way.values()[(int) (line.value("how") % Way.values().length)];
        simulation.sights.see("hostile " + way);
        boolean first = ways.isEmpty();
        ways.add(way);
        if (first) {
            for (int victim = 0; victim < rank; victim++) {
                HostileLine to = new HostileLine(this, victim);
                lines.add(to);
                to.connect();
            }
        }
        if (way == Way.FLOODS) {
            Flood kind = Flood.values()[(int) (line.value("kind") % Flood.values().length)];
            // a leaf of its own tree: what it broadcasts is handed on to none
            int victim = kind == Flood.ODD_BROADCASTS ? rank - 1 : (int) (line.value("victim") % rank);
            lines.get(victim).flood(kind, line.value("reads") != 0);
        } else if (!way.relays()) {
            lines.forEach(to -> to.act(way));
        }
    }

    Set<Way> ways() {
        return ways;
    }

    boolean does(Way way) {
        return ways.contains(way);
    }

    boolean isGone() {
        return gone;
    }

    /// It goes, as a process does that ends.
    void leave() {
        gone = true;
        lines.forEach(HostileLine::leave);
    }

    /// Whether a node gets broadcasts of an origin through this one.
    boolean isAbove(int victim, int origin) {
        int at = victim;
        while (at != origin && at != rank) {
            at = tree.parent(at, origin, simulation.size);
        }
        return at == rank && victim != rank;
    }

    /// A broadcast has come whole: those below get it, as it is or not.
    void passes(Passed broadcast) {
        List<Way> relays = ways.stream().filter(Way::relays).toList();
        Passed earlier = before.put(broadcast.origin, broadcast);
        if (relays.isEmpty()) {
            return;
        }
        Way way = relays.get(random.nextInt(relays.size()));
        simulation.sights.see("hostile relay " + way);
        Passed changed = Forgery.of(this, way, broadcast, earlier);
        if (changed == null) {
            return;
        }
        for (HostileLine line : lines) {
            if (isAbove(line.victim(), broadcast.origin)) {
                simulation.sights.see("hostile copy handed on: " + way);
                line.broadcast(changed, way == Way.BEGINS_ANOTHER_LENGTH);
            }
        }
        if (way == Way.BEGINS_ANOTHER_LENGTH && broadcast.origin < lines.size()) {
            lines.get(broadcast.origin).leave();
        }
    }

    Passed last(int origin) {
        return before.get(origin);
    }
}
