// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.util.Arrays;
import java.util.concurrent.CyclicBarrier;

/// The end of a broadcast: the originator has closed its handle, and one or two other threads close the 64
/// shares of each buffer, every second one each, meeting on the same buffers.
///
/// Prints nanoseconds per close on one thread, the median of many rounds. One should see the same with two
/// threads as with one; a single contended word would take several times as long.
public final class ClosersRace {

    private static final int SHARES = 64;
    private static final int BUFFERS = 400;
    private static final int WARMUP = 150;
    private static final int ROUNDS = 151;

    private final int closers;
    private final SealedBuffer[][] shares = new SealedBuffer[BUFFERS][];
    private final CyclicBarrier barrier;
    private final long[] nanos;
    private volatile int ready;

    private ClosersRace(int closers) {
        this.closers = closers;
        this.barrier = new CyclicBarrier(closers + 1);
        this.nanos = new long[closers];
    }

    public static void main(String[] args) throws Exception {
        System.out.println(new ClosersRace(Integer.parseInt(args[0])).run());
    }

    private double run() throws Exception {
        for (int i = 0; i < closers; i++) {
            int mine = i;
            Thread.ofPlatform().daemon().start(() -> close(mine));
        }
        double[] perClose = new double[ROUNDS];
        try (ArenaSource source = ArenaSource.create()) {
            for (int round = 0; round < WARMUP + ROUNDS; round++) {
                for (int b = 0; b < BUFFERS; b++) {
                    try (SealedBuffer buffer =
                            BufferBuilder.create(source).putLong(b).seal()) {
                        shares[b] = buffer.shares(SHARES);
                    }
                }
                ready = 0;
                barrier.await();
                barrier.await();
                if (round >= WARMUP) {
                    long slowest = Arrays.stream(nanos).max().getAsLong();
                    perClose[round - WARMUP] = (double) slowest * closers / (BUFFERS * SHARES);
                }
            }
        }
        Arrays.sort(perClose);
        return perClose[ROUNDS / 2];
    }

    private void close(int mine) {
        try {
            while (true) {
                barrier.await();
                synchronized (this) {
                    ready++;
                }
                while (ready < closers) {
                    Thread.onSpinWait();
                }
                long start = System.nanoTime();
                for (SealedBuffer[] each : shares) {
                    for (int i = mine; i < SHARES; i += closers) {
                        each[i].close();
                    }
                }
                nanos[mine] = System.nanoTime() - start;
                barrier.await();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
