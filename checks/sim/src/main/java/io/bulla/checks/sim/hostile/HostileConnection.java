// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.Pipe;
import io.bulla.checks.sim.node.Intruders;
import io.bulla.checks.sim.node.SimBulk;
import io.bulla.checks.sim.node.Simulation;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.LongFunction;

/// One connection of a [HostileMember] to a node.
final class HostileConnection implements Net.Endpoint {

    private static final Frame.Kind[] KINDS = Frame.Kind.values();
    private static final long WINDOW = 1 << 20;
    private static final int LANES = 3;
    private static final int FLAGS_AT = 61;
    private static final int LOCAL_MESSAGE = 6000;
    private static final int PIECE = HostileLine.PIECE;
    private static final int CONTROL = HostileLine.CONTROL;
    private static final int BULK = HostileLine.BULK;

    /// Something that takes credit.
    record Message(int lane, long bytes, LongFunction<ByteBuf> frames) {}

    private final HostileLine line;
    private final HostileMember member;
    private final Simulation simulation;
    private final int rank;
    private final long session;
    private final HeardBroadcasts broadcasts;
    private final ByteBuf heard = Unpooled.buffer();
    final long[] expected = new long[LANES];
    private final long[] arrived = new long[LANES];
    final long[] next = new long[LANES];
    private final long[] begun = new long[LANES];
    private final long[] limit = {0, 0, Long.MAX_VALUE};
    final List<Queue<Message>> queues = List.of(new ArrayDeque<>(), new ArrayDeque<>(), new ArrayDeque<>());
    Pipe out;
    private long window;
    boolean greeted;
    boolean over;
    private long unread;

    HostileConnection(HostileLine line) {
        this.line = line;
        this.member = line.member;
        this.simulation = line.simulation;
        this.rank = line.rank;
        this.session = member.random.nextLong() | 1;
        this.broadcasts = new HeardBroadcasts(member);
    }

    void greet() {
        byte[] part = member.does(HostileMember.Way.ANOTHER_CUT)
                ? new RestoredFrom(9, 9, 0, line.connections % 2 == 0).part()
                : new byte[0];
        byte[] offer = member.does(HostileMember.Way.OFFERS_NO_ADDRESS)
                ? BulkOffer.part(new byte[5])
                : SimBulk.above(simulation.schedule) > 0
                        ? BulkOffer.part(simulation.bulk.hostileAddress())
                        : new byte[0];
        ByteBuf words = Unpooled.buffer();
        Frame.control(Frame.Kind.HELLO, 0, rank, Hello.BYTES + part.length + offer.length)
                .writeTo(words);
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
                        member.life,
                        WINDOW,
                        simulation.schedule.config("limit"),
                        Hello.SIGNED_BROADCASTS | Hello.CHECKPOINTS | Hello.LOCAL)
                .writeTo(words);
        write(words.writeBytes(part).writeBytes(offer));
    }

    void write(ByteBuf words) {
        if (over || out == null) {
            words.release();
        } else if (member.does(HostileMember.Way.REPEATS_FRAMES) && greeted) {
            ByteBuf again = words.copy();
            out.send(words);
            out.send(again);
        } else {
            out.send(words);
        }
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
    public void fin() {
        out.finish();
        line.ended(this);
    }

    @Override
    public void reset() {
        out.abort();
        line.ended(this);
    }

    @Override
    public void writable() {
        // it writes whether or not there is room
    }

    @Override
    public void bytes(ByteBuf bytes) {
        read(bytes);
        bytes.release();
    }

    private void read(ByteBuf bytes) {
        int length = bytes.readableBytes();
        if (line.flood.isDeaf()) {
            unread += length;
        } else {
            out.reverse.consumed((int) (length + unread));
            unread = 0;
        }
        heard.discardReadBytes().writeBytes(bytes);
        boolean some = false;
        while (!over && heard.readableBytes() >= Frame.BYTES) {
            int at = heard.readerIndex();
            int body = Math.max(0, heard.getInt(at + 56));
            if (heard.getByte(at + FLAGS_AT) != 0) {
                body = Frame.PLACE;
            }
            if (heard.readableBytes() < Frame.BYTES + body) {
                break;
            }
            ByteBuf frame = heard.readSlice(Frame.BYTES + body);
            some |= frame(frame);
        }
        if (some) {
            acknowledge();
        }
    }

    /// @return whether it is to be acknowledged
    private boolean frame(ByteBuf frame) {
        Frame.Kind kind = KINDS[frame.getByte(5)];
        switch (kind) {
            case HELLO -> hello(frame);
            case BATCH -> {
                for (int at = Frame.BYTES; at < frame.writerIndex(); ) {
                    int body = frame.getInt(at + 56);
                    frame(frame.slice(at, Frame.BYTES + body));
                    at += Frame.BYTES + body;
                }
                return true;
            }
            case ACK -> {
                limit[0] = Math.max(limit[0], frame.getLong(32));
                limit[BULK] = Math.max(limit[BULK], frame.getLong(40));
                pump();
            }
            case DIRECT, BROADCAST, CONFIRM, SKIP -> {
                sequenced(kind, frame);
                return true;
            }
            case RETRY -> write(control(Frame.Kind.RESUME, 0));
            case REQUEST -> answer(frame);
            default -> {
                // what it does not care for
            }
        }
        return false;
    }

    private void hello(ByteBuf frame) {
        window = frame.getLong(Frame.BYTES + 64);
        limit[0] = window;
        limit[BULK] = window;
        greeted = true;
        acknowledge();
        beat();
        line.acts.forEach(this::act);
        line.flood.connected();
    }

    private void sequenced(Frame.Kind kind, ByteBuf frame) {
        int lane = frame.getByte(60);
        long offset = frame.getLong(24);
        long total = frame.getLong(32);
        int length = frame.getInt(56);
        if (frame.getLong(16) != expected[lane]) {
            return;
        }
        if (kind == Frame.Kind.BROADCAST && frame.getByte(FLAGS_AT) == 0) {
            broadcasts.heard(frame);
        }
        if (kind == Frame.Kind.SKIP || offset + length == total) {
            expected[lane]++;
            arrived[lane] += Credit.charge(total);
        }
    }

    private void answer(ByteBuf request) {
        boolean grants = member.does(HostileMember.Way.GRANTS_VOID_KEYS);
        simulation.sights.see(grants ? "hostile grant of a void key" : "hostile refusal of a landing");
        ByteBuf words = Unpooled.buffer();
        Frame.write(words, Frame.Kind.CLEAR, 0, grants ? 1 : 0, rank, request.getLong(16), 0, 0, 7, 7, 0, BULK);
        write(words);
    }

    private void acknowledge() {
        ByteBuf words = Unpooled.buffer(Frame.BYTES);
        acknowledgement(words);
        write(words);
    }

    void acknowledgement(ByteBuf words) {
        long[] next = expected.clone();
        if (line.flood.withholdsConfirmations()) {
            next[CONTROL] = 0;
        }
        Frame.acknowledgement(rank, next, new long[] {arrived[0] + WINDOW, arrived[BULK] + WINDOW}, 0)
                .writeTo(words);
    }

    private void beat() {
        if (!over && !simulation.isOver()) {
            acknowledge();
            simulation.world.after(simulation.schedule.nanos("heartbeat"), this::beat);
        }
    }

    void pump() {
        for (int lane = 0; lane < LANES; lane++) {
            for (Message message = queues.get(lane).peek();
                    message != null && mayBegin(message);
                    message = queues.get(lane).peek()) {
                queues.get(lane).remove();
                begun[lane] += lane == CONTROL ? 0 : Credit.charge(message.bytes);
                write(message.frames.apply(next[lane]++));
            }
        }
    }

    private boolean mayBegin(Message message) {
        int lane = message.lane;
        return begun[lane] + Credit.charge(message.bytes) <= limit[lane] || limit[lane] - window == begun[lane];
    }

    private ByteBuf control(Frame.Kind kind, int tag) {
        ByteBuf words = Unpooled.buffer();
        Frame.control(kind, tag, rank, 0).writeTo(words);
        return words;
    }

    void act(HostileMember.Way way) {
        switch (way) {
            case FORGES -> forge();
            case SIGNS_RIGHTLY ->
                line.broadcast(Forgery.signed(member, rank, member.life, 1 + line.connections), false);
            case ASKS_AND_SENDS -> {
                ask();
                direct(BULK, LOCAL_MESSAGE / 2, next[BULK]++);
            }
            case FINISHES_UNWRITTEN -> {
                ask();
                simulation.world.after(World.SECOND / 10, () -> finish(next[BULK]++, LOCAL_MESSAGE / 2));
            }
            case FINISHES_WITHOUT_LANDING -> finish(next[BULK]++, LOCAL_MESSAGE / 2);
            case REPEATS_FRAMES -> direct(0, PIECE / 2, next[0]++);
            case SKIPS_NUMBERS -> direct(0, PIECE / 2, next[0] + 3);
            case EXPECTS_THE_FUTURE -> {
                ByteBuf words = Unpooled.buffer();
                Frame.acknowledgement(rank, new long[] {1 << 20, 1 << 20, 1 << 20}, new long[] {WINDOW, WINDOW}, 0)
                        .writeTo(words);
                write(words);
            }
            case INVITES_TWICE -> {
                words(Frame.Kind.INVITE);
                words(Frame.Kind.INVITE);
            }
            case PROVES_NOTHING -> words(Frame.Kind.PROOF);
            case LENDS_NOTHING -> {
                ByteBuf words = Unpooled.buffer();
                Frame.write(
                        words,
                        Frame.Kind.DIRECT,
                        0,
                        Intruders.FORGED,
                        rank,
                        next[0]++,
                        0,
                        LOCAL_MESSAGE,
                        0,
                        0,
                        LOCAL_MESSAGE,
                        0);
                words.setByte(FLAGS_AT, 1);
                write(words.writeZero(Frame.PLACE));
            }
            default -> {
                // in its hello, or when it is asked
            }
        }
    }

    private void forge() {
        for (int origin = 0; origin < rank; origin++) {
            HostileMember.Passed last = member.last(origin);
            if (last != null && member.isAbove(line.victim, origin)) {
                simulation.sights.see("hostile forgery of a next number");
                line.broadcast(Forgery.next(member, last), false);
            }
        }
        if (!over) {
            // others have broadcast meanwhile
            simulation.world.after(World.SECOND / 2, this::forge);
        }
    }

    private void ask() {
        ByteBuf words = Unpooled.buffer();
        Frame.write(
                words, Frame.Kind.REQUEST, 0, Intruders.FORGED, rank, next[BULK], 0, LOCAL_MESSAGE / 2, 0, 0, 0, BULK);
        write(words);
    }

    private void finish(long sequence, long bytes) {
        ByteBuf words = Unpooled.buffer();
        Frame.write(words, Frame.Kind.FINISHED, 0, Intruders.FORGED, rank, sequence, bytes, bytes, 0, 0, 0, BULK);
        write(words);
    }

    private void direct(int lane, int bytes, long sequence) {
        ByteBuf words = Unpooled.buffer();
        int length = Math.min(PIECE, bytes);
        Frame.write(words, Frame.Kind.DIRECT, 0, Intruders.FORGED, rank, sequence, 0, bytes, 0, 0, length, lane);
        write(words.writeZero(length));
    }

    private void words(Frame.Kind kind) {
        ByteBuf words = Unpooled.buffer();
        Frame.control(kind, 0, rank, Long.BYTES).writeTo(words);
        write(words.writeLong(member.random.nextLong()));
    }
}
