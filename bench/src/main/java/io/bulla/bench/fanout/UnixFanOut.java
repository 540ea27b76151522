// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.bulla.bench.programs.CMemory;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.NativeIoVecCursor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Fan-out over unix sockets: all sends are queued first, as a daemon does whose loop gets to them later, then
/// each is driven to its end.
///
/// `kernel` sends the same memory without any handle; `shares` should lie next to it. `malloc` copies for each
/// peer into memory that the C library finds as in a fresh C program; `pooled` into memory that is always there;
/// `repack` packs the numbers anew into such memory, by one bulk put.
final class UnixFanOut implements FanOut {

    private interface Step {
        void go() throws IOException;
    }

    private final Message message;
    private final int peers;
    private final Arena arena = Arena.ofShared();
    private final ArenaSource source = ArenaSource.create();
    private final SealedBuffer sealed;
    private final UnixPeers sockets;
    private final Arrivals arrivals;
    private final NativeIoVecCursor[] cursors;
    private final MemorySegment[] copies;
    private final ByteBuffer[] views;
    private final Step step;

    UnixFanOut(String design, Message message, int peers) throws IOException {
        this.message = message;
        this.peers = peers;
        this.sealed = message.seal(source);
        this.sockets = UnixPeers.connect(peers);
        this.arrivals = new Arrivals(message, peers);
        this.cursors = new NativeIoVecCursor[peers];
        this.copies = new MemorySegment[peers];
        this.views = new ByteBuffer[peers];
        for (int i = 0; i < peers; i++) {
            cursors[i] = sockets.cursorOf(sealed.iovec());
        }
        sockets.watch((bytes, peer) -> arrivals.took(peer, bytes));
        this.step = switch (design) {
            case "kernel" -> this::kernel;
            case "shares" -> this::shares;
            case "malloc" -> {
                CMemory.pinThresholds();
                yield this::malloc;
            }
            case "pooled" -> {
                slabs();
                yield this::pooled;
            }
            case "repack" -> {
                slabs();
                yield this::repack;
            }
            default -> throw new IllegalArgumentException("no such design: " + design);
        };
    }

    private void slabs() {
        for (int i = 0; i < peers; i++) {
            copies[i] = arena.allocate(message.size(), 8);
            views[i] = copies[i].asByteBuffer();
        }
    }

    @Override
    public void run(int times) throws IOException {
        for (int i = 0; i < times; i++) {
            step.go();
        }
    }

    private void kernel() throws IOException {
        for (int i = 0; i < peers; i++) {
            cursors[i].rewind();
            sockets.drive(i, cursors[i]);
        }
    }

    private void shares() throws IOException {
        SealedBuffer[] sends = sealed.shares(peers);
        for (int i = 0; i < peers; i++) {
            cursors[i].rewind();
        }
        for (int i = 0; i < peers; i++) {
            sockets.drive(i, cursors[i]);
            sends[i].close();
        }
    }

    private void malloc() throws IOException {
        for (int i = 0; i < peers; i++) {
            copies[i] = CMemory.malloc(message.size());
            copyTo(copies[i]);
        }
        for (int i = 0; i < peers; i++) {
            sockets.drive(i, sockets.cursorOf(i, copies[i]));
            CMemory.free(copies[i]);
        }
    }

    private void pooled() throws IOException {
        for (int i = 0; i < peers; i++) {
            copyTo(copies[i]);
        }
        driveCopies();
    }

    private void repack() throws IOException {
        for (int i = 0; i < peers; i++) {
            message.repack(views[i]);
        }
        driveCopies();
    }

    private void driveCopies() throws IOException {
        for (int i = 0; i < peers; i++) {
            sockets.drive(i, sockets.cursorOf(i, copies[i]));
        }
    }

    private void copyTo(MemorySegment copy) {
        MemorySegment.copy(sealed.iovec().region(0), 0, copy, 0, message.size());
    }

    @Override
    public void compare(boolean yes) {
        arrivals.compare(yes);
    }

    @Override
    public void close() {
        sockets.close();
        sealed.close();
        source.close();
        arena.close();
    }
}
