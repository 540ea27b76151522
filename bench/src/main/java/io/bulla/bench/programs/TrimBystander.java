// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.bench.numbers.Units;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.memfd.HugePages;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// How late a thread that only reads can be while another one fills 4 MiB with messages, lets go of all of them
/// and has the memory given back to the system, again and again.
///
/// Prints nanoseconds for 16 messages, at three percentiles of all that were read in the time given. One should
/// see: the median untouched by all of them; the rare ones of `trimmed`, whose chunks are closed by a thread of
/// the source's, near those of `kept`, which closes nothing, and of Netty's; those of `pool-huge`, which closes one
/// arena for each trim, below those of `pool`, which closes one more for each slab; an arena for each message, closed
/// by its builder, in the way of every thread.
public final class TrimBystander {

    private static final int BODY = 1024;
    private static final int MESSAGES = 4096;
    private static final int READS = 16;
    private static final int SAMPLES = 4_000_000;
    private static final double[] PERCENTILES = {50, 99, 99.9};

    private static volatile boolean done;

    private TrimBystander() {}

    public static void main(String[] args) throws InterruptedException {
        Runnable busy = busy(args[0]);
        long nanos = 1_000_000L * Long.parseLong(args[1]);
        Thread builder = Thread.ofPlatform().daemon().start(() -> {
            while (!done) {
                busy.run();
            }
        });
        try (ArenaSource source = ArenaSource.create()) {
            SealedBuffer[] messages = Bystander.messages(source);
            read(messages, nanos / 2);
            long[] samples = read(messages, nanos);
            for (double percentile : PERCENTILES) {
                System.out.printf(
                        Locale.ROOT,
                        "p%s nanos=%d%n",
                        Units.rounded(percentile),
                        samples[(int) (samples.length * percentile / 100)]);
            }
            List.of(messages).forEach(SealedBuffer::close);
        }
        done = true;
        builder.join();
    }

    /// Sorted.
    private static long[] read(SealedBuffer[] messages, long nanos) {
        long[] samples = new long[SAMPLES];
        int count = 0;
        long sum = 0;
        long start = System.nanoTime();
        long before = start;
        while (before - start < nanos && count < SAMPLES) {
            for (int i = 0; i < READS; i++) {
                sum += Bystander.fields(messages[(count + i) % messages.length]);
            }
            long after = System.nanoTime();
            samples[count++] = after - before;
            before = after;
        }
        if (sum != 15L * READS * count) {
            throw new IllegalStateException("bytes got lost: sum=" + sum);
        }
        long[] sorted = Arrays.copyOf(samples, count);
        Arrays.sort(sorted);
        return sorted;
    }

    private static Runnable busy(String design) {
        byte[] body = new byte[BODY];
        return switch (design) {
            case "kept" -> {
                MemorySource one = new OneRegion(Arena.global(), Bystander.BODY);
                yield () -> build(one, body);
            }
            case "trimmed" -> {
                ArenaSource source = ArenaSource.create();
                yield () -> {
                    build(source, body);
                    source.trim();
                };
            }
            case "pool" -> pooled(SlabSource.create());
            case "pool-huge" ->
                pooled(SlabSource.builder().supplier(new HugePages()).build());
            case "netty-trimmed" -> () -> buildInNetty(body);
            case "arena-each" -> () -> buildInArenas(body);
            default -> throw new IllegalArgumentException("no such design: " + design);
        };
    }

    private static Runnable pooled(SlabSource source) {
        byte[] body = new byte[BODY];
        return () -> {
            build(source, body);
            source.trim();
        };
    }

    private static void build(MemorySource source, byte[] body) {
        SealedBuffer[] built = new SealedBuffer[MESSAGES];
        for (int i = 0; i < MESSAGES; i++) {
            built[i] = BufferBuilder.ofCapacity(source, BODY).put(body).seal();
        }
        for (SealedBuffer each : built) {
            each.close();
        }
    }

    private static void buildInNetty(byte[] body) {
        ByteBuf[] built = new ByteBuf[MESSAGES];
        for (int i = 0; i < MESSAGES; i++) {
            built[i] = PooledByteBufAllocator.DEFAULT.directBuffer(BODY, BODY).writeBytes(body);
        }
        for (ByteBuf each : built) {
            each.release();
        }
        PooledByteBufAllocator.DEFAULT.trimCurrentThreadCache();
    }

    /// A naive one: what FFM offers first.
    private static void buildInArenas(byte[] body) {
        Arena[] built = new Arena[MESSAGES];
        for (int i = 0; i < MESSAGES; i++) {
            built[i] = Arena.ofShared();
            built[i].allocate(BODY, 8).asByteBuffer().put(body);
        }
        for (Arena each : built) {
            each.close();
        }
    }
}
