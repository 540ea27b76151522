// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.sim.net.Net;
import io.bulla.checks.sim.world.Sights;
import io.bulla.checks.sim.world.SimMemory;
import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.topology.Routing;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/// One broadcast in a job of any size: the library's own code, and a model of what processors and links take.
///
/// A short broadcast goes first, so that all connections of the tree are there. Memory is counted, and of one
/// size all the same: nothing looks at the bytes, which [Simulation] does.
final class Scale {

    static final int TAG = 1;

    /// @param nodes with the origin
    /// @param bytes of the message
    /// @param fragment in bytes
    /// @param failing nodes whose process ends as the broadcast begins
    /// @param sharedProcessors of one machine that has all nodes, or 0 for a machine for each node, with one
    record Job(int nodes, Routing tree, int bytes, int fragment, int failing, int sharedProcessors) {}

    /// Times are virtual, from the call of `broadcast` on.
    ///
    /// @param connectNanos of the short broadcast that makes the connections
    /// @param lastNanos until the handler of the last living node has it
    /// @param mostNanos until 99 of 100 living nodes have it
    /// @param confirmedNanos until the origin knows
    /// @param reached nodes that confirmed
    /// @param peakBytes the most that a node held in its memory source
    /// @param heapBytes a node's objects: all of the heap after the broadcast, by nodes
    /// @param digest of all that has happened
    record Result(
            Job job,
            long connectNanos,
            long lastNanos,
            long mostNanos,
            long confirmedNanos,
            int reached,
            int failed,
            long peakBytes,
            long heapBytes,
            long steps,
            long digest) {}

    private static final int SHORT = 64;
    private static final long PATIENCE = 600 * World.SECOND;
    // less than a heartbeat
    private static final long REST = World.SECOND / 2;
    private static final double MOST = 0.99;

    final Job job;
    final Costs costs;
    final World world = new World(1);
    final SimMemory.Slabs slabs = SimMemory.Slabs.blank();
    final Net net;
    private final ScaleNode[] nodes;
    private final boolean[] dead;
    private final long[] handledAt;
    private int started;
    private int length;
    private int living;
    private int handled;

    private Scale(Job job, Costs costs) {
        this.job = job;
        this.costs = costs;
        this.living = job.nodes() - 1;
        this.nodes = new ScaleNode[job.nodes()];
        this.dead = new boolean[job.nodes()];
        this.handledAt = new long[job.nodes()];
        this.net = new Net(
                world,
                new Sights(),
                job.nodes(),
                costs.latencyNanos(),
                0,
                costs.socketBytes(),
                Integer.MAX_VALUE,
                new Links(costs, job.nodes(), from -> nodes[from].departure()));
        Processor[] processors = new Processor[job.sharedProcessors()];
        Arrays.setAll(processors, i -> new Processor(world, costs.wakeNanos()));
        Arrays.setAll(
                nodes,
                rank -> new ScaleNode(
                        this,
                        rank,
                        processors.length == 0
                                ? new Processor(world, costs.wakeNanos())
                                : processors[rank % processors.length]));
    }

    /// @throws IllegalStateException if it does not end, or if a node is left out
    static Result run(Job job, Costs costs) throws IOException {
        long before = heap();
        try {
            return new Scale(job, costs).run(before);
        } finally {
            World.forget();
            // Netty keeps a resolver for each event loop that has not ended, and with it the world
            DefaultAddressResolverGroup.INSTANCE.close();
        }
    }

    private static long heap() {
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private Result run(long heapBefore) throws IOException {
        for (ScaleNode node : nodes) {
            // what fails is told by the call of a node that is not there
            node.start().whenComplete((up, failure) -> started++);
        }
        stepUntil("start", () -> started == nodes.length);
        long connect = timeOf(broadcast(SHORT), "connect");
        rest();
        for (ScaleNode node : nodes) {
            node.memory.restart();
        }
        fail();
        long start = world.now();
        CompletableFuture<BroadcastResult> broadcast = broadcast(job.bytes());
        long confirmed = timeOf(broadcast, "broadcast");
        stepUntil("handle", () -> handled == living);
        BroadcastResult outcome = broadcast.join();
        long[] times = IntStream.range(1, job.nodes())
                .filter(rank -> !dead[rank])
                .mapToLong(rank -> handledAt[rank] - start)
                .sorted()
                .toArray();
        check(outcome);
        return new Result(
                job,
                connect,
                times[times.length - 1],
                times[(int) (MOST * (times.length - 1))],
                confirmed,
                outcome.reached(),
                outcome.failed().size(),
                Arrays.stream(nodes).mapToLong(node -> node.memory.peak()).max().orElse(0),
                (heap() - heapBefore) / job.nodes(),
                world.steps(),
                World.mix(world.digest(), world.steps()));
    }

    private void check(BroadcastResult outcome) {
        if (outcome.reached() + outcome.failed().size() != job.nodes() - 1
                || outcome.reached() < living
                || outcome.failed().stream().anyMatch(rank -> !dead[rank])) {
            throw new IllegalStateException(
                    "a node is not accounted for: nodes=" + job.nodes() + " living=" + living + " reached="
                            + outcome.reached() + " failed=" + outcome.failed().size());
        }
    }

    private long timeOf(CompletableFuture<BroadcastResult> broadcast, String what) {
        long start = world.now();
        stepUntil(what, broadcast::isDone);
        return world.now() - start;
    }

    private CompletableFuture<BroadcastResult> broadcast(int bytes) {
        length = bytes;
        handled = 0;
        try (SealedBuffer message = BufferBuilder.ofCapacity(nodes[0].memory, bytes)
                .put(new byte[bytes])
                .seal()) {
            CompletableFuture<BroadcastResult> result =
                    nodes[0].node().broadcast(TAG, message).toCompletableFuture();
            nodes[0].poke();
            return result;
        }
    }

    private void fail() {
        SplittableRandom random = world.stream('f', 0, 0);
        for (int left = job.failing(); left > 0; ) {
            int rank = 1 + random.nextInt(job.nodes() - 1);
            if (!dead[rank]) {
                dead[rank] = true;
                nodes[rank].kill();
                left--;
                living--;
            }
        }
    }

    void handled(int rank, Message message) {
        if (message.buffer().byteSize() != length) {
            throw new IllegalStateException("another message: rank=" + rank + " bytes="
                    + message.buffer().byteSize() + " expected=" + length);
        }
        handledAt[rank] = world.now();
        handled++;
        world.note(-1 - rank);
    }

    /// Until nothing of the first broadcast is on its way.
    private void rest() {
        long end = world.now() + REST;
        while (world.step(end)) {
            // all that is due
        }
    }

    private void stepUntil(String what, BooleanSupplier done) {
        long end = world.now() + PATIENCE;
        while (!done.getAsBoolean()) {
            if (!world.step(end)) {
                throw new IllegalStateException("does not end: what=" + what + " nodes=" + job.nodes() + " handled="
                        + handled + " living=" + living);
            }
        }
    }
}
