// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/// What a [HostileMember] says to one node, over one connection after the other: lanes with numbers and credit, as
/// far as it keeps to them.
final class HostileLine {

    static final int PIECE = Frame.MIN_FRAGMENT;

    private static final int CONNECTIONS = 4;
    private static final long AGAIN = 400 * World.MILLI;
    static final int CONTROL = 2;
    static final int BULK = 1;

    final HostileMember member;
    final Simulation simulation;
    final int victim;
    final int rank;
    final List<HostileMember.Way> acts = new ArrayList<>();
    final FloodOfFrames flood;
    int connections;
    private boolean left;
    private HostileConnection now;

    HostileLine(HostileMember member, int victim) {
        this.member = member;
        this.simulation = member.simulation;
        this.victim = victim;
        this.rank = member.rank;
        this.flood = new FloodOfFrames(member, this);
    }

    int victim() {
        return victim;
    }

    void connect() {
        if (left || member.isGone() || connections++ >= CONNECTIONS) {
            return;
        }
        HostileConnection fresh = new HostileConnection(this);
        now = fresh;
        simulation.net.connect(fresh, rank, victim, fresh::greet, why -> ended(fresh));
    }

    void ended(HostileConnection over) {
        over.over = true;
        if (now == over) {
            now = null;
            simulation.world.after(AGAIN, this::connect);
        }
    }

    void leave() {
        left = true;
        if (now != null) {
            now.over = true;
            if (now.out != null) {
                now.out.abort();
            }
        }
    }

    /// Once it is connected, and each time again.
    void act(HostileMember.Way way) {
        acts.add(way);
        if (now != null && now.greeted) {
            now.act(way);
        }
    }

    void flood(HostileMember.Flood kind, boolean reads) {
        flood.begin(kind, reads);
    }

    /// @return false if it cannot be said
    boolean say(ByteBuf frames) {
        if (now == null || !now.greeted || now.over) {
            frames.release();
            return false;
        }
        now.write(frames);
        return true;
    }

    boolean isOpen() {
        return now != null && now.greeted && !now.over;
    }

    long sequence(int lane) {
        return now.next[lane]++;
    }

    /// Of the message that is next.
    long next(int lane) {
        return now.next[lane];
    }

    /// Confirmations that have come.
    long confirmed() {
        return now.expected[CONTROL];
    }

    void acknowledgement(ByteBuf words) {
        now.acknowledgement(words);
    }

    /// Goes when there is credit for it.
    ///
    /// @param frames gets its number
    void send(int lane, long bytes, LongFunction<ByteBuf> frames) {
        if (now != null && now.greeted) {
            now.queues.get(lane).add(new HostileConnection.Message(lane, bytes, frames));
            now.pump();
        }
    }

    int waiting(int lane) {
        return now == null ? 0 : now.queues.get(lane).size();
    }

    /// @param begins only the first fragment
    void broadcast(HostileMember.Passed broadcast, boolean begins) {
        byte[] bytes = broadcast.bytes();
        if (bytes.length > simulation.limit(victim)) {
            return;
        }
        int lane = bytes.length > PIECE ? BULK : 0;
        send(lane, bytes.length, sequence -> {
            ByteBuf words = Unpooled.buffer();
            int at = 0;
            do {
                int length = Math.min(PIECE, bytes.length - at);
                Frame.write(
                        words,
                        Frame.Kind.BROADCAST,
                        broadcast.mark(),
                        broadcast.tag(),
                        broadcast.origin(),
                        sequence,
                        at,
                        bytes.length,
                        broadcast.session(),
                        broadcast.number(),
                        length,
                        lane);
                words.writeBytes(bytes, at, length);
                at += length;
            } while (at < bytes.length && !begins);
            return words;
        });
    }
}
