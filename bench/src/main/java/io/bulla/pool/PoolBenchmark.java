// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.bench.programs.CMemory;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.RecordView;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Memory that is used again: taken and given back bare, in the life of a message of 1 KiB, and read behind its
/// stamp.
///
/// One should see: `takeThenGive` a fraction of `mallocThenFree` and a small one of `nettyPooled`; `build` near the
/// fill into memory from `malloc`; reads of five fields through a stamped vector and reader near those of the
/// default source.
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
public class PoolBenchmark {

    private static final int SIZE = 1024;
    private static final int BODY = 1000;

    private final MemorySegment body = Arena.global().allocate(BODY, 8);
    private SlabSource pool;
    private ArenaSource arenas;
    private SealedBuffer stamped;
    private SealedBuffer plain;
    private long number;

    @Setup
    public void open() {
        pool = SlabSource.create();
        arenas = ArenaSource.create();
        stamped = message(pool);
        plain = message(arenas);
    }

    @TearDown
    public void close() {
        stamped.close();
        plain.close();
        pool.close();
        arenas.close();
    }

    @Benchmark
    public Region takeThenGive() {
        Region region = pool.allocate(SIZE);
        region.release();
        return region;
    }

    @Benchmark
    public MemorySegment mallocThenFree() {
        MemorySegment memory = CMemory.malloc(SIZE);
        CMemory.free(memory);
        return memory;
    }

    @Benchmark
    public ByteBuf nettyPooled() {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(SIZE);
        buffer.release();
        return buffer;
    }

    @Benchmark
    public long build() {
        try (SealedBuffer buffer = message(pool)) {
            return buffer.byteSize();
        }
    }

    @Benchmark
    public long buildOnTheDefaultSource() {
        try (SealedBuffer buffer = message(arenas)) {
            return buffer.byteSize();
        }
    }

    @Benchmark
    public long readStamped() {
        return fields(stamped.iovec());
    }

    @Benchmark
    public long readPlain() {
        return fields(plain.iovec());
    }

    @Benchmark
    public long recordStamped() {
        return fields(stamped.iovec().record(0, 26));
    }

    /// One look for all five.
    @Benchmark
    public long recordStampedOnce() {
        RecordView record = stamped.iovec().record(0, 26);
        long sum = fields(record.lent());
        record.verify();
        return sum;
    }

    @Benchmark
    public long readerOverStamped() {
        return fields(BufferReader.of(stamped));
    }

    @Benchmark
    public long readerOverPlain() {
        return fields(BufferReader.of(plain));
    }

    private SealedBuffer message(MemorySource source) {
        return BufferBuilder.ofCapacity(source, 24 + BODY)
                .putInt(1)
                .putLong(number++)
                .putInt(2)
                .putLong(3)
                .put(body)
                .seal();
    }

    private static long fields(IoVec bytes) {
        return bytes.getInt(0) + bytes.getLong(4) + bytes.getInt(12) + bytes.getLong(16) + bytes.getShort(24);
    }

    private static long fields(RecordView record) {
        return record.getInt(0) + record.getLong(4) + record.getInt(12) + record.getLong(16) + record.getShort(24);
    }

    private static long fields(BufferReader reader) {
        return reader.getInt() + reader.getLong() + reader.getInt() + reader.getLong() + reader.getShort();
    }
}
