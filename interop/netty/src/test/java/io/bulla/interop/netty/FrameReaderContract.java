// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Frames of an 8-byte length and that many bytes, from a blocking client over TCP: however they land.
@ExtendWith(NoLeaks.class)
abstract class FrameReaderContract {

    private static final long LIMIT = 1 << 24;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final ArenaSource source = ArenaSource.create(budget, handles);
    private final MeteredAllocator allocator = new MeteredAllocator(PooledByteBufAllocator.DEFAULT);
    private final Wires wire;
    private final boolean tls;
    private EventLoopGroup loops;
    private final BlockingQueue<SealedBuffer> frames = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    private volatile boolean sealFails;
    private volatile boolean refused;
    private volatile boolean closesAfterOne;
    private Channel server;

    FrameReaderContract(Wires wire, boolean tls) {
        this.wire = wire;
        this.tls = tls;
    }

    private boolean landsStraight() {
        return wire == Wires.NIO && !tls;
    }

    @BeforeEach
    void listen() {
        loops = new MultiThreadIoEventLoopGroup(1, wire.loops());
        server = wire.server()
                .group(loops)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls) {
                            channel.pipeline().addLast(Tls.serverSide(channel.alloc()));
                        }
                        FrameReader.install(channel, new Sealing(), new Lengths());
                        channel.pipeline().addLast(new Ends());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    @AfterEach
    void nothingIsLeft() {
        if (server == null) {
            return;
        }
        server.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        assertEquals(0, handles.open());
        source.close();
    }

    @Test
    void framesArriveWholeHoweverTheyAreCut() throws Exception {
        Random random = new Random(42);
        byte[][] sent = {bytes(0), bytes(1), bytes(700_000), bytes(0), bytes(3), bytes(FrameReader.STEP)};
        ByteBuffer stream = ByteBuffer.allocate(3_000_000);
        for (byte[] frame : sent) {
            stream.putLong(frame.length).put(frame);
        }
        stream.flip();
        CopyTally before = CopyTally.snapshot();
        try (Socket client = connect()) {
            while (stream.hasRemaining()) {
                int step = Math.min(stream.remaining(), random.nextBoolean() ? 3 : 100_000);
                client.getOutputStream().write(stream.array(), stream.position(), step);
                stream.position(stream.position() + step);
            }
            for (byte[] frame : sent) {
                try (SealedBuffer got = frames.poll(60, TimeUnit.SECONDS)) {
                    assertEquals(-1, got.iovec().mismatch(IoVec.of(MemorySegment.ofArray(frame))));
                    assertTrue(got.iovec().regionCount() <= 1);
                }
            }
        }
        CopyTally copied = CopyTally.snapshot().since(before);
        if (landsStraight()) {
            assertEquals(new CopyTally(0, 0), copied);
            assertEquals(0, allocator.bytes(), "no cumulation buffer");
        } else {
            assertEquals(Stream.of(sent).mapToLong(frame -> frame.length).sum(), copied.bytes(), "one copy each");
        }
    }

    @Test
    void lengthOverTheLimitClosesBeforeMemoryIsTaken() throws Exception {
        long before = budget.total();
        try (Socket client = connect()) {
            client.getOutputStream().write(header(LIMIT + 1));
            assertEquals("length=16777217", ends.poll(60, TimeUnit.SECONDS));
        }
        assertEquals(before, budget.total());
    }

    @Test
    void connectionThatEndsAtAnyByteOfAFrameGivesTheMemoryBack() throws Exception {
        byte[] frame = Arrays.copyOf(header(1 << 20), 20);
        for (int cut = 1; cut < frame.length; cut++) {
            try (Socket client = connect()) {
                client.getOutputStream().write(frame, 0, cut);
            }
            assertEquals(
                    "connection closed inside a frame: received=" + cut + " announced=" + (cut < 8 ? "?" : "1048584"),
                    ends.poll(60, TimeUnit.SECONDS));
        }
        assertMemoryIsBack();
        assertTrue(frames.isEmpty());
    }

    @Test
    void sealThatFailsGivesTheMemoryBack() throws Exception {
        sealFails = true;
        try (Socket client = connect()) {
            client.getOutputStream()
                    .write(ByteBuffer.allocate(8 + (1 << 20))
                            .putLong(0, 1 << 20)
                            .array());
            assertEquals("cannot seal", ends.poll(60, TimeUnit.SECONDS));
        }
        assertMemoryIsBack();
    }

    @Test
    void sourceWithoutMemoryEndsTheConnectionOnly() throws Exception {
        refused = true;
        try (Socket client = connect()) {
            client.getOutputStream().write(Arrays.copyOf(header(100), 108));
            assertEquals("no memory", ends.poll(60, TimeUnit.SECONDS));
            assertEquals(-1, client.getInputStream().read());
        }
        refused = false;
        try (Socket client = connect()) {
            client.getOutputStream().write(Arrays.copyOf(header(100), 108));
            frames.poll(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void framesBehindTheOneThatClosedTheChannelAreDropped() throws Exception {
        closesAfterOne = true;
        try (Socket client = connect()) {
            client.getOutputStream().write(new byte[8 * 1000]);
            assertEquals(-1, client.getInputStream().read());
        } catch (SocketException reset) {
            // some of what was sent was never read
        }
        frames.poll(60, TimeUnit.SECONDS).close();
        assertNull(frames.poll(100, TimeUnit.MILLISECONDS));
    }

    private Socket connect() throws Exception {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        Socket client = tls ? Tls.connect(address) : new Socket(address.getAddress(), address.getPort());
        client.setTcpNoDelay(true);
        client.setSoTimeout(60_000);
        return client;
    }

    private void assertMemoryIsBack() throws InterruptedException {
        for (int wait = 0; budget.used() > 0 && wait < 12_000; wait++) {
            Thread.sleep(5);
        }
        assertEquals(0, budget.used());
    }

    private static byte[] header(long length) {
        return ByteBuffer.allocate(8).putLong(length).array();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private final class Sealing implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            if (refused) {
                throw new IllegalStateException("no memory");
            }
            return source.allocate(byteSize);
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            if (sealFails) {
                throw new IllegalStateException("cannot seal");
            }
            return source.seal(region, used);
        }

        @Override
        public LeaseTrace trace() {
            return source.trace();
        }
    }

    private final class Lengths implements FrameFormat {

        @Override
        public int headerBytes() {
            return 8;
        }

        @Override
        public long bodyBytes(ByteBuffer header) throws IOException {
            long length = header.getLong(0);
            if (length > LIMIT) {
                throw new IOException("length=" + length);
            }
            return length;
        }

        @Override
        public void frameMoved(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            frames.add(body);
            if (closesAfterOne) {
                context.close();
            }
        }
    }

    private final class Ends extends ChannelInboundHandlerAdapter {

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            ends.add(cause.getMessage());
            context.close();
        }
    }
}
