// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.net.SimChannel;
import io.bulla.checks.sim.net.SimLoop;
import io.bulla.checks.sim.net.SimProcess;
import io.bulla.checks.sim.net.SimServerChannel;
import io.bulla.checks.sim.world.Coroutines;
import io.bulla.checks.sim.world.HeapAllocator;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.SimulatedNode;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/// A node of a large job: the library's own code, on a processor that takes its time.
final class ScaleNode implements SimProcess {

    final SimMemory memory;
    private final Scale scale;
    private final int rank;
    private final Processor processor;
    private final SplittableRandom random;
    private final SimLoop loop;
    private final HeapAllocator allocator = new HeapAllocator();
    private OobNode node;
    // of the turn that runs now
    private long spent;
    private boolean waits;
    private boolean dead;
    private long runAt = Long.MAX_VALUE;

    ScaleNode(Scale scale, int rank, Processor processor) {
        this.scale = scale;
        this.rank = rank;
        this.processor = processor;
        this.random = scale.world.stream('r', rank, 0);
        this.memory = new SimMemory(scale.slabs, () -> {});
        this.loop = new SimLoop(scale.world.thread, this);
    }

    CompletableFuture<OobNode> start() throws IOException {
        CompletableFuture<OobNode> started = SimulatedNode.start(
                OobNode.builder(rank, scale.job.nodes())
                        .memory(memory)
                        .directory(Net::address)
                        .bind(Net.address(rank))
                        .security(Security.plaintext())
                        .transport(new Transport(executor -> null, SimServerChannel.class, SimChannel.class))
                        .loops(loop)
                        .allocator(allocator)
                        .routing(scale.job.tree())
                        .fragment(scale.job.fragment())
                        .coalesceBelow(0)
                        .receive(Scale.TAG, this::received),
                this::clock,
                random::nextLong,
                Coroutines.scheduledBy(this::ready));
        poke();
        return started.whenComplete((up, failure) -> node = up);
    }

    OobNode node() {
        return node;
    }

    private void received(Message message) {
        scale.handled(rank, message);
    }

    /// When what is written now leaves this node.
    long departure() {
        return scale.world.now() + spent;
    }

    /// The process ends, and its machine says so.
    void kill() {
        dead = true;
        scale.net.kill(rank, false);
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public Net net() {
        return scale.net;
    }

    @Override
    public long clock() {
        return scale.world.now();
    }

    @Override
    public boolean isKilled() {
        return dead;
    }

    @Override
    public void heard(int peer) {
        // verdicts are looked at in schedules of faults
    }

    @Override
    public void read(int bytes) {
        spent += scale.costs.read(bytes);
    }

    @Override
    public void wrote(int bytes) {
        spent += scale.costs.write(bytes);
    }

    @Override
    public void poke() {
        if (!waits && !dead) {
            waits = true;
            processor.run(this::turn);
        }
    }

    private long turn() {
        waits = false;
        if (dead) {
            return 0;
        }
        scale.world.note(rank);
        spent = 0;
        loop.runNow();
        long took = spent;
        spent = 0;
        sleepUntil(loop.nextDeadline());
        return took;
    }

    private void sleepUntil(long deadline) {
        long at = Math.max(scale.world.now() + 1, deadline);
        if (deadline >= 0 && at < runAt) {
            runAt = at;
            scale.world.at(at, () -> {
                if (runAt == at) {
                    runAt = Long.MAX_VALUE;
                    poke();
                }
            });
        }
    }

    /// A turn of its handlers' thread.
    private void ready(Runnable continuation) {
        processor.run(() -> {
            if (dead) {
                return 0;
            }
            continuation.run();
            return scale.costs.handlerNanos();
        });
    }
}
