// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
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

/// One item of 32-bit integers, into memory that is written again and again, and out of it.
///
/// One should see: fixed width next to `copyIn` and `copyOut`, which move the same bytes without turning them
/// round; flex128 at a nanosecond or two per number. The naive `oneByOne` makes an item of each number;
/// `byteBuffer` is the JDK's own bulk put, which turns them round as well; the C libraries are in the goals of
/// the formats. `packWholeLife` takes fresh memory for each item and gives it back.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class IntsBenchmark {

    private static final int MANY = 64;
    private static final int COUNT_BYTES = Integer.BYTES;

    /// An item that any number of threads read.
    @State(Scope.Benchmark)
    public static class Item {

        @Param({"OPAL_DSS", "PMIX_4"})
        WireFormat format;

        @Param({"small", "shuffled", "random"})
        String values;

        @Param("1000")
        int count;

        int[] ints;
        ArenaSource source;
        SealedBuffer buffer;
        SealedBuffer many;

        @Setup
        public void pack() {
            ints = FormatValues.ints(values, count);
            source = ArenaSource.create();
            buffer = packed(source, format, 1, ints);
            many = packed(source, format, MANY, ints);
        }

        @TearDown
        public void free() {
            buffer.close();
            many.close();
            source.close();
        }
    }

    private BufferBuilder builder;
    private Packer packer;
    private Unpacker unpacker;
    private int[] target;
    private MemorySegment memory;
    private ByteBuffer view;

    @Setup
    public void open(Item item) {
        builder = BufferBuilder.ofCapacity(item.source, 16L + 5L * item.count);
        packer = Packer.into(builder, item.format);
        target = new int[item.count];
        memory = Arena.ofShared().allocate(COUNT_BYTES + (long) item.count * Integer.BYTES, Long.BYTES);
        view = ByteBuffer.allocateDirect(COUNT_BYTES + item.count * Integer.BYTES);
    }

    @TearDown
    public void close() {
        builder.close();
    }

    private static SealedBuffer packed(ArenaSource source, WireFormat format, int items, int[] ints) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            Packer packer = Packer.into(builder, format);
            for (int i = 0; i < items; i++) {
                packer.packInts(DataType.INT32, ints, 0, ints.length);
            }
            return builder.seal();
        }
    }

    @Benchmark
    public Packer pack(Item item) {
        builder.truncate(0);
        return packer.packInts(DataType.INT32, item.ints, 0, item.ints.length);
    }

    @Benchmark
    public Packer oneByOne(Item item) {
        builder.truncate(0);
        Packer to = packer;
        for (int value : item.ints) {
            to.packInt32(value);
        }
        return to;
    }

    @Benchmark
    public ByteBuffer byteBuffer(Item item) {
        ByteBuffer to = view.clear();
        to.putInt(item.ints.length);
        to.asIntBuffer().put(item.ints);
        return to;
    }

    @Benchmark
    public long packWholeLife(Item item) {
        try (SealedBuffer buffer = packed(item.source, item.format, 1, item.ints)) {
            return buffer.byteSize();
        }
    }

    @Benchmark
    public int[] unpack(Item item) {
        Unpacker.of(item.buffer, item.format).unpackInts(DataType.INT32, target);
        return target;
    }

    /// The next of many items, by one unpacker for all of them.
    @Benchmark
    public int[] unpackNext(Item item) {
        if (unpacker == null || unpacker.remaining() == 0) {
            unpacker = Unpacker.of(item.many, item.format);
        }
        unpacker.unpackInts(DataType.INT32, target);
        return target;
    }

    /// The bytes of the item, to where it lies behind its count, in the machine's order.
    @Benchmark
    public MemorySegment copyIn(Item item) {
        MemorySegment.copy(item.ints, 0, memory, ValueLayout.JAVA_INT_UNALIGNED, COUNT_BYTES, item.ints.length);
        return memory;
    }

    @Benchmark
    public int[] copyOut() {
        MemorySegment.copy(memory, ValueLayout.JAVA_INT_UNALIGNED, COUNT_BYTES, target, 0, target.length);
        return target;
    }
}
