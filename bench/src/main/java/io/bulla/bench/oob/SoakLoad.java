// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

/// A job in which every node has short messages and a long one on its way at any time, each to another node
/// than the one before, and every node's broadcast follows on the one before it. Each message is built anew.
final class SoakLoad implements AutoCloseable {

    private static final int TAG = 1;
    private static final int SHORT = 256;
    private static final int LONG = 1 << 20;
    private static final int BROADCAST = 512 << 10;
    private static final int SHORTS = 64;

    private final MemorySource source;
    private final byte[] content = new byte[LONG];
    private final LongAdder completed = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final AtomicReference<Throwable> firstFailure = new AtomicReference<>();
    // messages that have not been completed; no new ones once it ends
    private final AtomicInteger underWay = new AtomicInteger();
    // seen soon by the thread that completes a message
    private volatile boolean ending;
    private final Job job;

    SoakLoad(int nodes, MemorySource source, Job.Shape shape) throws IOException {
        this.source = source;
        new Random(nodes).nextBytes(content);
        job = Job.start(nodes, source, (rank, node) -> {
            node.routing(new Radix(2));
            shape.of(rank, node);
        });
        job.nodes()
                .forEach(node ->
                        node.receive(TAG, message -> bytes.add(message.buffer().byteSize())));
    }

    void begin() {
        for (OobNode node : job.nodes()) {
            for (int i = 0; i < SHORTS; i++) {
                send(node, SHORT);
            }
            send(node, LONG);
        }
        broadcast(0);
    }

    /// Sends and broadcasts that have been completed.
    long completed() {
        return completed.sum();
    }

    /// Of the messages that were handled.
    long bytes() {
        return bytes.sum();
    }

    long failures() {
        return failures.sum();
    }

    /// Why the first of them failed, if one did.
    Optional<Throwable> firstFailure() {
        return Optional.ofNullable(firstFailure.get());
    }

    /// Begins nothing any more.
    ///
    /// @return whether all that was begun is over
    boolean end(int seconds) throws InterruptedException {
        ending = true;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (underWay.get() > 0 && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        return underWay.get() == 0;
    }

    private void send(OobNode from, int most) {
        int size = job.nodes().size();
        int to = (from.rank() + ThreadLocalRandom.current().nextInt(1, size)) % size;
        underWay.incrementAndGet();
        try (SealedBuffer message = message(most)) {
            from.send(to, TAG, message).whenComplete(then(() -> send(from, most)));
        }
    }

    private void broadcast(int origin) {
        underWay.incrementAndGet();
        try (SealedBuffer message = message(BROADCAST)) {
            job.node(origin)
                    .broadcast(TAG, message)
                    .whenComplete(
                            then(() -> broadcast((origin + 1) % job.nodes().size())));
        }
    }

    private <T> BiConsumer<T, Throwable> then(Runnable next) {
        return (done, failure) -> {
            completed.increment();
            if (failure != null) {
                failures.increment();
                firstFailure.compareAndSet(null, failure);
            }
            if (!ending) {
                next.run();
            }
            underWay.decrementAndGet();
        };
    }

    /// From half of `most` to `most` bytes.
    private SealedBuffer message(int most) {
        int length = ThreadLocalRandom.current().nextInt(most / 2, most + 1);
        return BufferBuilder.ofCapacity(source, length).put(content, 0, length).seal();
    }

    @Override
    public void close() {
        ending = true;
        job.close();
    }
}
