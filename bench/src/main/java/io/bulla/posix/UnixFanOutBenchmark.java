// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.bench.fanout.UnixPeers;
import io.bulla.bench.programs.CMemory;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.NativeIoVecCursor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
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

/// One message to 64 peers over unix sockets: all sends are queued first, as a daemon does whose loop gets to
/// them later, then each is driven to its end.
///
/// The same thread takes the bytes out at the other end, window by window, into memory that stays in the cache:
/// what the receivers cost is in every number.
///
/// One should see: `shared` next to `baseline`, which is the kernel's own work and nothing else. Copies stand on
/// what the C library does with freed memory:
/// - `copied`: it gives it back, so every page of 64 live copies is touched for the first time. A C program with
///   glibc's defaults sees this in every round. In a JVM, whose own use of `malloc` moves glibc's thresholds, it
///   comes and goes from fork to fork, so it is pinned: the two thresholds are set to their documented defaults.
/// - `copiedAsItComes`: nothing is pinned.
/// - `copiedPooled`: 64 copies in memory that is always there, the best that a copy can do, and the ratio to
///   quote. The kernel's two copies, in and out, are the floor for both, so sharing cannot win much more than
///   one copy in three, but for what the caches add.
/// - `copiedInTurn`: as it comes, and each copy is sent and freed before the next one is made.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 3, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class UnixFanOutBenchmark {

    private static final int FAN_OUT = 64;

    @Param({"262144", "4194304"})
    private int size;

    private final NativeIoVecCursor[] cursors = new NativeIoVecCursor[FAN_OUT];
    private final MemorySegment[] copies = new MemorySegment[FAN_OUT];
    private final ArenaSource source = ArenaSource.create();
    private UnixPeers peers;
    private SealedBuffer sealed;

    /// The C library as a process finds it at its start, for good.
    @State(Scope.Benchmark)
    public static class Trimmed {

        @Setup
        public void pin() {
            CMemory.pinThresholds();
        }
    }

    /// Memory for every copy, always there.
    @State(Scope.Thread)
    public static class Pool {

        private final MemorySegment[] slabs = new MemorySegment[FAN_OUT];

        @Setup
        public void fill(UnixFanOutBenchmark benchmark) {
            for (int i = 0; i < FAN_OUT; i++) {
                slabs[i] = Arena.global().allocate(benchmark.size);
            }
        }
    }

    @Setup
    public void connect() throws IOException {
        byte[] bytes = new byte[size];
        new Random(1).nextBytes(bytes);
        sealed = BufferBuilder.ofCapacity(source, size).put(bytes).seal();
        peers = UnixPeers.connect(FAN_OUT);
        for (int i = 0; i < FAN_OUT; i++) {
            cursors[i] = peers.cursorOf(sealed.iovec());
        }
    }

    @TearDown
    public void disconnect() {
        peers.close();
        sealed.close();
        source.close();
    }

    @Benchmark
    public void baseline() throws IOException {
        for (int i = 0; i < FAN_OUT; i++) {
            cursors[i].rewind();
            peers.drive(i, cursors[i]);
        }
    }

    @Benchmark
    public void shared() throws IOException {
        SealedBuffer[] sends = sealed.shares(FAN_OUT);
        for (int i = 0; i < FAN_OUT; i++) {
            cursors[i].rewind();
        }
        for (int i = 0; i < FAN_OUT; i++) {
            peers.drive(i, cursors[i]);
            sends[i].close();
        }
    }

    @Benchmark
    public void copied(Trimmed pinned) throws IOException {
        copyAllThenSend();
    }

    @Benchmark
    public void copiedAsItComes() throws IOException {
        copyAllThenSend();
    }

    @Benchmark
    public void copiedPooled(Pool pool) throws IOException {
        for (int i = 0; i < FAN_OUT; i++) {
            MemorySegment.copy(sealed.iovec().region(0), 0, pool.slabs[i], 0, size);
        }
        for (int i = 0; i < FAN_OUT; i++) {
            peers.drive(i, peers.cursorOf(i, pool.slabs[i]));
        }
    }

    @Benchmark
    public void copiedInTurn() throws IOException {
        for (int i = 0; i < FAN_OUT; i++) {
            MemorySegment copy = copy();
            peers.drive(i, peers.cursorOf(i, copy));
            CMemory.free(copy);
        }
    }

    private void copyAllThenSend() throws IOException {
        for (int i = 0; i < FAN_OUT; i++) {
            copies[i] = copy();
        }
        for (int i = 0; i < FAN_OUT; i++) {
            peers.drive(i, peers.cursorOf(i, copies[i]));
            CMemory.free(copies[i]);
        }
    }

    private MemorySegment copy() {
        MemorySegment copy = CMemory.malloc(size);
        MemorySegment.copy(sealed.iovec().region(0), 0, copy, 0, size);
        return copy;
    }
}
