// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

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
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// A cursor after a short write: it moves on by some bytes, and shows the eight entries that are left.
///
/// One should see: `advanceThenWindow` within a few nanoseconds of `baseline`, which copies the same eight
/// entries and knows nothing; `wholeImage`, which hands out the shared image, next to nothing; `byteBuffers`, the
/// form for NIO, several times as much, for its views are objects.
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
    public Object byteBuffers() {
        views.rewind();
        views.advance(1);
        return views.window(IOV_MAX, Long.MAX_VALUE);
    }
}
