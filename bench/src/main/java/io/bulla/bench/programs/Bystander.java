// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// What a thread that only reads pays for arenas that are closed beside it: closing one is a handshake with every
/// thread, and throws the reader's frame back to the interpreter if it is in the middle of an access.
///
/// Prints nanoseconds per message of five fields, the mean over two seconds, while another thread builds and
/// closes messages of 1 KiB in chunks of the given size; 0 for a source that reuses one region and closes
/// nothing.
public final class Bystander {

    static final int BODY = 1024;
    private static final int READS = 100_000;
    // several, or the compiler would read one message once
    private static final int MESSAGES = 64;
    private static final long WARMUP_NANOS = 1_000_000_000;
    private static final long NANOS = 2_000_000_000;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static volatile boolean done;

    private Bystander() {}

    public static void main(String[] args) throws InterruptedException {
        long chunk = Long.parseLong(args[0]);
        MemorySource busy = chunk == 0
                ? new OneRegion(Arena.global(), BODY)
                : ArenaSource.builder().chunkBytes(chunk).build();
        Thread builder = Thread.ofPlatform().daemon().start(() -> build(busy));
        try (ArenaSource source = ArenaSource.create()) {
            SealedBuffer[] messages = messages(source);
            read(messages, WARMUP_NANOS);
            System.out.println(read(messages, NANOS));
            for (SealedBuffer message : messages) {
                message.close();
            }
        }
        done = true;
        builder.join();
    }

    static SealedBuffer[] messages(MemorySource source) {
        SealedBuffer[] messages = new SealedBuffer[MESSAGES];
        for (int i = 0; i < MESSAGES; i++) {
            messages[i] = BufferBuilder.create(source)
                    .putInt(1)
                    .putLong(2)
                    .putInt(3)
                    .putLong(4)
                    .putInt(5)
                    .seal();
        }
        return messages;
    }

    private static double read(SealedBuffer[] messages, long nanos) {
        long start = System.nanoTime();
        long count = 0;
        long sum = 0;
        while (System.nanoTime() - start < nanos) {
            for (int i = 0; i < READS; i++) {
                sum += fields(messages[i % MESSAGES]);
            }
            count += READS;
        }
        if (sum != 15 * count) {
            throw new IllegalStateException("bytes got lost: sum=" + sum);
        }
        return (double) (System.nanoTime() - start) / count;
    }

    /// 15, whichever it is.
    static long fields(SealedBuffer message) {
        return message.iovec().get(INT, 0)
                + message.iovec().get(LONG, 4)
                + message.iovec().get(INT, 12)
                + message.iovec().get(LONG, 16)
                + message.iovec().get(INT, 24);
    }

    private static void build(MemorySource source) {
        byte[] body = new byte[BODY];
        while (!done) {
            BufferBuilder.ofCapacity(source, BODY).put(body).seal().close();
        }
    }
}
