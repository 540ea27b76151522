// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.pool;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedDeque;

/// Random life of buffers over threads that come and go: after each round the pool's live bytes are those of the
/// buffers that are open.
final class PoolModel {

    private static final int THREADS = 4;
    private static final int ROUND = 20_000;
    private static final int MOST_HANDED_ON = 500;

    private record Held(SealedBuffer handle, long pinned, Object buffer) {}

    private final SlabSource memory;
    private final Deque<Held> handedOn = new ConcurrentLinkedDeque<>();
    private volatile Throwable failure;
    private long operations;

    PoolModel(SlabSource memory) {
        this.memory = memory;
    }

    long operations() {
        return operations;
    }

    /// Goes on for so long, and until there were so many operations, or to the first difference.
    ///
    /// @return bytes that the pool counts as live and the model does not, or the other way round
    long run(long nanos, long least, long seed) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        long start = System.nanoTime();
        long difference = 0;
        while ((System.nanoTime() - start < nanos || operations < least) && difference == 0) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom own = random.split();
                Thread.Builder kind = random.nextInt(3) == 0 ? Thread.ofVirtual() : Thread.ofPlatform();
                threads.add(kind.start(() -> {
                    try {
                        live(own);
                    } catch (Throwable unexpected) {
                        failure = unexpected;
                    }
                }));
            }
            for (Thread each : threads) {
                each.join();
            }
            if (failure != null) {
                throw new IllegalStateException("a thread failed", failure);
            }
            operations += (long) THREADS * ROUND;
            difference = Math.abs(poolBytes() - modelBytes());
        }
        for (Held each : handedOn) {
            each.handle.close();
        }
        handedOn.clear();
        return Math.max(difference, Math.abs(poolBytes()));
    }

    private long poolBytes() {
        memory.trim();
        return memory.figures().liveBytes();
    }

    private long modelBytes() {
        Map<Object, Long> buffers = new IdentityHashMap<>();
        for (Held each : handedOn) {
            buffers.put(each.buffer, each.pinned);
        }
        return buffers.values().stream().mapToLong(Long::longValue).sum();
    }

    private void live(SplittableRandom random) {
        Deque<Held> mine = new ArrayDeque<>();
        for (int i = 0; i < ROUND; i++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> mine.add(build(random));
                case 3 -> {
                    Held one = mine.peek();
                    if (one != null) {
                        mine.addLast(new Held(one.handle.share(), one.pinned, one.buffer));
                    }
                }
                case 4 -> {
                    Held one = mine.poll();
                    if (one != null) {
                        handedOn.add(one);
                    }
                }
                case 5 -> {
                    Held one = handedOn.poll();
                    if (one != null) {
                        one.handle.close();
                    }
                }
                default -> {
                    Held one = random.nextBoolean() ? mine.pollLast() : mine.poll();
                    if (one != null) {
                        one.handle.close();
                    }
                }
            }
        }
        while (handedOn.size() > MOST_HANDED_ON) {
            Held one = handedOn.poll();
            if (one != null) {
                one.handle.close();
            }
        }
        mine.forEach(one -> one.handle.close());
    }

    private Held build(SplittableRandom random) {
        int size = 1 + random.nextInt(random.nextInt(200) == 0 ? 600_000 : random.nextInt(8) == 0 ? 20_000 : 1_000);
        try (BufferBuilder builder =
                random.nextBoolean() ? BufferBuilder.create(memory) : BufferBuilder.ofCapacity(memory, size)) {
            byte[] part = new byte[Math.min(size, 997)];
            for (int done = 0; done < size; done += part.length) {
                builder.put(part, 0, Math.min(part.length, size - done));
            }
            SealedBuffer handle = builder.seal();
            return new Held(handle, handle.pinnedBytes(), new Object());
        }
    }
}
