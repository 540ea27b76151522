// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.machines;

import io.bulla.buffer.MemorySource;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.Pipe;
import io.bulla.checks.sim.world.LogWatch;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;

/// Simulated machines and the network between them, for tests of what is built on nodes. One thread's, which runs
/// everything; one seed is one run.
public final class Machines implements AutoCloseable {

    /// Hears what nodes log.
    public interface Log {

        void line(boolean error, String line);
    }

    final World world;
    final Net net;
    final SimMemory.Slabs slabs = SimMemory.Slabs.reset();
    private final Sights sights = new Sights();

    /// @param hosts ranks of the job
    /// @param delayNanos of every packet, and up to `jitterNanos` more
    /// @param socketBytes that a connection takes without being read
    /// @param pieceBytes the most that arrives in one piece
    /// @param log is told each line that a node logs
    public Machines(long seed, int hosts, long delayNanos, long jitterNanos, int socketBytes, int pieceBytes, Log log) {
        this.world = new World(seed);
        this.net = new Net(world, sights, hosts, delayNanos, jitterNanos, socketBytes, pieceBytes);
        LogWatch.install(line -> {
            String thrown = line.getThrown() == null ? "" : " " + line.getThrown();
            log.line(line.getLevel().intValue() >= Level.SEVERE.intValue(), line.getMessage() + thrown);
        });
    }

    public long now() {
        return world.now();
    }

    public long steps() {
        return world.steps();
    }

    /// Of all that has happened, in its order.
    public long digest() {
        return World.mix(world.digest(), world.steps());
    }

    /// Random numbers of one owner, the same whatever others draw.
    public SplittableRandom random(long kind, long owner) {
        return world.stream(kind, owner, -1);
    }

    /// Outside of every process.
    public void after(long nanos, Runnable what) {
        world.after(nanos, what);
    }

    /// Lets things happen until it is so, or until a time.
    ///
    /// @return whether it is so
    public boolean run(BooleanSupplier until, long end) {
        while (!until.getAsBoolean()) {
            if (!world.step(end)) {
                return until.getAsBoolean();
            }
        }
        return true;
    }

    /// The youngest connection of two ends after so many more bytes from the first.
    public void cut(int from, int to, long bytes, boolean reset) {
        Pipe pipe = net.pipe(from, to);
        if (pipe != null) {
            pipe.cut(bytes, reset ? Pipe.Cut.RESET : Pipe.Cut.FIN);
        }
    }

    /// Nothing gets from one to the other for a while.
    public void block(int from, int to, long nanos) {
        net.block(from, to, world.now() + nanos);
    }

    /// The network is as at first.
    public void heal() {
        net.heal();
    }

    /// Memory that is no process's.
    public MemorySource memory() {
        return new SimMemory(slabs, () -> {});
    }

    /// No log is heard by these classes any more, which a changed program's loader may then forget.
    public static void forgetLog() {
        LogWatch.uninstall();
    }

    /// What the network has seen.
    public Map<String, Long> sights() {
        Map<String, Long> seen = new TreeMap<>();
        sights.addTo(seen);
        return seen;
    }

    @Override
    public void close() {
        LogWatch.forget();
        World.forget();
        // Netty keeps a resolver for each event loop that has not ended, and with it the world
        DefaultAddressResolverGroup.INSTANCE.close();
    }
}
