// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

/// Five fields of a message that lies in cache.
///
/// One should see: a handle that is asked before every field (`checked`) costs little more than one that does
/// not look whether it is open (`unchecked`), since the flag is a plain read of an object that is at hand; and
/// both lie near `baseline`, the JDK's own segment, which checks that its arena lives. The naive `counted` asks
/// the shared count before every field and pays for each of them, since the count may change at any time; `netty`,
/// which does the same, and a `byteBuffer`, which keeps no other memory alive, are what programs read from
/// today.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class ReadBenchmark {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /// What a handle would be that cannot be closed.
    private record Unchecked(IoVec iovec) {}

    private ArenaSource source;
    private SealedBuffer buffer;
    private Unchecked unchecked;
    private MemorySegment segment;
    private final AtomicInteger count = new AtomicInteger(1);
    private ByteBuf netty;
    private ByteBuffer view;

    @Setup
    public void pack() {
        source = ArenaSource.create();
        buffer = BufferBuilder.create(source)
                .putInt(1)
                .putLong(2)
                .putInt(3)
                .putLong(4)
                .putByte((byte) 5)
                .seal();
        unchecked = new Unchecked(buffer.iovec());
        segment = buffer.iovec().region(0);
        view = buffer.iovec().asByteBuffers()[0];
        netty = PooledByteBufAllocator.DEFAULT.directBuffer(32).writeBytes(view.duplicate());
    }

    @TearDown
    public void free() {
        netty.release();
        buffer.close();
        source.close();
    }

    @Benchmark
    public long baseline() {
        return segment.get(INT, 0)
                + segment.get(LONG, 4)
                + segment.get(INT, 12)
                + segment.get(LONG, 16)
                + segment.get(BYTE, 24);
    }

    /// A count that others change, looked at before each field.
    @Benchmark
    public long counted() {
        return alive().get(INT, 0)
                + alive().get(LONG, 4)
                + alive().get(INT, 12)
                + alive().get(LONG, 16)
                + alive().get(BYTE, 24);
    }

    private MemorySegment alive() {
        // acquire: what a reader needs who has no handle of its own
        if (count.getAcquire() == 0) {
            throw new IllegalStateException("released");
        }
        return segment;
    }

    @Benchmark
    public long netty() {
        return netty.getInt(0) + netty.getLong(4) + netty.getInt(12) + netty.getLong(16) + netty.getByte(24);
    }

    @Benchmark
    public long byteBuffer() {
        return view.getInt(0) + view.getLong(4) + view.getInt(12) + view.getLong(16) + view.get(24);
    }

    @Benchmark
    public long unchecked() {
        return unchecked.iovec().get(INT, 0)
                + unchecked.iovec().get(LONG, 4)
                + unchecked.iovec().get(INT, 12)
                + unchecked.iovec().get(LONG, 16)
                + unchecked.iovec().get(BYTE, 24);
    }

    @Benchmark
    public long checked() {
        return buffer.iovec().get(INT, 0)
                + buffer.iovec().get(LONG, 4)
                + buffer.iovec().get(INT, 12)
                + buffer.iovec().get(LONG, 16)
                + buffer.iovec().get(BYTE, 24);
    }
}
