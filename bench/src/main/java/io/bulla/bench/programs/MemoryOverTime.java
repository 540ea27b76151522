// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;

/// What a process keeps resident, beyond what it had before, while it broadcasts and after: every 100 ms a
/// message of 1 MiB to 64 peers that take 300 ms to let go of it; after 3 seconds it rests for 2.
///
/// Prints `millis=250 mebibytes=...` from time to time. One should see: shares at a few messages all the time;
/// copies from `malloc` and pools at 64 times as much, arrays at what the collector lets lie beside that.
/// Afterwards pools and heaps keep theirs, and `malloc` what its thresholds let it, which a JVM moves.
public final class MemoryOverTime {

    public static final int SAMPLE_MILLIS = 250;
    public static final int SAMPLES = 20;

    private static final int BODY = 1 << 20;
    private static final int PEERS = 64;
    private static final int PERIOD_MILLIS = 100;
    private static final int HELD_MILLIS = 300;
    private static final int BUSY_MILLIS = 3000;

    private interface Broadcast {
        /// Queues the message for every peer.
        Runnable letGo();
    }

    private record Queued(long untilMillis, Runnable letGo) {}

    private MemoryOverTime() {}

    public static void main(String[] args) throws IOException {
        Broadcast broadcast = broadcast(args[0], new byte[BODY]);
        Deque<Queued> queue = new ArrayDeque<>();
        long floor = ChunkPrice.resident();
        long start = System.nanoTime();
        int broadcasts = 0;
        int samples = 0;
        while (samples < SAMPLES) {
            long now = (System.nanoTime() - start) / 1_000_000;
            while (!queue.isEmpty() && queue.peek().untilMillis() <= now) {
                queue.poll().letGo().run();
            }
            if (now < BUSY_MILLIS && now >= (long) broadcasts * PERIOD_MILLIS) {
                queue.add(new Queued(now + HELD_MILLIS, broadcast.letGo()));
                broadcasts++;
            }
            if (now >= (samples + 1L) * SAMPLE_MILLIS) {
                samples++;
                System.out.println("millis=" + samples * SAMPLE_MILLIS + " mebibytes="
                        + Math.max(0, ChunkPrice.resident() - floor) / (1 << 20));
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static Broadcast broadcast(String design, byte[] body) {
        return switch (design) {
            case "shares" -> {
                ArenaSource source = ArenaSource.create();
                yield () -> share(source, body);
            }
            case "copy-pooled" -> () -> copyPooled(body);
            case "copy-malloc" -> () -> copyMalloc(body);
            case "copy-heap" -> () -> copyHeap(body);
            default -> throw new IllegalArgumentException("no such design: " + design);
        };
    }

    private static Runnable share(ArenaSource source, byte[] body) {
        try (SealedBuffer message =
                BufferBuilder.ofCapacity(source, BODY).put(body).seal()) {
            SealedBuffer[] sends = message.shares(PEERS);
            return () -> {
                for (SealedBuffer send : sends) {
                    send.close();
                }
            };
        }
    }

    private static Runnable copyPooled(byte[] body) {
        ByteBuf[] sends = new ByteBuf[PEERS];
        for (int i = 0; i < PEERS; i++) {
            sends[i] = PooledByteBufAllocator.DEFAULT.directBuffer(BODY, BODY).writeBytes(body);
        }
        return () -> {
            for (ByteBuf send : sends) {
                send.release();
            }
        };
    }

    private static Runnable copyMalloc(byte[] body) {
        MemorySegment[] sends = new MemorySegment[PEERS];
        for (int i = 0; i < PEERS; i++) {
            sends[i] = CMemory.malloc(BODY);
            MemorySegment.copy(body, 0, sends[i], ValueLayout.JAVA_BYTE, 0, BODY);
        }
        return () -> {
            for (MemorySegment send : sends) {
                CMemory.free(send);
            }
        };
    }

    private static Runnable copyHeap(byte[] body) {
        byte[][] sends = new byte[PEERS][];
        for (int i = 0; i < PEERS; i++) {
            sends[i] = body.clone();
        }
        return () -> {
            for (byte[] send : sends) {
                if (send.length != BODY) {
                    throw new IllegalStateException("bytes got lost: length=" + send.length);
                }
            }
        };
    }
}
