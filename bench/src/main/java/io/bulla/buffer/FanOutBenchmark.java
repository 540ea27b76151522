// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
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
import org.openjdk.jmh.infra.Blackhole;

/// One message handed to `fanOut` sends and let go by all of them, without a kernel: all sends are queued first,
/// then all complete, as when the peers are slow.
///
/// What one should see: `shared` costs the same at every size, and so do Netty's `nettyRetainedDuplicate` and a
/// `byteStringShared` of protobuf, which has nothing to let go of; `copyPooled`, the honest form of
/// copy-per-send, grows with the size; the naive `copyHeap` grows faster, for it also zeroes and collects, and
/// so does `byteStringCopied`. `baseline` queues one object for all and does nothing else.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class FanOutBenchmark {

    @Param({"1024", "65536", "1048576"})
    private int size;

    @Param({"1", "16", "64"})
    private int fanOut;

    private final ArenaSource source = ArenaSource.create();
    private SealedBuffer sealed;
    private ByteBuf netty;
    private byte[] array;
    private ByteString byteString;
    private Object[] queue;

    @Setup
    public void pack() {
        byte[] bytes = new byte[size];
        new Random(1).nextBytes(bytes);
        array = bytes;
        byteString = ByteString.copyFrom(bytes);
        sealed = BufferBuilder.ofCapacity(source, size).put(bytes).seal();
        netty = PooledByteBufAllocator.DEFAULT.directBuffer(size, size).writeBytes(bytes);
        queue = new Object[fanOut];
    }

    @TearDown
    public void free() {
        sealed.close();
        netty.release();
        source.close();
    }

    @Benchmark
    public void baseline(Blackhole sent) {
        for (int i = 0; i < fanOut; i++) {
            queue[i] = sealed;
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
        }
    }

    @Benchmark
    public void shared(Blackhole sent) {
        SealedBuffer[] sends = sealed.shares(fanOut);
        for (int i = 0; i < fanOut; i++) {
            queue[i] = sends[i].iovec().asByteBuffers();
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
            sends[i].close();
        }
    }

    @Benchmark
    public void copyHeap(Blackhole sent) {
        MemorySegment from = sealed.iovec().region(0);
        for (int i = 0; i < fanOut; i++) {
            byte[] copy = new byte[size];
            MemorySegment.copy(from, 0, MemorySegment.ofArray(copy), 0, size);
            queue[i] = ByteBuffer.wrap(copy);
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
        }
    }

    /// An immutable value on the heap, which the collector keeps while it is reachable.
    @Benchmark
    public void byteStringShared(Blackhole sent) {
        for (int i = 0; i < fanOut; i++) {
            queue[i] = byteString.asReadOnlyByteBuffer();
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
        }
    }

    /// As it comes about where an array is at hand.
    @Benchmark
    public void byteStringCopied(Blackhole sent) {
        for (int i = 0; i < fanOut; i++) {
            queue[i] = ByteString.copyFrom(array).asReadOnlyByteBuffer();
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
        }
    }

    @Benchmark
    public void copyPooled(Blackhole sent) {
        for (int i = 0; i < fanOut; i++) {
            queue[i] = PooledByteBufAllocator.DEFAULT.directBuffer(size, size).writeBytes(netty, 0, size);
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
            ((ByteBuf) queue[i]).release();
        }
    }

    @Benchmark
    public void nettyRetainedDuplicate(Blackhole sent) {
        for (int i = 0; i < fanOut; i++) {
            ByteBuf mine = netty.retainedDuplicate();
            sent.consume(mine.nioBuffer());
            queue[i] = mine;
        }
        for (int i = 0; i < fanOut; i++) {
            sent.consume(queue[i]);
            ((ByteBuf) queue[i]).release();
        }
    }
}
