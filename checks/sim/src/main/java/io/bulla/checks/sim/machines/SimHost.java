// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.machines;

import io.bulla.buffer.MemorySource;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.SimChannel;
import io.bulla.checks.sim.net.SimProcess;
import io.bulla.checks.sim.net.SimServerChannel;
import io.bulla.checks.sim.net.Turns;
import io.bulla.checks.sim.world.HeapAllocator;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/// A process of one of the [Machines]: an event loop and threads that run when the world says.
public final class SimHost implements SimProcess {

    private final Machines machines;
    private final World world;
    private final int rank;
    private final SimMemory memory;
    private final Turns turns;
    private final HeapAllocator allocator = new HeapAllocator();
    private final SplittableRandom random;
    private boolean dead;

    /// @param life which of the rank's processes it is
    public SimHost(Machines machines, int rank, int life) {
        this.machines = machines;
        this.world = machines.world;
        this.rank = rank;
        this.random = world.stream('r', rank, life);
        this.memory = new SimMemory(machines.slabs, () -> {});
        this.turns = new Turns(world, this, world.stream('t', rank, life), this::runLoop, SimHost::otherThread);
        machines.net.host(rank).up = true;
    }

    private void runLoop() {
        turns.loop().runNow();
    }

    private static void otherThread(Thread other) {
        throw new IllegalStateException("made ready by another thread: " + other);
    }

    /// Starts a node here.
    ///
    /// @param builder to which surroundings, transport and addresses are added
    public CompletableFuture<OobNode> start(OobNodeBuilder builder) throws IOException {
        OobNodeBuilder whole = builder.memory(memory)
                .directory(Net::address)
                .bind(Net.address(rank))
                .security(Security.plaintext())
                .transport(new Transport(executor -> null, SimServerChannel.class, SimChannel.class))
                .loops(turns.loop())
                .allocator(allocator);
        CompletableFuture<OobNode> started = SimulatedNode.start(whole, this::clock, random::nextLong, turns.threads());
        poke();
        return started;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public Net net() {
        return machines.net;
    }

    public MemorySource memory() {
        return memory;
    }

    /// Bytes that it has not given back, of its source and of Netty's.
    public long bytes() {
        return memory.used() + allocator.used();
    }

    /// Handles that are not closed.
    public long handles() {
        return memory.open();
    }

    public SplittableRandom random() {
        return random;
    }

    @Override
    public long clock() {
        return world.now() + World.SECOND * (1 + rank);
    }

    /// As a thread of its own that is held up with the process.
    public void after(long nanos, Runnable what) {
        turns.later(nanos, what);
    }

    /// A thread that may wait.
    public void thread(Runnable what) {
        turns.thread(what);
    }

    /// The caller, which is a thread of this process, goes on later.
    public void sleep(long nanos) {
        world.sleep(nanos);
    }

    /// Stands still, as one whose machine is busy.
    public void pause(long nanos) {
        turns.pause(nanos);
    }

    /// The process ends: its machine closes its connections.
    public void kill() {
        if (!dead) {
            dead = true;
            machines.net.kill(rank, false);
        }
    }

    @Override
    public boolean isKilled() {
        return dead;
    }

    @Override
    public void poke() {
        turns.poke();
    }

    @Override
    public void heard(int peer) {
        // verdicts are no matter here
    }
}
