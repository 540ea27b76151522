// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.machines;

import io.bulla.buffer.MemorySource;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.SimChannel;
import io.bulla.checks.sim.net.SimLoop;
import io.bulla.checks.sim.net.SimProcess;
import io.bulla.checks.sim.net.SimServerChannel;
import io.bulla.checks.sim.world.Coroutines;
import io.bulla.checks.sim.world.HeapAllocator;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;

/// A process of one of the [Machines]: an event loop and threads that run when the world says.
public final class SimHost implements SimProcess {

    private static final long WAKE_UP = 20_000;

    private final Machines machines;
    private final World world;
    private final int rank;
    private final SimMemory memory;
    private final SimLoop loop;
    private final ThreadFactory threads = Coroutines.scheduledBy(this::ready);
    private final HeapAllocator allocator = new HeapAllocator();
    private final SplittableRandom random;
    private final SplittableRandom timing;
    private final Queue<Runnable> held = new ArrayDeque<>();
    private boolean dead;
    private long pausedUntil;
    private long runAt = Long.MAX_VALUE;

    /// @param life which of the rank's processes it is
    public SimHost(Machines machines, int rank, int life) {
        this.machines = machines;
        this.world = machines.world;
        this.rank = rank;
        this.random = world.stream('r', rank, life);
        this.timing = world.stream('t', rank, life);
        this.memory = new SimMemory(machines.slabs, () -> {});
        this.loop = new SimLoop(world.thread, this);
        machines.net.host(rank).up = true;
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
                .loops(loop)
                .allocator(allocator);
        CompletableFuture<OobNode> started = SimulatedNode.start(whole, this::clock, random::nextLong, threads);
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
        world.after(
                nanos,
                () -> inTurn(
                        () -> {
                            what.run();
                            poke();
                        },
                        0));
    }

    /// A thread that may wait.
    public void thread(Runnable what) {
        threads.newThread(what).start();
    }

    /// The caller, which is a thread of this process, goes on later.
    public void sleep(long nanos) {
        world.sleep(nanos);
    }

    /// Stands still, as one whose machine is busy.
    public void pause(long nanos) {
        pausedUntil = Math.max(pausedUntil, world.now() + nanos);
        world.at(pausedUntil, this::goOn);
    }

    private void goOn() {
        if (world.now() >= pausedUntil) {
            while (!held.isEmpty()) {
                inTurn(held.poll(), 1 + timing.nextLong(WAKE_UP));
            }
            poke();
        }
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
        runAt(world.now() + 1 + timing.nextLong(WAKE_UP));
    }

    private void runAt(long time) {
        long at = Math.max(time, pausedUntil);
        if (at < runAt) {
            runAt = at;
            world.at(at, () -> run(at));
        }
    }

    private void run(long at) {
        if (dead || at != runAt) {
            return;
        }
        runAt = Long.MAX_VALUE;
        if (world.now() < pausedUntil) {
            runAt(pausedUntil);
            return;
        }
        world.note(rank);
        loop.runNow();
        long deadline = loop.nextDeadline();
        if (deadline >= 0) {
            runAt(world.now() + Math.max(1, deadline - clock()));
        }
    }

    private void ready(Runnable continuation) {
        if (Thread.currentThread() != world.thread && !Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("made ready by another thread: " + Thread.currentThread());
        }
        inTurn(continuation, 1 + timing.nextLong(WAKE_UP));
    }

    private void inTurn(Runnable what, long nanos) {
        world.after(nanos, () -> {
            if (dead) {
                return;
            }
            if (world.now() < pausedUntil) {
                held.add(what);
                return;
            }
            world.note(-1 - rank);
            what.run();
        });
    }

    @Override
    public void heard(int peer) {
        // verdicts are no matter here
    }

    @Override
    public void read(int bytes) {
        // costs nothing
    }

    @Override
    public void wrote(int bytes) {
        // costs nothing, too
    }
}
