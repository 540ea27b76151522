// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.SendPolicy;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// 64 MiB from the first of four nodes to the last, along the chain.
///
/// Arguments: `cut`, to hand on what has landed, or `store`, to hand on what is whole, as a relay does whose
/// policy is not the one to share; the speed of each link in bytes per second, or 0 for the bare loopback.
/// Prints milliseconds from the broadcast to its completion, the median.
public final class ChainCost {

    /// Bytes per second of a link that is paced.
    public static final long PACE = 100_000_000;

    private static final int NODES = 4;
    private static final int BYTES = 64 << 20;
    private static final int TAG = 1;
    private static final long SECONDS = 60;
    private static final int ROUNDS = 7;

    private ChainCost() {}

    public static void main(String[] args) throws Exception {
        // any policy but the constant decides about whole messages; this one shares like it
        SendPolicy policy = args[0].equals("store") ? message -> message.share() : SendPolicy.SHARED;
        long speed = Long.parseLong(args[1]);
        List<InetSocketAddress> links = new ArrayList<>();
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                PacedLinks paced = new PacedLinks(speed);
                Job job = Job.start(NODES, source, (rank, node) -> {
                    node.routing(new Radix(1)).sends(policy);
                    if (speed > 0) {
                        node.directory(links::get);
                    }
                })) {
            job.nodes().forEach(node -> {
                links.add(speed > 0 ? paced.to(node::address) : node.address());
                node.receive(TAG, message -> {});
            });
            double[] millis = new double[ROUNDS];
            try (SealedBuffer message = Job.message(source, BYTES)) {
                Effort effort = Effort.ofProcess();
                for (long start = System.nanoTime(); !effort.isWarm(start); ) {
                    once(job, message);
                }
                for (int i = 0; i < ROUNDS; i++) {
                    millis[i] = once(job, message);
                }
            }
            System.out.println(Medians.of(millis));
        }
    }

    private static double once(Job job, SealedBuffer message) throws Exception {
        BroadcastResult result =
                job.node(0).broadcast(TAG, message).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
        if (!result.failed().isEmpty()) {
            throw new IOException("not everybody has it: failed=" + result.failed());
        }
        return result.nanos() / 1e6;
    }
}
