// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.node.Intruders;
import io.bulla.checks.sim.node.SimNode;
import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.function.LongFunction;

/// A peer says one thing as often as it may, in two halves. What the node keeps after the second is compared with
/// what it keeps after the first: it must not grow with the frames.
final class FloodOfFrames {

    private static final int FRAMES = 2000;
    /// More than a node remembers.
    private static final int BROADCASTS = 4500;
    /// Fewer than a node confirms without being heard.
    private static final int AT_ONCE = 150;
    private static final int LEAST = 500;
    private static final long SETTLES = 300 * World.MILLI;
    private static final long LOOKS = 50 * World.MILLI;
    private static final long CONFIRMS = World.MILLI;
    private static final int TOTAL = 3000;
    private static final int SMALL = 0;
    private static final int BULK = 1;
    private static final int CONTROL = 2;

    private final HostileMember member;
    private final HostileLine line;
    private final Simulation simulation;
    private HostileMember.Flood kind;
    private boolean reads = true;
    private boolean begun;
    private boolean over;
    private int connection;
    private long number = 1;
    private int sent;
    private int left;
    private long before = -1;

    FloodOfFrames(HostileMember member, HostileLine line) {
        this.member = member;
        this.line = line;
        this.simulation = member.simulation;
    }

    void begin(HostileMember.Flood which, boolean alsoReads) {
        if (kind == null) {
            kind = which;
            reads = alsoReads;
            simulation.sights.see("hostile flood of " + which + (alsoReads ? "" : ", unread"));
            connected();
        }
    }

    /// A connection has begun.
    void connected() {
        connection++;
        if (kind != null && !begun && line.isOpen()) {
            begun = true;
            connection = 0;
            half();
        }
    }

    /// Whether it reads nothing for now.
    boolean isDeaf() {
        return begun && !over && !reads;
    }

    boolean withholdsConfirmations() {
        return kind == HostileMember.Flood.SAME_BROADCAST;
    }

    private boolean isOn() {
        return !over && line.isOpen() && connection == 0 && !member.isGone();
    }

    private void half() {
        HostileMember.Passed passed = passed();
        if (!isOn()) {
            over = true;
        } else if (kind == HostileMember.Flood.WANTS_IT_AGAIN && passed == null) {
            simulation.world.after(LOOKS, this::half);
        } else {
            sent = frames(passed);
            simulation.world.after(SETTLES, this::look);
        }
    }

    /// A broadcast that the node has handed on to the member.
    private HostileMember.Passed passed() {
        for (int origin = 0; origin < member.rank; origin++) {
            HostileMember.Passed last = member.last(origin);
            if (last != null && member.tree.parent(member.rank, origin, simulation.size) == line.victim()) {
                return last;
            }
        }
        return null;
    }

    private int frames(HostileMember.Passed passed) {
        ByteBuf words = Unpooled.buffer();
        int most = kind == HostileMember.Flood.ODD_BROADCASTS ? BROADCASTS : FRAMES;
        for (int i = 0; i < most; i++) {
            switch (kind) {
                case WANTS_IT_AGAIN ->
                    Frame.write(
                            words,
                            Frame.Kind.CONFIRM,
                            0,
                            -1,
                            passed.origin(),
                            line.sequence(CONTROL),
                            0,
                            0,
                            passed.session(),
                            passed.number(),
                            0,
                            CONTROL);
                case SAME_BROADCAST -> line.send(SMALL, 0, broadcast(1));
                case ODD_BROADCASTS -> left++;
                case RETRY -> control(words, Frame.Kind.RETRY, 0, 0);
                case RESUME -> control(words, Frame.Kind.RESUME, 0, 0);
                case REQUEST -> rendezvous(words, Frame.Kind.REQUEST, line.next(BULK), TOTAL);
                case CLEAR -> rendezvous(words, Frame.Kind.CLEAR, 1 << 20, 0);
                case NOTICE -> control(words, Frame.Kind.NOTICE, i % Frame.TOPICS, Integer.BYTES);
                case SKIP ->
                    Frame.write(words, Frame.Kind.SKIP, 0, 0, member.rank, line.sequence(SMALL), 0, 0, 0, 0, 0, SMALL);
                case ACK -> line.acknowledgement(words);
                case REJECT -> {
                    Frame.rejection(member.rank, SMALL, 1 << 20, Integer.BYTES).writeTo(words);
                    words.writeInt(i);
                }
            }
        }
        line.say(words);
        sendLeft();
        return most;
    }

    /// As many as the node will have confirmed soon.
    private void sendLeft() {
        if (left == 0 || !isOn()) {
            return;
        }
        for (long open = number / 2 - line.confirmed(); open < AT_ONCE && left > 0; open++) {
            left--;
            line.send(SMALL, 0, broadcast(number));
            number += 2;
        }
        simulation.world.after(CONFIRMS, this::sendLeft);
    }

    private LongFunction<ByteBuf> broadcast(long of) {
        return sequence -> {
            ByteBuf words = Unpooled.buffer(Frame.BYTES);
            Frame.write(
                    words,
                    Frame.Kind.BROADCAST,
                    0,
                    Intruders.FORGED,
                    member.rank,
                    sequence,
                    0,
                    0,
                    member.life,
                    of,
                    0,
                    SMALL);
            return words;
        };
    }

    private void control(ByteBuf words, Frame.Kind which, int tag, int length) {
        Frame.control(which, tag, member.rank, length).writeTo(words);
        words.writeZero(length);
    }

    private void rendezvous(ByteBuf words, Frame.Kind which, long sequence, long total) {
        Frame.write(words, which, 0, 0, member.rank, sequence, 0, total, 0, 0, 0, BULK);
    }

    private void look() {
        if (isOn() && (left > 0 || line.waiting(SMALL) > 0)) {
            simulation.world.after(LOOKS, this::look);
            return;
        }
        SimNode node = simulation.running(line.victim());
        if (!isOn() || node == null) {
            over = true;
            return;
        }
        long weight = Weight.of(node.node()) + node.nettyBytes() / Frame.BYTES + node.memory.open();
        simulation.tell("flood", kind, "weight", weight);
        if (before < 0) {
            before = weight;
            half();
            return;
        }
        over = true;
        simulation.sights.see("hostile flood is weighed: " + kind);
        if (sent >= LEAST && weight - before > sent / 2) {
            simulation.ledger.violation(
                    "keeps something for each frame of a member",
                    "node=" + node + " kind=" + kind + " frames=" + sent + " grew=" + (weight - before));
        }
    }
}
