// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.bench.programs.CMemory;
import io.bulla.bench.programs.OneRegion;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The whole life of a message of 1 KiB: take memory, write four fields and a body of 1000 bytes, seal, give
/// back.
///
/// One should see: the same fill into memory from `malloc` (through the JDK's linker, no zeroing, no safety) as
/// the floor, `sealed` next to it, the allocators of Netty behind, and the naive `arenaEach` hundreds of times
/// behind, for closing a shared arena stops every thread. Larger chunks cost less per buffer, and a forgotten
/// handle keeps a whole one. `baseline` is the fill alone.
///
/// The heap is there and touched before: else most of what is measured is the system's first look at each page of a
/// young generation that grows.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 2,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"})
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class BuildBenchmark {

    private static final int BODY = 1000;
    private static final int SIZE = 24 + BODY;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    @Param("1048576")
    private long chunk;

    private final MemorySegment body = Arena.global().allocate(BODY, 8);
    private final ByteBuffer bodyView = body.asByteBuffer();
    private final ByteBufAllocator pooled = PooledByteBufAllocator.DEFAULT;
    private final ByteBufAllocator adaptive = new AdaptiveByteBufAllocator();
    private ArenaSource source;
    private long number;

    @Setup
    public void open() {
        source = ArenaSource.builder().chunkBytes(chunk).build();
    }

    @TearDown
    public void close() {
        source.close();
    }

    /// The fill alone, into memory that stays.
    @Benchmark
    public MemorySegment baseline(Kept kept) {
        fill(kept.memory);
        return kept.memory;
    }

    @State(Scope.Thread)
    public static class Kept {
        final MemorySegment memory = Arena.global().allocate(SIZE, 8);
    }

    @Benchmark
    public long sealed() {
        try (SealedBuffer buffer = BufferBuilder.ofCapacity(source, SIZE)
                .putInt(1)
                .putLong(number++)
                .putInt(2)
                .putLong(3)
                .put(body)
                .seal()) {
            return buffer.byteSize();
        }
    }

    /// The same over memory that is reused at once, without any care for stale readers: what handles and views
    /// cost.
    @Benchmark
    public long sealedReused(Reused reused) {
        try (SealedBuffer buffer = BufferBuilder.ofCapacity(reused, SIZE)
                .putInt(1)
                .putLong(number++)
                .putInt(2)
                .putLong(3)
                .put(body)
                .seal()) {
            return buffer.byteSize();
        }
    }

    /// One region, handed out again and again.
    @State(Scope.Thread)
    public static class Reused extends OneRegion {
        public Reused() {
            super(Arena.ofShared(), SIZE);
        }
    }

    /// A chunk taken, zeroed and closed again, by this thread: to be divided by the buffers in it.
    @Benchmark
    public void chunkAlone() {
        try (Arena arena = Arena.ofShared()) {
            arena.allocate(chunk, 8);
        }
    }

    /// Size not known before.
    @Benchmark
    public long sealedGrowing() {
        try (SealedBuffer buffer = BufferBuilder.create(source)
                .putInt(1)
                .putLong(number++)
                .putInt(2)
                .putLong(3)
                .put(body)
                .seal()) {
            return buffer.byteSize();
        }
    }

    @Benchmark
    public MemorySegment mallocThenFree() {
        MemorySegment memory = CMemory.malloc(SIZE);
        fill(memory);
        CMemory.free(memory);
        return memory;
    }

    /// What FFM offers first.
    @Benchmark
    public MemorySegment arenaEach() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(SIZE, 8);
            fill(memory);
            return memory;
        }
    }

    @Benchmark
    public int nettyPooled() {
        return netty(pooled);
    }

    @Benchmark
    public int nettyAdaptive() {
        return netty(adaptive);
    }

    private int netty(ByteBufAllocator allocator) {
        ByteBuf buffer = allocator.directBuffer(SIZE);
        buffer.writeInt(1).writeLong(number++).writeInt(2).writeLong(3).writeBytes(bodyView.position(0));
        int size = buffer.readableBytes();
        buffer.release();
        return size;
    }

    private void fill(MemorySegment memory) {
        memory.set(INT, 0, 1);
        memory.set(LONG, 4, number++);
        memory.set(INT, 12, 2);
        memory.set(LONG, 16, 3);
        MemorySegment.copy(body, 0, memory, 24, BODY);
    }
}
