// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.memfd.HugePages;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/// What stays resident of a burst: two threads build 1 GiB of messages of 1 KiB to 1 MiB, each closes what the
/// other has built, and both do nothing from then on.
///
/// Prints `before bytes=...`, `peak bytes=...` and `after bytes=...`, the medians of some bursts, and of one more,
/// held for two seconds, what is resident from time to time, `millis=250 mebibytes=...`. `after` is one second after
/// the last close, `before` after some small bursts and a rest. `objects` is the floor: the same objects on the
/// heap, but all of their bytes are one and the same memory. One should see: `pool` near that; Netty's pools and
/// `malloc` at what their caches and thresholds keep.
///
/// With `--most N` behind the design there are the bursts only, and what is resident has a minute to come down to
/// `N` times `before`: the status is 1 if it does not, or if the burst cannot be seen in `peak`.
public final class Burst {

    public static final int SAMPLE_MILLIS = 250;
    public static final int SAMPLES = 20;

    private static final long BURST = 1L << 30;
    private static final long HELD_MILLIS = 2_000;
    private static final long SMALL = 64L << 20;
    // as many messages as the bursts have, so that what is compiled for them is compiled before
    private static final int SMALL_ONES = 48;
    private static final int[] SIZES = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
    private static final int THREADS = 2;
    private static final int BURSTS = 3;
    private static final long SECOND = 1_000_000_000;
    private static final byte[] BODY = new byte[SIZES[SIZES.length - 1]];

    private interface Design {
        /// A message of so many bytes.
        ///
        /// @return what lets go of it
        Runnable build(int bytes);
    }

    private final Design design;
    private final ExecutorService[] threads = new ExecutorService[THREADS];

    private Burst(Design design) {
        this.design = design;
        for (int i = 0; i < THREADS; i++) {
            threads[i] = Executors.newSingleThreadExecutor(
                    Thread.ofPlatform().daemon().factory());
        }
    }

    public static void main(String[] args) throws Exception {
        Burst burst = new Burst(design(args[0]));
        for (int i = 0; i < SMALL_ONES; i++) {
            burst.run(SMALL);
        }
        pause(2 * SECOND);
        long before = ChunkPrice.resident();
        double[] peaks = new double[BURSTS];
        double[] after = new double[BURSTS];
        for (int i = 0; i < BURSTS; i++) {
            peaks[i] = burst.run(BURST);
            pause(SECOND);
            after[i] = ChunkPrice.resident();
        }
        long peak = (long) Medians.of(peaks);
        System.out.println("before bytes=" + before);
        System.out.println("peak bytes=" + peak);
        System.out.println("after bytes=" + (long) Medians.of(after));
        boolean good = true;
        if (args.length == 3 && args[1].equals("--most")) {
            good = comesDownTo((long) (Double.parseDouble(args[2]) * before)) && peak >= before + 0.9 * BURST;
        } else {
            burst.sample();
        }
        // threads of the designs' own may be left
        System.exit(good ? 0 : 1);
    }

    private static boolean comesDownTo(long most) throws IOException {
        long start = System.nanoTime();
        long resident = ChunkPrice.resident();
        while (resident > most && System.nanoTime() - start < 60 * SECOND) {
            pause(SECOND / 20);
            resident = ChunkPrice.resident();
        }
        System.out.println("at last bytes=" + resident + " most=" + most);
        return resident <= most;
    }

    /// @return resident bytes while all messages are there
    private long run(long bytes) throws InterruptedException, ExecutionException, IOException {
        List<List<Runnable>> built = results(startInEach(_ -> build(bytes / THREADS)));
        long resident = ChunkPrice.resident();
        letGo(built);
        return resident;
    }

    /// One more burst, over time: prints `millis=250 mebibytes=...` and so on. On a slow machine it is held for
    /// longer than the clock of these lines says, which stops meanwhile.
    private void sample() throws InterruptedException, ExecutionException, IOException {
        long start = System.nanoTime();
        List<Future<List<Runnable>>> built = startInEach(_ -> build(BURST / THREADS));
        sample(start, 0, HELD_MILLIS);
        letGo(results(built));
        sample(System.nanoTime() - 1_000_000 * HELD_MILLIS, HELD_MILLIS, (long) SAMPLES * SAMPLE_MILLIS);
    }

    private static void sample(long start, long from, long to) throws IOException {
        for (long millis = from + SAMPLE_MILLIS; millis <= to; millis += SAMPLE_MILLIS) {
            pause(start + 1_000_000 * millis - System.nanoTime());
            System.out.println("millis=" + millis + " mebibytes=" + ChunkPrice.resident() / (1 << 20));
        }
    }

    private void letGo(List<List<Runnable>> built) throws InterruptedException, ExecutionException {
        results(startInEach(i -> {
            built.get((i + 1) % THREADS).forEach(Runnable::run);
            return null;
        }));
    }

    private interface Part<T> {
        T run(int thread);
    }

    private <T> List<Future<T>> startInEach(Part<T> part) {
        List<Future<T>> started = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            Callable<T> work = () -> part.run(thread);
            started.add(threads[i].submit(work));
        }
        return started;
    }

    private static <T> List<T> results(List<Future<T>> started) throws InterruptedException, ExecutionException {
        List<T> results = new ArrayList<>();
        for (Future<T> each : started) {
            results.add(each.get());
        }
        return results;
    }

    private List<Runnable> build(long bytes) {
        List<Runnable> built = new ArrayList<>();
        long left = bytes;
        for (int i = 0; left > 0; i++) {
            int size = SIZES[i % SIZES.length];
            built.add(design.build(size));
            left -= size;
        }
        return built;
    }

    private static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static Design design(String name) {
        return switch (name) {
            case "pool" -> sealed(SlabSource.create());
            case "pool-huge" ->
                sealed(SlabSource.builder().supplier(new HugePages()).build());
            case "arenas" -> sealed(ArenaSource.create());
            case "objects" -> sealed(new OneRegion(Arena.global(), SIZES[SIZES.length - 1]));
            case "netty-pooled" -> netty(PooledByteBufAllocator.DEFAULT);
            case "netty-adaptive" -> netty(new AdaptiveByteBufAllocator());
            case "malloc" -> Burst::malloc;
            default -> throw new IllegalArgumentException("no such design: " + name);
        };
    }

    private static Design sealed(MemorySource source) {
        return bytes -> {
            SealedBuffer message =
                    BufferBuilder.ofCapacity(source, bytes).put(BODY, 0, bytes).seal();
            return message::close;
        };
    }

    private static Design netty(ByteBufAllocator allocator) {
        return bytes -> {
            ByteBuf message = allocator.directBuffer(bytes, bytes).writeBytes(BODY, 0, bytes);
            return message::release;
        };
    }

    private static Runnable malloc(int bytes) {
        MemorySegment message = CMemory.malloc(bytes);
        MemorySegment.copy(BODY, 0, message, ValueLayout.JAVA_BYTE, 0, bytes);
        return () -> CMemory.free(message);
    }
}
