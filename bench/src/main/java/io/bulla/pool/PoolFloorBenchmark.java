// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// What the life of a message of 1 KiB in reused memory takes at least in Java, with nothing of Bulla: a place off a
/// stack that no other thread sees, three objects that others may see (who writes, the region, the handle), the
/// bytes, one atomic step, and the place back. No bound is asked for, no stamp, no other thread's return.
///
/// `take` is such a place as a region object, taken and put back, with nothing between.
///
/// One should see: `life` below Bulla's `build`, and not far below; `take` below `takeThenGive`.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 2,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"})
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class PoolFloorBenchmark {

    private static final int SIZE = 1024;
    private static final int BODY = 1000;
    private static final int PLACES = 64;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final VarHandle HOLDERS;

    static {
        try {
            HOLDERS = MethodHandles.lookup().findVarHandle(Taken.class, "holders", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final class Taken {

        private final MemorySegment memory;
        private final int place;
        private int holders = 1;

        Taken(MemorySegment memory, int place) {
            this.memory = memory;
            this.place = place;
        }
    }

    private static final class Writer {

        private final Taken region;
        private long size;

        Writer(Taken region) {
            this.region = region;
        }

        Writer putInt(int value) {
            region.memory.set(INT, size, value);
            size += Integer.BYTES;
            return this;
        }

        Writer putLong(long value) {
            region.memory.set(LONG, size, value);
            size += Long.BYTES;
            return this;
        }

        Writer put(MemorySegment bytes) {
            MemorySegment.copy(bytes, 0, region.memory, size, bytes.byteSize());
            size += bytes.byteSize();
            return this;
        }
    }

    private record Handle(Taken region, long byteSize) {}

    private final MemorySegment body = Arena.global().allocate(BODY, 8);
    private final MemorySegment[] places = new MemorySegment[PLACES];
    private final int[] free = new int[PLACES];
    private int top;
    private long number;
    // others may see them, so they are objects
    private Writer writer;
    private Handle handle;

    /// Makes the places.
    public PoolFloorBenchmark() {
        MemorySegment slab = Arena.global().allocate((long) PLACES * SIZE, SIZE);
        for (int i = 0; i < PLACES; i++) {
            places[i] = slab.asSlice((long) i * SIZE, SIZE);
            free[top++] = i;
        }
    }

    @Benchmark
    public Object take() {
        int place = free[--top];
        Taken region = new Taken(places[place], place);
        free[top++] = region.place;
        return region;
    }

    @Benchmark
    public long life() {
        int place = free[--top];
        writer = new Writer(new Taken(places[place], place));
        writer.putInt(1).putLong(number++).putInt(2).putLong(3).put(body);
        handle = new Handle(writer.region, writer.size);
        long size = handle.byteSize;
        Taken region = handle.region;
        if ((int) HOLDERS.getAndAdd(region, -1) == 1) {
            free[top++] = region.place;
        }
        return size;
    }
}
