// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.netty.buffer.ByteBuf;
import java.util.SplittableRandom;

/// One direction of a connection: bytes in order, as many on the way as the two sockets hold.
public final class Pipe {

    /// What happens to a connection at a byte.
    public enum Cut {
        RESET,
        FIN,
        /// No end hears of the other any more, nor that it is so.
        HALF_OPEN
    }

    final int from;
    final int to;
    public Pipe reverse;
    private final Net net;
    private final Net.Endpoint source;
    private final Net.Endpoint sink;
    private final FrameWatch watch;
    private int room;
    private int used;
    private long lastArrival;
    private long cutAfter = -1;
    private Cut cut;
    private boolean wantsRoom;
    // nothing that is written now arrives
    private boolean blackHole;
    private boolean finished;
    private boolean sourceGone;

    Pipe(Net net, int from, int to, Net.Endpoint source, Net.Endpoint sink) {
        this.net = net;
        this.from = from;
        this.to = to;
        this.source = source;
        this.sink = sink;
        this.room = net.socketBytes;
        this.watch = new FrameWatch(net.sights, net.listeners.of(from, to));
    }

    boolean isOver() {
        return finished && reverse.finished;
    }

    /// Whether the source has not closed it, and no cut has.
    boolean isOpen() {
        return !finished;
    }

    long lastArrival() {
        return lastArrival;
    }

    void after(long time) {
        lastArrival = Math.max(lastArrival, time);
    }

    /// From now on it holds so much.
    public void squeeze(int bytes) {
        room = bytes;
    }

    /// No cut is due any more.
    void mend(int bytes) {
        cutAfter = -1;
        widen(bytes);
    }

    public void widen(int bytes) {
        room = Math.max(room, bytes);
        freed(0);
    }

    /// After so many more bytes.
    public void cut(long bytes, Cut how) {
        cutAfter = bytes;
        cut = how;
        cutIfDue();
    }

    /// Bytes that it would take now.
    int free() {
        return Math.max(0, Math.min(room - used, net.pieceBytes));
    }

    /// Takes as much as there is room for.
    ///
    /// @return bytes taken
    int write(ByteBuf bytes) {
        int length = Math.min(Math.min(bytes.readableBytes(), room - used), net.pieceBytes);
        if (length <= 0) {
            wantsRoom = true;
            net.sights.see("socket full");
            return 0;
        }
        if (cutAfter >= 0) {
            length = (int) Math.min(length, cutAfter);
        }
        if (length > 0) {
            send(net.wire.taken(bytes, length));
        }
        cutIfDue();
        return length;
    }

    /// Beyond what there is room for, too.
    ///
    /// @param piece this pipe's from now on
    public void send(ByteBuf piece) {
        int length = piece.readableBytes();
        watch.bytes(piece);
        used += length;
        if (cutAfter >= 0) {
            cutAfter -= length;
        }
        if (blackHole || finished) {
            piece.release();
            return;
        }
        arrive(length, () -> {
            if (sinkIsGone()) {
                piece.release();
                reverse.abort();
            } else {
                sink.bytes(piece);
            }
        });
    }

    private boolean sinkIsGone() {
        return reverse.sourceGone || reverse.finished;
    }

    private void cutIfDue() {
        if (cutAfter == 0) {
            cutAfter = -1;
            net.sights.see("cut " + cut);
            switch (cut) {
                case RESET -> {
                    abort();
                    reverse.abort();
                }
                case FIN -> {
                    finish();
                    reverse.finish();
                }
                case HALF_OPEN -> {
                    blackHole = true;
                    reverse.blackHole = true;
                }
            }
        }
    }

    private void arrive(int bytes, Runnable what) {
        lastArrival = Math.max(lastArrival, net.wire.arrival(from, to, bytes));
        net.arriveAt(lastArrival, from, to, () -> {
            if (!blackHole) {
                what.run();
            }
        });
    }

    /// The sink has read bytes, so there is room for others; the source hears of it.
    public void consumed(int bytes) {
        if (!blackHole && !finished) {
            net.travel(to, from, () -> freed(bytes));
        }
    }

    private void freed(int bytes) {
        used -= bytes;
        if (wantsRoom && used < room && !finished && !blackHole) {
            wantsRoom = false;
            source.writable();
        }
    }

    /// The source closes: what is on the way still arrives.
    public void finish() {
        if (!finished) {
            finished = true;
            arrive(0, sink::fin);
        }
    }

    /// The source closes without having read all, or has no process any more.
    public void abort() {
        if (!finished) {
            finished = true;
            arrive(0, sink::reset);
        }
    }

    /// The source's process has ended.
    ///
    /// @param machine whether nothing is left to say so
    void orphan(boolean machine) {
        sourceGone = true;
        if (!machine) {
            SplittableRandom random = net.random(from, to);
            if (random.nextBoolean()) {
                finish();
            } else {
                abort();
            }
        }
    }
}
