// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

/// The floor of a broadcast to 64 nodes: as many bytes through 64 bare sockets of the loopback, from one block of
/// memory. Two threads, each with both ends of every second connection, write and read in turn: no library, no
/// selector, nothing but the kernel's two copies, and the memory that the bytes land in.
///
/// Argument: `kept`, into 64 blocks that are there already; `tree`, the same, but down a tree of radix 4, where each
/// peer sends on what has landed from its own block; `fresh`, into regions of the default source, of the size of a
/// fragment, which are kept until everything has arrived. Prints milliseconds, the median.
public final class BareSockets {

    private static final int THREADS = 2;
    private static final int PEERS = 64;
    private static final int BYTES = 4 << 20;
    private static final int STEP = 256 << 10;
    private static final int FRAGMENT = 512 << 10;
    private static final int RADIX = 4;

    /// Where the bytes for a peer land.
    private interface Landing {

        /// Room for what comes next, at most [#STEP] bytes of it.
        ByteBuffer at(int offset);

        /// Everything has been read.
        default void giveBack() {}
    }

    private static final class There implements Landing {

        private final ByteBuffer memory = ByteBuffer.allocateDirect(BYTES);

        @Override
        public ByteBuffer at(int offset) {
            return memory.limit(Math.min(BYTES, offset + STEP)).position(offset);
        }
    }

    private static final class Fresh implements Landing {

        private final MemorySource source;
        private final List<MemorySource.Region> taken = new ArrayList<>();

        Fresh(MemorySource source) {
            this.source = source;
        }

        @Override
        public ByteBuffer at(int offset) {
            int within = offset % FRAGMENT;
            if (within == 0) {
                taken.add(source.allocate(FRAGMENT));
            }
            return taken.getLast()
                    .segment()
                    .asSlice(within, Math.min(STEP, FRAGMENT - within))
                    .asByteBuffer();
        }

        @Override
        public void giveBack() {
            taken.forEach(MemorySource.Region::release);
            taken.clear();
        }
    }

    /// Both ends of a connection.
    private static final class Connection {

        private final SocketChannel in;
        private final SocketChannel out;
        private final Landing landing;
        private final ByteBuffer message;
        // whose bytes are sent on, or null
        private final Connection parent;
        // volatile: the bytes before it are there for a child's thread
        private volatile int landed;
        private ByteBuffer room;

        Connection(SocketChannel in, SocketChannel out, Landing landing, ByteBuffer message, Connection parent)
                throws IOException {
            this.in = in;
            this.out = out;
            this.landing = landing;
            this.message = message.duplicate();
            this.parent = parent;
            in.configureBlocking(false);
            out.configureBlocking(false);
        }

        void begin() {
            message.clear();
            landed = 0;
            room = null;
        }

        /// Writes and reads what can be.
        ///
        /// @return whether something is missing
        boolean move() throws IOException {
            int before = landed;
            if (before == BYTES) {
                return false;
            }
            int there = parent == null ? BYTES : parent.landed;
            if (message.position() < there) {
                out.write(message.limit(Math.min(there, message.position() + STEP)));
            }
            if (room == null || !room.hasRemaining()) {
                room = landing.at(before);
            }
            int read = in.read(room);
            if (read < 0) {
                throw new EOFException("socket closed: missing=" + (BYTES - before));
            }
            landed = before + read;
            return true;
        }
    }

    private BareSockets() {}

    public static void main(String[] args) throws Exception {
        ArenaSource source = args[0].equals("fresh") ? ArenaSource.create(MemoryBudget.unlimited(), null) : null;
        ByteBuffer message = ByteBuffer.allocateDirect(BYTES);
        boolean tree = args[0].equals("tree");
        List<Connection> all = new ArrayList<>();
        List<List<Connection>> shares = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            shares.add(new ArrayList<>());
        }
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            for (int i = 0; i < PEERS; i++) {
                SocketChannel out = SocketChannel.open(server.getLocalAddress());
                Landing landing = source == null ? new There() : new Fresh(source);
                Connection parent = tree && i >= RADIX ? all.get(i / RADIX - 1) : null;
                ByteBuffer from = parent == null ? message : ((There) parent.landing).memory;
                Connection peer = new Connection(
                        server.accept(), out, landing, from.duplicate().clear(), parent);
                all.add(peer);
                shares.get(i % THREADS).add(peer);
            }
        }
        CyclicBarrier round = new CyclicBarrier(THREADS);
        for (List<Connection> other : shares.subList(1, THREADS)) {
            Thread.ofPlatform().daemon().start(() -> always(other, round));
        }
        Effort effort = Effort.ofProcess();
        for (long start = System.nanoTime(); !effort.isWarm(start); ) {
            once(shares.getFirst(), round);
        }
        double[] millis = new double[effort.rounds];
        for (int i = 0; i < millis.length; i++) {
            millis[i] = once(shares.getFirst(), round);
        }
        System.out.println(Medians.of(millis));
        // the other thread waits for another round
        System.exit(0);
    }

    private static void always(List<Connection> mine, CyclicBarrier round) {
        try {
            while (true) {
                once(mine, round);
            }
        } catch (Exception failure) {
            failure.printStackTrace();
            // the first thread waits for this one
            System.exit(1);
        }
    }

    private static double once(List<Connection> mine, CyclicBarrier round) throws Exception {
        // before any thread moves: a child looks at its parent's
        mine.forEach(Connection::begin);
        round.await();
        long start = System.nanoTime();
        for (boolean missing = true; missing; ) {
            missing = false;
            for (Connection each : mine) {
                missing |= each.move();
            }
        }
        round.await();
        double millis = (System.nanoTime() - start) / 1e6;
        mine.forEach(each -> each.landing.giveBack());
        return millis;
    }
}
