// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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

/// What the life of a message of 1 KiB takes at least in Java, with nothing of Bulla, where each byte is handed out
/// once and a late reader meets old bytes or an exception (ADR 6): a shared arena for each 4 MiB, taken in blocks of
/// 256 KiB and closed by another thread, a slice, its read-only view and two objects that others may see (who writes,
/// the handle), the bytes, and one atomic step. No bound is asked for, and one thread takes memory.
///
/// One should see: `life` below Bulla's `sealed`, and not far below; far above `malloc`'s, whose bytes are warm.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 2,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"})
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class BuildFloorBenchmark {

    private static final int SIZE = 1024;
    private static final int BODY = 1000;
    private static final long CHUNK = 4 << 20;
    private static final long BLOCK = 256 << 10;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final VarHandle HOLDERS;

    static {
        try {
            HOLDERS = MethodHandles.lookup().findVarHandle(Chunk.class, "holders", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final class Chunk {

        private final Arena arena = Arena.ofShared();
        // the messages, and who takes memory
        private long holders = 1 + CHUNK / SIZE;
    }

    private record Writer(MemorySegment memory, Chunk chunk) {}

    private record Handle(MemorySegment memory, Chunk chunk) {}

    private final MemorySegment body = Arena.global().allocate(BODY, 8);
    private final ConcurrentLinkedQueue<Chunk> closing = new ConcurrentLinkedQueue<>();
    private Thread closer;
    private Chunk chunk;
    private MemorySegment block = MemorySegment.NULL;
    private long taken;
    private long number;
    // others may see them, so they are objects
    private Writer writer;
    private Handle handle;

    @Setup
    public void open() {
        chunk = new Chunk();
        closer = Thread.ofPlatform().daemon().start(this::close);
    }

    private void close() {
        while (!Thread.interrupted()) {
            Chunk one = closing.poll();
            if (one == null) {
                LockSupport.park();
            } else {
                one.arena.close();
            }
        }
    }

    @TearDown
    public void end() throws InterruptedException {
        closer.interrupt();
        closer.join();
        closing.forEach(each -> each.arena.close());
        chunk.arena.close();
    }

    @Benchmark
    public long life() {
        Chunk from = chunk;
        long at = taken % BLOCK;
        if (at == 0) {
            from = nextBlock();
        }
        taken += SIZE;
        writer = new Writer(block.asSlice(at, SIZE), from);
        MemorySegment memory = writer.memory;
        memory.set(INT, 0, 1);
        memory.set(LONG, 4, number++);
        memory.set(INT, 12, 2);
        memory.set(LONG, 16, 3);
        MemorySegment.copy(body, 0, memory, 24, BODY);
        handle = new Handle(memory.asReadOnly(), writer.chunk);
        long size = handle.memory.byteSize();
        leave(handle.chunk);
        return size;
    }

    private Chunk nextBlock() {
        if (taken == CHUNK) {
            leave(chunk);
            chunk = new Chunk();
            taken = 0;
        }
        block = chunk.arena.allocate(BLOCK, 8);
        return chunk;
    }

    private void leave(Chunk from) {
        if ((long) HOLDERS.getAndAdd(from, -1L) == 1) {
            closing.add(from);
            LockSupport.unpark(closer);
        }
    }
}
