// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
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
    private static final int RECEIVE_BYTES = 1 << 18;
    private static final MethodHandle MALLOC =
            downcall("malloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle FREE = downcall("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    private static final MethodHandle MALLOPT = downcall(
            "mallopt", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final int M_TRIM_THRESHOLD = -1;
    private static final int M_MMAP_THRESHOLD = -3;
    private static final int DEFAULT_THRESHOLD = 128 << 10;

    @Param({"262144", "4194304"})
    private int size;

    private final Arena arena = Arena.global();
    private final MemorySegment target = arena.allocate(RECEIVE_BYTES);
    private final PosixSocket[] senders = new PosixSocket[FAN_OUT];
    private final PosixSocket[] receivers = new PosixSocket[FAN_OUT];
    private final NativeIoVecCursor[] cursors = new NativeIoVecCursor[FAN_OUT];
    private final MemorySegment[] copies = new MemorySegment[FAN_OUT];
    private final MemorySegment[] entries = new MemorySegment[FAN_OUT];
    private final ArenaSource source = ArenaSource.create();
    private SealedBuffer sealed;
    private NativeIoVec image;

    /// The C library as a process finds it at its start, for good.
    @State(Scope.Benchmark)
    public static class Trimmed {

        @Setup
        public void pin() throws Throwable {
            int mmap = (int) MALLOPT.invokeExact(M_MMAP_THRESHOLD, DEFAULT_THRESHOLD);
            int trim = (int) MALLOPT.invokeExact(M_TRIM_THRESHOLD, DEFAULT_THRESHOLD);
            if (mmap + trim != 2) {
                throw new IllegalStateException("mallopt refused: mmap=" + mmap + " trim=" + trim);
            }
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

    private static MethodHandle downcall(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }

    @Setup
    public void connect() throws IOException {
        byte[] bytes = new byte[size];
        new Random(1).nextBytes(bytes);
        sealed = BufferBuilder.ofCapacity(source, size).put(bytes).seal();
        image = NativeIoVec.of(sealed.iovec(), arena);
        for (int i = 0; i < FAN_OUT; i++) {
            PosixSocket[] pair = PosixSocket.unixPair();
            senders[i] = pair[0];
            receivers[i] = pair[1];
            senders[i].setBlocking(false);
            receivers[i].setBlocking(false);
            cursors[i] = NativeIoVecCursor.of(image, arena, 1);
            entries[i] = arena.allocate(2 * NativeIoVec.ENTRY_BYTES, 8);
        }
    }

    @TearDown
    public void disconnect() {
        for (int i = 0; i < FAN_OUT; i++) {
            senders[i].close();
            receivers[i].close();
        }
        sealed.close();
        source.close();
    }

    @Benchmark
    public void baseline() throws IOException {
        for (int i = 0; i < FAN_OUT; i++) {
            cursors[i].rewind();
            drive(i, cursors[i]);
        }
    }

    @Benchmark
    public void shared() throws IOException {
        SealedBuffer[] sends = sealed.shares(FAN_OUT);
        for (int i = 0; i < FAN_OUT; i++) {
            cursors[i].rewind();
        }
        for (int i = 0; i < FAN_OUT; i++) {
            drive(i, cursors[i]);
            sends[i].close();
        }
    }

    @Benchmark
    public void copied(Trimmed pinned) throws Throwable {
        copyAllThenSend();
    }

    @Benchmark
    public void copiedAsItComes() throws Throwable {
        copyAllThenSend();
    }

    @Benchmark
    public void copiedPooled(Pool pool) throws IOException {
        for (int i = 0; i < FAN_OUT; i++) {
            MemorySegment.copy(sealed.iovec().region(0), 0, pool.slabs[i], 0, size);
        }
        for (int i = 0; i < FAN_OUT; i++) {
            drive(i, cursorOf(i, pool.slabs[i]));
        }
    }

    @Benchmark
    public void copiedInTurn() throws Throwable {
        for (int i = 0; i < FAN_OUT; i++) {
            MemorySegment copy = copy();
            drive(i, cursorOf(i, copy));
            FREE.invokeExact(copy);
        }
    }

    private void copyAllThenSend() throws Throwable {
        for (int i = 0; i < FAN_OUT; i++) {
            copies[i] = copy();
        }
        for (int i = 0; i < FAN_OUT; i++) {
            drive(i, cursorOf(i, copies[i]));
            FREE.invokeExact(copies[i]);
        }
    }

    private MemorySegment copy() throws Throwable {
        MemorySegment copy = ((MemorySegment) MALLOC.invokeExact((long) size)).reinterpret(size);
        MemorySegment.copy(sealed.iovec().region(0), 0, copy, 0, size);
        return copy;
    }

    private NativeIoVecCursor cursorOf(int i, MemorySegment copy) {
        NativeIoVec own = NativeIoVec.of(IoVec.of(copy), (bytes, _) -> entries[i].asSlice(0, bytes));
        return NativeIoVecCursor.of(own, (bytes, _) -> entries[i].asSlice(NativeIoVec.ENTRY_BYTES, bytes), 1);
    }

    private void drive(int i, NativeIoVecCursor cursor) throws IOException {
        while (cursor.remaining() > 0) {
            for (long left = senders[i].sendmsg(cursor); left > 0; ) {
                left -= receivers[i].receive(target);
            }
        }
    }
}
