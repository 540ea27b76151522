// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.Arrays;
import java.util.concurrent.SynchronousQueue;

/// The end of a message on another thread than the one that built it, as on an event loop that has sent it: one
/// thread builds messages of 1 KiB, and it or another one closes them.
///
/// Arguments: `pool` or `netty`, `same` or `across`. Prints nanoseconds for a close, the median of many rounds. One
/// should see: across, what the cache lines of the handles cost on their way, and a step to the depot for a list of
/// regions; Netty's have a queue for what other threads give back.
public final class CloseAcross {

    private static final int MESSAGES = 512;
    private static final int BODY = 1024;
    private static final int WARMUP = 3_000;
    private static final int ROUNDS = 3_001;
    private static final byte[] BYTES = new byte[BODY];

    private interface Design {
        Object build();

        void close(Object message);
    }

    private CloseAcross() {}

    public static void main(String[] args) throws InterruptedException {
        Design design = switch (args[0]) {
            case "pool" -> pool(SlabSource.create());
            case "netty" -> netty();
            default -> throw new IllegalArgumentException("no such design: " + args[0]);
        };
        System.out.println(args[1].equals("across") ? across(design) : same(design));
        System.exit(0);
    }

    private static double same(Design design) {
        long[] nanos = new long[ROUNDS];
        Object[] messages = new Object[MESSAGES];
        for (int round = -WARMUP; round < ROUNDS; round++) {
            build(design, messages);
            long took = close(design, messages);
            if (round >= 0) {
                nanos[round] = took;
            }
        }
        return median(nanos);
    }

    private static double across(Design design) throws InterruptedException {
        SynchronousQueue<Object[]> built = new SynchronousQueue<>();
        SynchronousQueue<Object[]> closed = new SynchronousQueue<>();
        long[] nanos = new long[ROUNDS];
        Thread.ofPlatform().daemon().start(() -> {
            try {
                for (int round = -WARMUP; round < ROUNDS; round++) {
                    Object[] messages = built.take();
                    long took = close(design, messages);
                    if (round >= 0) {
                        nanos[round] = took;
                    }
                    closed.put(messages);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Object[] messages = new Object[MESSAGES];
        for (int round = -WARMUP; round < ROUNDS; round++) {
            build(design, messages);
            built.put(messages);
            // the hand-over back shows the times as well
            messages = closed.take();
        }
        return median(nanos);
    }

    private static void build(Design design, Object[] messages) {
        for (int i = 0; i < MESSAGES; i++) {
            messages[i] = design.build();
        }
    }

    private static long close(Design design, Object[] messages) {
        long start = System.nanoTime();
        for (Object message : messages) {
            design.close(message);
        }
        return System.nanoTime() - start;
    }

    private static double median(long[] nanos) {
        Arrays.sort(nanos);
        return (double) nanos[ROUNDS / 2] / MESSAGES;
    }

    private static Design pool(MemorySource source) {
        return new Design() {
            @Override
            public Object build() {
                return BufferBuilder.ofCapacity(source, BODY).put(BYTES).seal();
            }

            @Override
            public void close(Object message) {
                ((SealedBuffer) message).close();
            }
        };
    }

    private static Design netty() {
        return new Design() {
            @Override
            public Object build() {
                return PooledByteBufAllocator.DEFAULT.directBuffer(BODY, BODY).writeBytes(BYTES);
            }

            @Override
            public void close(Object message) {
                ((ByteBuf) message).release();
            }
        };
    }
}
