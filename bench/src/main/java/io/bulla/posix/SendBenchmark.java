// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// One small message in eight regions of 64 bytes into a unix socket.
///
/// Sends come in bursts of 64; after each the same thread takes all of it out at the other end with one `recv`,
/// which is the same for all and a small part of the time.
///
/// One should see: most of it is the kernel's, told by `baseline`, the same 512 bytes from one region; `writev`
/// close to it; `nioGather`, which makes views, checks each of them and writes the entries anew, behind; the
/// naive `writeEach`, a call for each region, several times behind.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class SendBenchmark {

    private static final int REGIONS = 8;
    private static final int REGION_BYTES = 64;
    private static final int BYTES = REGIONS * REGION_BYTES;
    private static final int BURST = 64;

    private final Arena arena = Arena.global();
    private final MemorySegment target = arena.allocate(BURST * BYTES);
    private final IoVec vec = regions();
    private final NativeIoVecCursor cursor = NativeIoVecCursor.of(NativeIoVec.of(vec, arena), arena, REGIONS);
    private final NativeIoVecCursor one =
            NativeIoVecCursor.of(NativeIoVec.of(IoVec.of(arena.allocate(BYTES)), arena), arena, 1);
    private final NativeIoVecCursor[] single = new NativeIoVecCursor[REGIONS];
    private final ArenaSource source = ArenaSource.create();
    private SealedBuffer sealed;
    private PosixSocket sender;
    private PosixSocket receiver;
    private SocketChannel channel;
    private PosixSocket channelReceiver;

    private IoVec regions() {
        MemorySegment[] regions = new MemorySegment[REGIONS];
        for (int i = 0; i < REGIONS; i++) {
            regions[i] = arena.allocate(REGION_BYTES, 8);
        }
        return IoVec.of(regions);
    }

    @Setup
    public void connect() throws IOException {
        SealedBuffer[] parts = new SealedBuffer[REGIONS];
        for (int i = 0; i < REGIONS; i++) {
            single[i] = NativeIoVecCursor.of(NativeIoVec.of(IoVec.of(vec.region(i)), arena), arena, 1);
            parts[i] = BufferBuilder.create(source).put(new byte[REGION_BYTES]).seal();
        }
        sealed = SealedBuffer.concat(parts);
        Path path = Files.createTempDirectory("bulla").resolve("s");
        try (PosixSocket server = PosixSocket.listen(path)) {
            sender = PosixSocket.connect(path);
            receiver = server.accept();
            channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
            channelReceiver = server.accept();
        } finally {
            Files.delete(path);
            Files.delete(path.getParent());
        }
    }

    @TearDown
    public void disconnect() throws IOException {
        sender.close();
        receiver.close();
        channel.close();
        channelReceiver.close();
        sealed.close();
        source.close();
    }

    @Benchmark
    @OperationsPerInvocation(BURST)
    public void baseline() throws IOException {
        for (int i = 0; i < BURST; i++) {
            one.rewind();
            sender.writev(one);
        }
        drain(receiver);
    }

    @Benchmark
    @OperationsPerInvocation(BURST)
    public void writev() throws IOException {
        for (int i = 0; i < BURST; i++) {
            cursor.rewind();
            sender.writev(cursor);
        }
        drain(receiver);
    }

    @Benchmark
    @OperationsPerInvocation(BURST)
    public void writeEach() throws IOException {
        for (int i = 0; i < BURST; i++) {
            for (NativeIoVecCursor each : single) {
                each.rewind();
                sender.writev(each);
            }
            // a socket takes far fewer writes of 64 bytes than bytes
            if (i % REGIONS == REGIONS - 1) {
                drain(receiver, REGIONS * BYTES);
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(BURST)
    public void sendmsg() throws IOException {
        for (int i = 0; i < BURST; i++) {
            cursor.rewind();
            sender.sendmsg(cursor);
        }
        drain(receiver);
    }

    /// A handle for each send, closed by it.
    @Benchmark
    @OperationsPerInvocation(BURST)
    public void sendShare() throws IOException {
        for (int i = 0; i < BURST; i++) {
            sender.moveAndSend(sealed.share());
        }
        drain(receiver);
    }

    @Benchmark
    @OperationsPerInvocation(BURST)
    public void nioGather() throws IOException {
        for (int i = 0; i < BURST; i++) {
            channel.write(vec.asByteBuffers());
        }
        drain(channelReceiver);
    }

    private void drain(PosixSocket from) throws IOException {
        drain(from, BURST * BYTES);
    }

    private void drain(PosixSocket from, long bytes) throws IOException {
        for (long left = bytes; left > 0; ) {
            left -= from.receive(target);
        }
    }
}
