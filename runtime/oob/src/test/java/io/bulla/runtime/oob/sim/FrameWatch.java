// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.sim;

import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/// Looks at what is written to a connection, to tell which kinds of frames a run has seen.
final class FrameWatch {

    private static final int FLAGS_AT = 61;
    private static final Frame.Kind[] KINDS = Frame.Kind.values();

    private static final int RESUMES = 64;
    private static final long RESUMES_NANOS = 300 * World.MILLI;

    private final Sights sights;
    private final long[] resumed = new long[RESUMES];
    private int resumes;
    private final ByteBuffer header = ByteBuffer.allocate(Frame.BYTES);
    private long body;

    private final int from;
    private final int to;

    FrameWatch(Sights sights, int from, int to) {
        this.from = from;
        this.to = to;
        this.sights = sights;
    }

    void bytes(ByteBuf bytes) {
        int end = bytes.writerIndex();
        for (int at = bytes.readerIndex(); at < end; ) {
            if (body > 0) {
                int skipped = (int) Math.min(body, end - at);
                body -= skipped;
                at += skipped;
                continue;
            }
            int length = Math.min(header.remaining(), end - at);
            bytes.getBytes(at, header.limit(header.position() + length));
            header.limit(header.capacity());
            at += length;
            if (!header.hasRemaining()) {
                frame();
                header.clear();
            }
        }
    }

    /// There is a pause before each, of 10 ms at least.
    private void resumed() {
        Simulation simulation = Simulation.current();
        if (simulation == null) {
            return;
        }
        long now = simulation.world.now();
        long before = resumed[resumes % RESUMES];
        resumed[resumes++ % RESUMES] = now;
        if (resumes > RESUMES && now - before < RESUMES_NANOS) {
            simulation.ledger.violation("begins again too often", "times=" + RESUMES + " nanos=" + (now - before));
        }
    }

    /// The node that writes, or `null` if it is none of the run's.
    private SimNode sender() {
        Simulation simulation = Simulation.current();
        return simulation == null || from == simulation.intruderRank() || from >= simulation.size
                ? null
                : simulation.running(from);
    }

    private static boolean isHostile(int rank) {
        Simulation simulation = Simulation.current();
        return simulation != null && simulation.hostile != null && rank == simulation.intruderRank();
    }

    private void frame() {
        int kind = header.get(5);
        boolean local = header.get(FLAGS_AT) != 0
                && (kind == Frame.Kind.DIRECT.ordinal() || kind == Frame.Kind.BROADCAST.ordinal());
        body = local ? Frame.PLACE : Math.max(0, header.getInt(56));
        if (kind < 0 || kind >= KINDS.length) {
            return;
        }
        boolean byHostile = isHostile(from);
        if (Simulation.current() != null) {
            Simulation.current().chatter.frame(KINDS[kind], byHostile || isHostile(to), byHostile);
        }
        if (byHostile) {
            // tells nothing of nodes
            return;
        }
        int tag = header.getInt(8);
        switch (KINDS[kind]) {
            case REFUSE -> sights.see("REFUSE " + Refusal.of(tag));
            case CONFIRM -> sights.see(tag < 0 ? "CONFIRM again" : body > 0 ? "CONFIRM with failed" : "CONFIRM");
            case ACK -> {
                sights.see((tag & 1) == 0 ? "ACK" : "ACK that waits for credit");
                if (sender() != null) {
                    sender().checkHeld(to, true, header.getLong(16), header.getLong(24), header.getLong(48));
                }
            }
            case HELLO -> {
                sights.see("HELLO");
                if (sender() != null && sender().isSilent()) {
                    Simulation.current().ledger.violation("answers while it is suspended", "node=" + sender());
                }
            }
            case DIRECT -> {
                sights.see(local ? "DIRECT as a place" : "DIRECT");
                if (sender() != null) {
                    long next = header.getLong(16) + 1;
                    sender().checkHeld(to, false, header.get(60) == 0 ? next : 0, header.get(60) == 1 ? next : 0, 0);
                }
            }
            case RESUME -> {
                sights.see("RESUME");
                resumed();
            }
            case BROADCAST -> {
                sights.see(local ? "BROADCAST as a place" : "BROADCAST");
                Simulation simulation = Simulation.current();
                if (simulation != null && header.getLong(24) == 0) {
                    simulation.overheard(new Intruder.Overheard(
                            header.getInt(12), header.getLong(40), header.getLong(48), header.getLong(32)));
                }
            }
            default -> sights.see(KINDS[kind].name() + (local ? " as a place" : ""));
        }
    }
}
