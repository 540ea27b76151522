// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.pool;

import io.bulla.buffer.MemorySource;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/// Threads that read what other threads have closed, or are just closing, while the memory is in use again: every
/// read is the right bytes or an exception.
final class StaleReader {

    private static final int READERS = 8;
    private static final int WRITERS = 3;
    private static final int PLACES = 64;
    private static final long LEAST_READS = 300_000;
    // a raw view takes its memory out of use
    private static final int RAW_VIEWS = 512;

    private final MemorySource memory;
    private final AtomicReferenceArray<Kept> places = new AtomicReferenceArray<>(PLACES);
    private final AtomicLong ids = new AtomicLong();
    private final LongAdder reads = new LongAdder();
    private final LongAdder exceptions = new LongAdder();
    private final LongAdder wrong = new LongAdder();
    private volatile boolean over;
    private volatile Throwable failure;

    StaleReader(MemorySource memory) {
        this.memory = memory;
    }

    void run(long nanos, long seed) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < READERS; i++) {
            SplittableRandom own = random.split();
            threads.add(Thread.ofPlatform().unstarted(() -> guarded(() -> read(own))));
        }
        for (int i = 0; i < WRITERS; i++) {
            SplittableRandom own = random.split();
            threads.add((i == 0 ? Thread.ofVirtual() : Thread.ofPlatform()).unstarted(() -> guarded(() -> write(own))));
        }
        threads.forEach(Thread::start);
        long deadline = System.nanoTime() + nanos;
        // on a machine that is busy with other things, time alone says nothing
        while ((System.nanoTime() < deadline || reads.sum() < LEAST_READS || exceptions.sum() == 0)
                && failure == null) {
            Thread.sleep(10);
        }
        over = true;
        for (Thread each : threads) {
            each.join();
        }
        if (failure != null) {
            throw new IllegalStateException("a thread failed", failure);
        }
    }

    long reads() {
        return reads.sum();
    }

    long exceptions() {
        return exceptions.sum();
    }

    long wrong() {
        return wrong.sum();
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (Throwable unexpected) {
            failure = unexpected;
        }
    }

    private void write(SplittableRandom random) {
        EmbeddedChannel channel = new EmbeddedChannel();
        try {
            Kept[] later = new Kept[16];
            while (!over) {
                Kept fresh = Kept.build(memory, ids.incrementAndGet(), random, channel);
                places.set(random.nextInt(PLACES), fresh);
                int at = random.nextInt(later.length);
                if (later[at] != null) {
                    later[at].close();
                }
                later[at] = fresh;
                if (random.nextInt(4) == 0) {
                    later[at] = null;
                    // beside its readers
                    fresh.close();
                }
            }
            for (Kept each : later) {
                if (each != null) {
                    each.close();
                }
            }
        } finally {
            channel.finishAndReleaseAll();
        }
    }

    private void read(SplittableRandom random) {
        byte[] aside = new byte[4096];
        while (!over) {
            Kept kept = places.get(random.nextInt(PLACES));
            if (kept == null) {
                LockSupport.parkNanos(1_000_000);
                continue;
            }
            for (int i = 0; i < 64; i++) {
                int kind = random.nextInt(Kept.KINDS);
                if (kind == Kept.KINDS - 1 && random.nextInt(RAW_VIEWS) != 0) {
                    kind = 1;
                }
                reads.increment();
                try {
                    if (!kept.isRight(kind, random, aside)) {
                        wrong.increment();
                    }
                } catch (IllegalStateException late) {
                    exceptions.increment();
                }
            }
        }
    }
}
