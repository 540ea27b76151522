// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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

/// A cursor after a short write: it moves on by some bytes, and shows the eight entries that are left.
///
/// One should see: `advanceThenWindow` within a few nanoseconds of `baseline`, which copies the same eight
/// entries and knows nothing; `wholeImage`, which hands out the shared image, next to nothing; the naive
/// `entriesAnew`, which asks each region for address and length, as a library without an image does for every
/// call, several times as much; `nettyNioBuffers`, how Netty sets up a gathering write of the same, more than
/// that, and `byteBuffers`, the form for NIO, most, for their views are objects.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class CursorBenchmark {

    private static final int REGIONS = 8;
    private static final int REGION_BYTES = 64;
    private static final int IOV_MAX = 1024;

    private final Arena arena = Arena.global();
    private final IoVec vec = regions();
    private final NativeIoVec image = NativeIoVec.of(vec, arena);
    private final MemorySegment scratch = arena.allocate(REGIONS * NativeIoVec.ENTRY_BYTES, 8);
    private final NativeIoVecCursor cursor = NativeIoVecCursor.of(image, arena, REGIONS);
    private final IoVecCursor views = IoVecCursor.of(vec);

    /// The same eight regions as Netty has them.
    @State(Scope.Thread)
    public static class Composite {

        private final CompositeByteBuf buffer = Unpooled.compositeBuffer(REGIONS);

        @Setup
        public void fill() {
            for (int i = 0; i < REGIONS; i++) {
                buffer.addComponent(true, Unpooled.directBuffer(REGION_BYTES).writeZero(REGION_BYTES));
            }
        }

        @TearDown
        public void free() {
            buffer.release();
        }
    }

    private IoVec regions() {
        MemorySegment[] regions = new MemorySegment[REGIONS];
        for (int i = 0; i < REGIONS; i++) {
            regions[i] = arena.allocate(REGION_BYTES, 8);
        }
        return IoVec.of(regions);
    }

    @Benchmark
    public MemorySegment baseline() {
        MemorySegment.copy(image.entries(), 0, scratch, 0, REGIONS * NativeIoVec.ENTRY_BYTES);
        return scratch;
    }

    @Benchmark
    public MemorySegment wholeImage() {
        cursor.rewind();
        return cursor.window(IOV_MAX, Long.MAX_VALUE);
    }

    @Benchmark
    public MemorySegment advanceThenWindow() {
        cursor.rewind();
        cursor.advance(1);
        return cursor.window(IOV_MAX, Long.MAX_VALUE);
    }

    @Benchmark
    public MemorySegment entriesAnew() {
        for (int i = 0; i < REGIONS; i++) {
            MemorySegment region = vec.region(i);
            long skipped = i == 0 ? 1 : 0;
            scratch.set(ValueLayout.JAVA_LONG, i * NativeIoVec.ENTRY_BYTES, region.address() + skipped);
            scratch.set(ValueLayout.JAVA_LONG, i * NativeIoVec.ENTRY_BYTES + Long.BYTES, region.byteSize() - skipped);
        }
        return scratch;
    }

    @Benchmark
    public Object nettyNioBuffers(Composite netty) {
        return netty.buffer.readerIndex(1).nioBuffers();
    }

    @Benchmark
    public Object byteBuffers() {
        views.rewind();
        views.advance(1);
        return views.window(IOV_MAX, Long.MAX_VALUE);
    }
}
