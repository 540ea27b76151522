// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.RecordView;
import io.bulla.pool.SlabSource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

/// A thousand mixed gets in a row: 200 records of an `int`, a `long`, a `short`, a `double` and a byte, big-endian,
/// by whatever keeps a position.
///
/// One should see: `reader`, which asks its handle and compares with its region's end before each get, no slower than
/// `byteBuffer`, a direct one, which compares with its limit; both near `baseline`, the JDK's own segment read at
/// offsets that the loop knows, and `netty`, which asks the shared count each time, behind all of them. `manyRegions`
/// is the reader over pieces of 256 bytes, where some values straddle two.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class ReaderBenchmark {

    private static final int RECORDS = 200;
    private static final int RECORD = 23;
    private static final int PIECE = 256;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private ArenaSource source;
    private SealedBuffer buffer;
    private SealedBuffer pieces;
    private BufferReader reader;
    private BufferReader piecesReader;
    private SlabSource pool;
    private SealedBuffer pooled;
    private BufferReader pooledReader;
    private MemorySegment segment;
    private MemorySegment[] segments;
    // plain, written once: what a read of reused memory looks at
    private int generation;
    private ByteBuffer direct;
    private ByteBuf netty;

    @Setup
    public void pack() {
        source = ArenaSource.create();
        BufferBuilder builder = BufferBuilder.ofCapacity(source, RECORDS * RECORD);
        for (int i = 0; i < RECORDS; i++) {
            builder.putInt(i * 0x9e3779b1)
                    .putLong(i * 0x9e3779b97f4a7c15L)
                    .putShort((short) i)
                    .putDouble(i / 7.0)
                    .putByte((byte) i);
        }
        buffer = builder.seal();
        pieces = inPieces();
        reader = BufferReader.of(buffer);
        piecesReader = BufferReader.of(pieces);
        pool = SlabSource.create();
        pooled = buffer.copy(pool);
        pooledReader = BufferReader.of(pooled);
        segment = buffer.iovec().region(0);
        segments = IntStream.range(0, pieces.iovec().regionCount())
                .mapToObj(pieces.iovec()::region)
                .toArray(MemorySegment[]::new);
        direct = ByteBuffer.allocateDirect(RECORDS * RECORD).put(buffer.toByteArray());
        netty = PooledByteBufAllocator.DEFAULT.directBuffer(RECORDS * RECORD).writeBytes(buffer.toByteArray());
    }

    private SealedBuffer inPieces() {
        SealedBuffer joined = BufferBuilder.create(source).seal();
        BufferReader from = BufferReader.of(buffer);
        while (from.hasRemaining()) {
            try (SealedBuffer before = joined;
                    SealedBuffer slice = from.share(Math.min(PIECE, from.remaining()));
                    SealedBuffer piece = slice.copy(source)) {
                joined = SealedBuffer.concat(before, piece);
            }
        }
        return joined;
    }

    @TearDown
    public void free() {
        netty.release();
        pieces.close();
        pooled.close();
        pool.close();
        buffer.close();
        source.close();
    }

    @Benchmark
    public long baseline() {
        MemorySegment from = segment;
        long sum = 0;
        for (int i = 0, at = 0; i < RECORDS; i++, at += RECORD) {
            sum += from.get(INT, at)
                    + from.get(LONG, at + 4)
                    + from.get(SHORT, at + 12)
                    + (long) Double.longBitsToDouble(from.get(LONG, at + 14))
                    + from.get(BYTE, at + 22);
        }
        return sum;
    }

    @Benchmark
    public long reader() {
        return sum(reader.position(0));
    }

    /// One that lives as long as its loop.
    @Benchmark
    public long freshReader() {
        return sum(BufferReader.of(buffer));
    }

    @Benchmark
    public long manyRegions() {
        return sum(piecesReader.position(0));
    }

    /// Memory that is used again: each get looks at the stamp.
    @Benchmark
    public long pool() {
        return sum(pooledReader.position(0));
    }

    @Benchmark
    public long record() {
        return sumOfRecords(reader.position(0));
    }

    /// By a reader that lives as long as its loop.
    @Benchmark
    public long recordOfFreshReader() {
        return sumOfRecords(BufferReader.of(buffer));
    }

    /// A record of a slice of the JDK's segment.
    @Benchmark
    public long recordOfSlice() {
        MemorySegment from = segment;
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += sum(RecordView.of(from.asSlice((long) i * RECORD, RECORD)));
        }
        return sum;
    }

    /// Nothing but such slices.
    @Benchmark
    public long baselineSlices() {
        MemorySegment from = segment;
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += sum(from.asSlice((long) i * RECORD, RECORD));
        }
        return sum;
    }

    /// Such slices, each with a fence and a look at a number behind it: what reads of reused memory take at least.
    @Benchmark
    public long baselineSlicesLooked() {
        MemorySegment from = segment;
        int expected = generation;
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += sum(from.asSlice((long) i * RECORD, RECORD));
            // acquire: the reads are above the look, as in RecordView.verify
            VarHandle.acquireFence();
            if (generation != expected) {
                throw new IllegalStateException("not the same memory: generation=" + generation);
            }
        }
        return sum;
    }

    /// Slices of pieces of 256 bytes; a record that lies across two is gathered in memory of its own, since a view
    /// of it may be kept.
    @Benchmark
    public long baselinePieces() {
        MemorySegment[] from = segments;
        long sum = 0;
        int piece = 0;
        long at = 0;
        for (int i = 0; i < RECORDS; i++) {
            MemorySegment here = from[piece];
            long left = here.byteSize() - at;
            if (left >= RECORD) {
                sum += sum(here.asSlice(at, RECORD));
                at += RECORD;
            } else {
                MemorySegment gathered = MemorySegment.ofArray(new byte[RECORD]);
                MemorySegment.copy(here, at, gathered, 0, left);
                at = RECORD - left;
                MemorySegment.copy(from[++piece], 0, gathered, left, at);
                sum += sum(gathered);
            }
        }
        return sum;
    }

    @Benchmark
    public long recordOfManyRegions() {
        return sumOfRecords(piecesReader.position(0));
    }

    /// Each get looks at the stamp.
    @Benchmark
    public long recordOfPool() {
        return sumOfRecords(pooledReader.position(0));
    }

    /// One look for each record.
    @Benchmark
    public long recordOfPoolOnce() {
        BufferReader from = pooledReader.position(0);
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            RecordView record = from.record(RECORD);
            sum += sum(record.lent());
            record.verify();
        }
        return sum;
    }

    private static long sumOfRecords(BufferReader from) {
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += sum(from.record(RECORD));
        }
        return sum;
    }

    private static long sum(RecordView from) {
        return from.getInt(0) + from.getLong(4) + from.getShort(12) + (long) from.getDouble(14) + from.getByte(22);
    }

    private static long sum(MemorySegment from) {
        return from.get(INT, 0)
                + from.get(LONG, 4)
                + from.get(SHORT, 12)
                + (long) Double.longBitsToDouble(from.get(LONG, 14))
                + from.get(BYTE, 22);
    }

    private static long sum(BufferReader from) {
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += from.getInt() + from.getLong() + from.getShort() + (long) from.getDouble() + from.getByte();
        }
        return sum;
    }

    @Benchmark
    public long byteBuffer() {
        ByteBuffer from = direct.clear();
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += from.getInt() + from.getLong() + from.getShort() + (long) from.getDouble() + from.get();
        }
        return sum;
    }

    @Benchmark
    public long netty() {
        ByteBuf from = netty.readerIndex(0);
        long sum = 0;
        for (int i = 0; i < RECORDS; i++) {
            sum += from.readInt() + from.readLong() + from.readShort() + (long) from.readDouble() + from.readByte();
        }
        return sum;
    }
}
