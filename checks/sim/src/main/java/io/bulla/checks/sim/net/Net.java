// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/// The network: hosts, what is on the way between two of them, and what is wrong with that.
///
/// A connection is two [Pipe]s. What one host sends to another takes a while that is drawn from the stream of the
/// two, and waits as long as the way is blocked.
public final class Net {

    private static final int PORT = 7000;
    // 127.0.1.1
    private static final int FIRST_ADDRESS = 127 << 24 | 1 << 8 | 1;
    private static final long SYN_AGAIN = World.SECOND;
    private static final int SYNS = 6;

    /// A machine: it can be up without a process.
    public static final class Host {

        public boolean up = true;
        Listener listener;
        final Set<Endpoint> endpoints = new LinkedHashSet<>();
    }

    /// Who accepts connections.
    interface Listener {

        /// @return this side's end
        Endpoint accept(int from);
    }

    /// One end of a connection.
    public interface Endpoint {

        /// Bytes have come, which are its own, and take up room until [Pipe#consumed].
        void bytes(ByteBuf bytes);

        void fin();

        void reset();

        /// There is room again in a pipe that was full.
        void writable();

        Pipe out();

        /// Whether it was closed, or its process has ended.
        boolean isGone();

        void connected(Pipe out);
    }

    /// What connections are made of: how long a piece takes, and whether it is a copy.
    public interface Wire {

        /// What goes on its way of what is written, in a buffer of its own.
        ByteBuf taken(ByteBuf written, int length);

        /// What the reader gets for a piece, which is its own from then on.
        ByteBuf arrived(ByteBuf piece, ByteBufAllocator readers);

        /// When a piece that is sent now is there.
        long arrival(int from, int to, int bytes);
    }

    /// Hears the frames of one direction of a connection.
    public interface FrameListener {

        /// @param header whole
        /// @return false if it tells nothing of nodes, and is not counted
        boolean frame(Frame.Kind kind, ByteBuffer header);
    }

    /// Makes one for each direction.
    public interface FrameListeners {

        /// What hears nothing.
        FrameListeners NONE = (from, to) -> (kind, header) -> true;

        FrameListener of(int from, int to);
    }

    /// Copies, as sockets do, and a delay of its own for each piece.
    private final class Copies implements Wire {

        @Override
        public ByteBuf taken(ByteBuf written, int length) {
            return Unpooled.copiedBuffer(written.slice(written.readerIndex(), length));
        }

        @Override
        public ByteBuf arrived(ByteBuf piece, ByteBufAllocator readers) {
            ByteBuf copy = readers.heapBuffer(piece.readableBytes());
            copy.writeBytes(piece);
            piece.release();
            return copy;
        }

        @Override
        public long arrival(int from, int to, int bytes) {
            return world.now() + delay(from, to);
        }
    }

    /// The way from one host to another.
    private static final class Way {

        private final SplittableRandom random;
        private long blockedUntil;
        private long flapsUntil;
        private long flapBytes;
        private Pipe.Cut flap;
        private final List<Runnable> waiting = new ArrayList<>();

        Way(SplittableRandom random) {
            this.random = random;
        }
    }

    final World world;
    final Sights sights;
    final Wire wire;
    public FrameListeners listeners = FrameListeners.NONE;
    final int socketBytes;
    final int pieceBytes;
    private final long delay;
    private final long jitter;
    // of those that were asked for, by from * hosts + to: mended in this order
    private final Map<Long, Way> ways = new TreeMap<>();
    private final Host[] hosts;
    private final List<Pipe> pipes = new ArrayList<>();
    private int crowded = 64;

    /// @param delay of every packet, in nanoseconds, and up to `jitter` more
    /// @param socketBytes that a connection takes without being read
    /// @param pieceBytes the most that arrives in one piece
    public Net(World world, Sights sights, int hosts, long delay, long jitter, int socketBytes, int pieceBytes) {
        this(world, sights, hosts, delay, jitter, socketBytes, pieceBytes, null);
    }

    /// @param wire or `null` for one that copies, and takes `delay`
    public Net(
            World world,
            Sights sights,
            int hosts,
            long delay,
            long jitter,
            int socketBytes,
            int pieceBytes,
            Wire wire) {
        this.wire = wire == null ? new Copies() : wire;
        this.world = world;
        this.sights = sights;
        this.delay = delay;
        this.jitter = jitter;
        this.socketBytes = socketBytes;
        this.pieceBytes = pieceBytes;
        this.hosts = new Host[hosts];
        Arrays.setAll(this.hosts, host -> new Host());
    }

    public static InetSocketAddress address(int host) {
        try {
            byte[] address = ByteBuffer.allocate(Integer.BYTES)
                    .putInt(FIRST_ADDRESS + host)
                    .array();
            return new InetSocketAddress(InetAddress.getByAddress(address), PORT);
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    public static int host(InetSocketAddress address) {
        return ByteBuffer.wrap(address.getAddress().getAddress()).getInt() - FIRST_ADDRESS;
    }

    private long key(int from, int to) {
        return (long) from * hosts.length + to;
    }

    private Way way(int from, int to) {
        return ways.computeIfAbsent(key(from, to), key -> new Way(world.stream('w', from, to)));
    }

    public Host host(int host) {
        return hosts[host];
    }

    SplittableRandom random(int from, int to) {
        return way(from, to).random;
    }

    long delay(int from, int to) {
        return delay + (jitter == 0 ? 0 : way(from, to).random.nextLong(jitter));
    }

    boolean isBlocked(int from, int to) {
        Way way = ways.get(key(from, to));
        return way != null && world.now() < way.blockedUntil;
    }

    public void block(int from, int to, long until) {
        Way way = way(from, to);
        if (until > way.blockedUntil) {
            way.blockedUntil = until;
            world.at(until, () -> flush(way));
        }
    }

    /// Until then, each new connection of the two is cut after so many bytes.
    public void flap(int from, int to, long until, long bytes, long how) {
        Way way = way(from, to);
        way.flapsUntil = until;
        way.flapBytes = bytes;
        way.flap = Pipe.Cut.values()[(int) how];
    }

    private void flap(Pipe pipe) {
        Way way = ways.get(key(pipe.from, pipe.to));
        if (way != null && world.now() < way.flapsUntil) {
            pipe.cut(way.flapBytes, way.flap);
        }
    }

    private void flush(Way way) {
        if (world.now() >= way.blockedUntil) {
            List<Runnable> all = List.copyOf(way.waiting);
            way.waiting.clear();
            all.forEach(Runnable::run);
        }
    }

    /// All ways are free, and all connections as wide as at first.
    public void heal() {
        for (Way way : List.copyOf(ways.values())) {
            way.blockedUntil = Math.min(way.blockedUntil, world.now());
            way.flapsUntil = 0;
            flush(way);
        }
        pipes.forEach(pipe -> pipe.mend(socketBytes));
    }

    /// Something small that gets there some time; what follows it by this call may overtake it.
    void travel(int from, int to, Runnable arrives) {
        arriveAt(world.now() + delay(from, to), from, to, arrives);
    }

    void arriveAt(long time, int from, int to, Runnable arrives) {
        world.at(time, () -> {
            if (isBlocked(from, to)) {
                way(from, to).waiting.add(arrives);
            } else if (hosts[to].up) {
                arrives.run();
            }
        });
    }

    /// @param failed called with why not, if the other machine answers so
    public void connect(Endpoint client, int from, int to, Runnable done, java.util.function.Consumer<String> failed) {
        syn(client, from, to, 0, done, failed);
    }

    private void syn(
            Endpoint client, int from, int to, int attempt, Runnable done, java.util.function.Consumer<String> failed) {
        world.after(delay(from, to), () -> {
            if (client.isGone()) {
                return;
            }
            if (isBlocked(from, to) || isBlocked(to, from) || !hosts[to].up) {
                if (attempt < SYNS) {
                    world.after(SYN_AGAIN << attempt, () -> syn(client, from, to, attempt + 1, done, failed));
                }
            } else if (hosts[to].listener == null) {
                sights.see("connection refused");
                travel(to, from, () -> failed.accept("Connection refused"));
            } else {
                Endpoint server = hosts[to].listener.accept(from);
                Pipe there = new Pipe(this, from, to, client, server);
                Pipe back = new Pipe(this, to, from, server, client);
                there.reverse = back;
                back.reverse = there;
                forgetOver();
                pipes.add(there);
                pipes.add(back);
                server.connected(back);
                hosts[to].endpoints.add(server);
                // what the server says first must not come before the connection
                back.after(world.now() + delay(to, from));
                arriveAt(back.lastArrival(), to, from, () -> {
                    client.connected(there);
                    if (client.isGone()) {
                        there.abort();
                        return;
                    }
                    hosts[from].endpoints.add(client);
                    flap(there);
                    flap(back);
                    done.run();
                });
            }
        });
    }

    private void forgetOver() {
        if (pipes.size() > crowded) {
            pipes.removeIf(Pipe::isOver);
            crowded = Math.max(crowded, 2 * pipes.size());
        }
    }

    /// The pipe of the youngest connection between two, or `null`.
    public Pipe pipe(int from, int to) {
        for (int i = pipes.size() - 1; i >= 0; i--) {
            Pipe pipe = pipes.get(i);
            if (pipe.from == from && pipe.to == to && !pipe.isOver()) {
                return pipe;
            }
        }
        return null;
    }

    /// Connections of a process to another, as the first sees them.
    public long connections(int from, int to) {
        return hosts[from].endpoints.stream()
                .filter(end -> end.out().to == to && end.out().isOpen())
                .count();
    }

    /// A process has ended: its machine closes what it had open, or is gone as well.
    public void kill(int host, boolean machine) {
        Host dead = hosts[host];
        dead.listener = null;
        dead.up = !machine;
        for (Endpoint end : List.copyOf(dead.endpoints)) {
            if (end.out() != null) {
                end.out().orphan(machine);
            }
        }
        dead.endpoints.clear();
    }
}
