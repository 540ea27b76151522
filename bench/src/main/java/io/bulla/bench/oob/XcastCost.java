// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.MeteredAllocator;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// One message to many nodes of this process, down a tree of radix 4. Every receiver keeps what it got until all
/// have it.
///
/// Arguments: nodes; bytes of the message; of a fragment, or 0 for the default; `shared`, or `copy` for a
/// copy per send; `time`, or `memory`; where it lands, a [LandingPlace]. Prints milliseconds from the
/// broadcast to its completion, the median; or the most bytes that were in use at a time beyond the
/// receivers' own: the message, copies, what was taken for landing beyond the messages, and every buffer that
/// Netty handed out.
public final class XcastCost {

    private static final int TAG = 1;
    private static final long SECONDS = 60;

    private final LivePeak sending;
    private final LivePeak landing;
    private final MeteredAllocator allocator = new MeteredAllocator(PooledByteBufAllocator.DEFAULT);
    private final Queue<SealedBuffer> kept = new ConcurrentLinkedQueue<>();
    private final Queue<String> lost = new ConcurrentLinkedQueue<>();
    // replaced before a broadcast begins, which the handlers see through its messages
    private volatile CountDownLatch arrived;

    private final int nodes;
    private final int bytes;
    private final int fragment;

    private XcastCost(ArenaSource source, MemorySource landing, int nodes, int bytes, int fragment) {
        this.nodes = nodes;
        this.bytes = bytes;
        this.fragment = fragment;
        this.sending = new LivePeak(source);
        this.landing = new LivePeak(landing);
    }

    public static void main(String[] args) throws Exception {
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null)) {
            XcastCost cost = new XcastCost(
                    source,
                    LandingPlace.of(args[5], source),
                    Integer.parseInt(args[0]),
                    Integer.parseInt(args[1]),
                    Integer.parseInt(args[2]));
            SendPolicy policy = args[3].equals("copy") ? SendPolicy.copying(cost.sending) : SendPolicy.SHARED;
            double[] measured = cost.run(policy, args[4].equals("memory"));
            System.out.println(Medians.of(measured));
        }
    }

    private double[] run(SendPolicy policy, boolean memory) throws Exception {
        Effort effort = Effort.ofProcess();
        double[] measured = new double[effort.rounds];
        Job.Shape shape = (rank, node) -> {
            // no verdicts: on a machine that does much else, a node may not say a word for longer than the default
            node.routing(new Radix(4))
                    .sends(policy)
                    .coalesceBelow(0)
                    .allocator(allocator)
                    .peerTimeout(Duration.ofSeconds(SECONDS))
                    .onPeerLost((peer, why) -> lost.add("rank=" + rank + " " + why.getMessage()));
            if (fragment > 0) {
                node.fragment(fragment);
            }
        };
        try (Job job = Job.start(nodes + 1, landing, shape)) {
            job.nodes().forEach(node -> node.receive(TAG, this::keep));
            for (long start = System.nanoTime(); !effort.isWarm(start); ) {
                once(job, memory);
            }
            for (int i = 0; i < measured.length; i++) {
                measured[i] = once(job, memory);
            }
        }
        return measured;
    }

    private double once(Job job, boolean memory) throws Exception {
        arrived = new CountDownLatch(nodes);
        sending.restart();
        landing.restart();
        long nettyBefore = allocator.bytes();
        long before = landing.live();
        long start;
        BroadcastResult result;
        try (SealedBuffer message = Job.message(sending, bytes)) {
            start = System.nanoTime();
            result = job.node(0).broadcast(TAG, message).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
        }
        double millis = (System.nanoTime() - start) / 1e6;
        if (!arrived.await(SECONDS, TimeUnit.SECONDS) || result.reached() != nodes) {
            throw new IOException("not everybody has it: reached=" + result.reached() + " nodes=" + nodes + " failed="
                    + result.failed() + " why=" + lost);
        }
        long beyond = sending.peak() + landing.peak() - before - (long) nodes * bytes + allocator.bytes() - nettyBefore;
        kept.forEach(SealedBuffer::close);
        kept.clear();
        return memory ? beyond : millis;
    }

    private void keep(Message message) {
        kept.add(message.buffer().share());
        arrived.countDown();
    }
}
