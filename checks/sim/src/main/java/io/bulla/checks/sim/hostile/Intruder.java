// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.Pipe;
import io.bulla.checks.sim.node.Intruders;
import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.SplittableRandom;

/// A peer that does not keep to the protocol: one that never says who it is, or a member of the job. It stays
/// connected as long as it may, to the end of the run.
final class Intruder implements Net.Endpoint {

    private static final int SILENT = 70;
    private static final int REPEATS = 3000;
    private static final int PIECE = 1024;
    private static final int DEEP = 4096;
    private static final long WINDOW = 1 << 20;

    /// What it does.
    enum Way {
        SILENT,
        GARBAGE,
        ANNOUNCES_DIRECT,
        ANNOUNCES_BROADCAST,
        REPEATS_FRAGMENT_AND_SKIP,
        WITHOUT_CREDIT,
        FORGES_ORIGIN,
        ACKNOWLEDGES_WHAT_WAS_NOT_SENT,
        CONFIRMS_WHAT_WAS_NOT_ASKED,
        REPEATS_BROADCAST,
        WANTS_IT_AGAIN,
        FLOODS_RETRY,
        LIES_ABOUT_LENGTH
    }

    private final Simulation simulation;
    private final int host;
    private final int rank;
    private final long session;
    private final Way way;
    private final SplittableRandom random;
    private final ByteBuf heard = Unpooled.buffer();
    private int victim;
    private int confirmed;
    private boolean lied;
    private Pipe out;
    private boolean over;

    private Intruder(Simulation simulation, int host, int rank, long session, Way way) {
        this.simulation = simulation;
        this.host = host;
        this.rank = rank;
        this.session = session | 1;
        this.way = way;
        this.random = simulation.world.stream('i', rank, session);
    }

    /// `intrude RANK VICTIM how=...`
    static void begin(Simulation simulation, List<Intruder> begun, Line line) {
        Way way = Way.values()[(int) (line.value("how") % Way.values().length)];
        simulation.sights.see("intruder " + way);
        boolean member = way != Way.SILENT && way != Way.GARBAGE;
        int times = way == Way.SILENT ? SILENT : 1;
        for (int i = 0; i < times; i++) {
            Intruder intruder = new Intruder(
                    simulation, member ? line.who(0) : simulation.size, line.who(0), World.mix(line.micros(), i), way);
            begun.add(intruder);
            intruder.connect(line.who(1));
        }
    }

    /// It goes, as a process does that ends.
    void leave() {
        if (!over && out != null) {
            out.abort();
        }
        over = true;
    }

    /// Gives another length than the origin's to who is below it in the origin's tree, before anybody else does.
    void overhears(Intruders.Overheard broadcast) {
        long wrong = broadcast.total() + 2 * PIECE;
        if (way != Way.LIES_ABOUT_LENGTH
                || over
                || lied
                || out == null
                || broadcast.origin() == rank
                || wrong > simulation.limit(victim)
                || !isAbove(broadcast.origin())) {
            return;
        }
        lied = true;
        simulation.sights.see("lie about a length");
        simulation.world.after(1, () -> {
            ByteBuf words = Unpooled.buffer();
            frame(
                    words,
                    Frame.Kind.BROADCAST,
                    broadcast.origin(),
                    0,
                    wrong,
                    broadcast.session(),
                    broadcast.number(),
                    1);
            write(words);
        });
    }

    private boolean isAbove(int origin) {
        Radix tree = new Radix(simulation.schedule.number("radix"));
        int at = victim;
        while (at != origin && at != rank) {
            at = tree.parent(at, origin, simulation.size);
        }
        return at == rank;
    }

    private void connect(int to) {
        victim = to;
        simulation.net.connect(this, host, to, this::speak, why -> over = true);
    }

    @Override
    public Pipe out() {
        return out;
    }

    @Override
    public boolean isGone() {
        return over;
    }

    @Override
    public void connected(Pipe pipe) {
        out = pipe;
    }

    @Override
    public void bytes(ByteBuf bytes) {
        out.reverse.consumed(bytes.readableBytes());
        if (way == Way.WANTS_IT_AGAIN) {
            heard.discardReadBytes().writeBytes(bytes);
            listen();
        }
        bytes.release();
    }

    private void listen() {
        while (heard.readableBytes() >= Frame.BYTES) {
            int at = heard.readerIndex();
            int kind = heard.getByte(at + 5);
            int length = heard.getInt(at + 56);
            boolean batch = kind == Frame.Kind.BATCH.ordinal();
            if (!batch && heard.readableBytes() < Frame.BYTES + length) {
                return;
            }
            if (kind == Frame.Kind.BROADCAST.ordinal() && heard.getLong(at + 24) == 0 && confirmed == 0) {
                wantAgain(heard.getInt(at + 12), heard.getLong(at + 40), heard.getLong(at + 48));
            }
            heard.skipBytes(batch ? Frame.BYTES : Frame.BYTES + length);
        }
    }

    private void wantAgain(int origin, long ofSession, long number) {
        simulation.sights.see("broadcast wanted again by an intruder");
        ByteBuf words = Unpooled.buffer();
        for (int i = 0; i < REPEATS; i++) {
            Frame.write(words, Frame.Kind.CONFIRM, 0, -1, origin, confirmed++, 0, 0, ofSession, number, 0, 2);
        }
        write(words);
    }

    @Override
    public void fin() {
        over = true;
        out.finish();
    }

    @Override
    public void reset() {
        over = true;
        out.abort();
    }

    @Override
    public void writable() {}

    private void speak() {
        if (way == Way.SILENT) {
            return;
        }
        if (way == Way.GARBAGE) {
            byte[] garbage = new byte[300];
            random.nextBytes(garbage);
            out.send(Unpooled.wrappedBuffer(garbage));
            return;
        }
        ByteBuf words = Unpooled.buffer();
        Frame.control(Frame.Kind.HELLO, 0, rank, Hello.BYTES).writeTo(words);
        new Hello(
                        Frame.VERSION,
                        Frame.VERSION,
                        rank,
                        simulation.size,
                        1,
                        session,
                        0,
                        0,
                        0,
                        0,
                        session,
                        WINDOW,
                        simulation.schedule.config("limit"),
                        Hello.SIGNED_BROADCASTS)
                .writeTo(words);
        write(words);
        // once it was answered
        simulation.world.after(World.SECOND / 4, this::act);
    }

    private void act() {
        if (over) {
            return;
        }
        ByteBuf words = Unpooled.buffer();
        switch (way) {
            case ANNOUNCES_DIRECT -> frame(words, Frame.Kind.DIRECT, rank, 0, Intruders.LONGEST, 0, 0, 1);
            case ANNOUNCES_BROADCAST -> frame(words, Frame.Kind.BROADCAST, rank, 0, Intruders.LONGEST, session, 1, 1);
            case REPEATS_FRAGMENT_AND_SKIP -> {
                for (int i = 0; i < REPEATS; i++) {
                    frame(words, Frame.Kind.BROADCAST, rank, i, DEEP, session, i + 1, 1);
                    Frame.write(words, Frame.Kind.SKIP, 0, 0, rank, i, DEEP, DEEP, 0, 0, 0, 1);
                }
            }
            case WITHOUT_CREDIT -> {
                for (int i = 0; i < REPEATS; i++) {
                    frame(words, Frame.Kind.BROADCAST, rank, i, PIECE, session, i + 1, 0);
                }
            }
            case FORGES_ORIGIN -> frame(words, Frame.Kind.BROADCAST, 0, 0, PIECE, session, 1, 0);
            case ACKNOWLEDGES_WHAT_WAS_NOT_SENT ->
                Frame.acknowledgement(rank, new long[] {9, 9, 9}, new long[] {WINDOW, WINDOW}, 0)
                        .writeTo(words);
            case CONFIRMS_WHAT_WAS_NOT_ASKED ->
                Frame.write(words, Frame.Kind.CONFIRM, 0, 1000, rank, 0, 0, 0, session, 5, 0, 2);
            case REPEATS_BROADCAST -> {
                for (int i = 0; i < REPEATS; i++) {
                    Frame.write(words, Frame.Kind.BROADCAST, 0, Intruders.FORGED, rank, i, 0, 0, session, 1, 0, 0);
                }
            }
            case FLOODS_RETRY -> {
                for (int i = 0; i < REPEATS; i++) {
                    Frame.control(Frame.Kind.RETRY, 0, rank, 0).writeTo(words);
                }
            }
            case WANTS_IT_AGAIN, LIES_ABOUT_LENGTH -> {
                // when there is a broadcast
            }
            default -> throw new IllegalStateException("says nothing: " + way);
        }
        write(words);
        beat();
    }

    private void beat() {
        if (!over && !simulation.isOver()) {
            ByteBuf words = Unpooled.buffer(Frame.BYTES);
            Frame.acknowledgement(rank, new long[3], new long[] {WINDOW, WINDOW}, 0)
                    .writeTo(words);
            write(words);
            simulation.world.after(simulation.schedule.nanos("heartbeat"), this::beat);
        }
    }

    private void frame(
            ByteBuf words,
            Frame.Kind kind,
            int origin,
            long sequence,
            long total,
            long ofSession,
            long number,
            int lane) {
        int length = (int) Math.min(PIECE, total);
        Frame.write(words, kind, 0, Intruders.FORGED, origin, sequence, 0, total, ofSession, number, length, lane);
        words.writeZero(length);
    }

    private void write(ByteBuf words) {
        if (!over) {
            out.send(words);
        }
    }
}
