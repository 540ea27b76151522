// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import com.sun.management.OperatingSystemMXBean;
import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// What a hop of a broadcast costs: from one node to its children, which share an event loop that is not the
/// sender's, one broadcast after the other. For the costs of the simulator of `runtime/oob`.
///
/// Arguments: children; bytes of the message; of a fragment. Prints medians for one broadcast, by children:
/// nanoseconds of processor of the sender's and of the receivers' event loop, of all threads of the process, and
/// from the call to the confirmation.
public final class HopCost {

    private static final int TAG = 1;
    private static final int ROUNDS = 7;
    private static final long BYTES_PER_ROUND = 512L << 20;
    private static final int MOST_PER_ROUND = 4000;
    private static final long SECONDS = 60;

    private final Job job;
    private final SealedBuffer message;
    private final long sender;
    private final long receivers;

    private HopCost(Job job, SealedBuffer message, List<EventLoop> loops) throws Exception {
        this.job = job;
        this.message = message;
        this.sender = thread(loops.getFirst());
        this.receivers = thread(loops.getLast());
    }

    private static long thread(EventLoop loop) throws Exception {
        return loop.submit(() -> Thread.currentThread().threadId()).get();
    }

    public static void main(String[] args) throws Exception {
        int children = Integer.parseInt(args[0]);
        int bytes = Integer.parseInt(args[1]);
        int fragment = Integer.parseInt(args[2]);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        List<EventLoop> loops = List.of(group.next(), group.next());
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                Job job = Job.start(
                        1 + children,
                        source,
                        (rank, node) -> node.coalesceBelow(0)
                                .routing(new Radix(children))
                                .loops(loops.get(rank == 0 ? 0 : 1))
                                .fragment(fragment)
                                .receive(TAG, received -> {}));
                SealedBuffer message = Job.message(source, bytes)) {
            HopCost cost = new HopCost(job, message, loops);
            int times = (int) Math.clamp(BYTES_PER_ROUND / bytes / children, 1, MOST_PER_ROUND / children);
            cost.round(times);
            cost.round(times);
            double[][] rounds = new double[ROUNDS][];
            for (int i = 0; i < ROUNDS; i++) {
                rounds[i] = cost.round(times);
            }
            System.out.printf(
                    Locale.ROOT,
                    "hop: children=%d bytes=%d fragment=%d sender-ns=%.0f receivers-ns=%.0f process-ns=%.0f"
                            + " elapsed-ns=%.0f%n",
                    children,
                    bytes,
                    fragment,
                    median(rounds, 0) / children,
                    median(rounds, 1) / children,
                    median(rounds, 2) / children,
                    median(rounds, 3) / children);
        }
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private static double median(double[][] rounds, int of) {
        double[] all = new double[rounds.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = rounds[i][of];
        }
        return Medians.of(all);
    }

    private double[] round(int times) throws Exception {
        double[] before = clocks();
        for (int i = 0; i < times; i++) {
            job.node(0).broadcast(TAG, message).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
        }
        double[] after = clocks();
        for (int i = 0; i < after.length; i++) {
            after[i] = (after[i] - before[i]) / times;
        }
        return after;
    }

    private double[] clocks() {
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        return new double[] {
            ManagementFactory.getThreadMXBean().getThreadCpuTime(sender),
            ManagementFactory.getThreadMXBean().getThreadCpuTime(receivers),
            process.getProcessCpuTime(),
            System.nanoTime()
        };
    }
}
