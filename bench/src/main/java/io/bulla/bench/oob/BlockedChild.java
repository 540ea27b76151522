// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.SendOptions;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/// One node sends to four children, a thread for each, as fast as there is room. In every other window the handler of
/// the fourth child is blocked, and all that it may hold and all that may be queued for it is full; in the others it
/// is sent nothing. Prints how many messages a second the other three get, the medians, and the ratio.
///
/// Arguments: bytes of a message; windows of either kind.
public final class BlockedChild {

    private static final int TAG = 1;
    private static final int CHILDREN = 4;
    private static final int QUEUED = 64;
    private static final long WINDOW_MILLIS = 500;

    private final LongAdder handled = new LongAdder();
    private final Semaphore handling = new Semaphore(0);
    private final OobNode from;
    private final SealedBuffer message;
    // by the main thread alone; the sender that sees it late sends one message more
    private volatile boolean blocks;

    private BlockedChild(OobNode from, SealedBuffer message) {
        this.from = from;
        this.message = message;
    }

    public static void main(String[] args) throws Exception {
        int bytes = Integer.parseInt(args[0]);
        double[] free = new double[Integer.parseInt(args[1])];
        double[] blocked = new double[free.length];
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                Job job = Job.start(
                        CHILDREN + 1,
                        source,
                        (rank, node) -> node.queuePerPeer(QUEUED, 1L << 30).inboundHighWaterMark(4L * QUEUED * bytes));
                SealedBuffer message = Job.message(source, bytes)) {
            BlockedChild scene = new BlockedChild(job.node(0), message);
            for (int child = 1; child < CHILDREN; child++) {
                job.node(child).receive(TAG, received -> scene.handled.increment());
                scene.start(child);
            }
            job.node(CHILDREN).receive(TAG, received -> scene.handling.acquireUninterruptibly());
            scene.start(CHILDREN);
            Thread.sleep(Effort.ofProcess().warmupMillis);
            for (int i = 0; i < free.length; i++) {
                free[i] = scene.perSecond();
                scene.block();
                blocked[i] = scene.perSecond();
                scene.unblock();
            }
            System.out.printf(
                    Locale.ROOT,
                    "siblings: bytes=%d free=%.0f/s blocked=%.0f/s ratio=%.3f%n",
                    bytes,
                    Medians.of(free),
                    Medians.of(blocked),
                    Medians.of(blocked) / Medians.of(free));
            // in full flight
            System.exit(0);
        }
    }

    private void start(int child) {
        Thread.ofPlatform().daemon().start(() -> sendAlways(child));
    }

    private void sendAlways(int child) {
        while (true) {
            if (child == CHILDREN && !blocks) {
                sleep();
            } else if (from.trySend(child, TAG, message, SendOptions.DEFAULT).isEmpty()) {
                from.room(child).toCompletableFuture().join();
            }
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    /// Waits until nothing more goes to the child.
    private void block() throws InterruptedException {
        blocks = true;
        while (queued() < QUEUED) {
            Thread.sleep(1);
        }
    }

    /// Waits until the child has all.
    private void unblock() throws InterruptedException {
        blocks = false;
        while (queued() > 0 || handling.hasQueuedThreads()) {
            handling.release(QUEUED);
        }
        handling.drainPermits();
    }

    private long queued() {
        return from.stats().stream()
                .filter(peer -> peer.peer() == CHILDREN)
                .mapToLong(peer -> peer.queuedMessages())
                .sum();
    }

    private double perSecond() throws InterruptedException {
        long messages = handled.sum();
        long begun = System.nanoTime();
        Thread.sleep(WINDOW_MILLIS);
        return (handled.sum() - messages) * 1e9 / (System.nanoTime() - begun);
    }
}
