package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Frames of an 8-byte length and that many bytes, from a plain blocking client over TCP.
class FrameReaderTest {

    private static final long LIMIT = 1 << 24;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final ArenaSource source = ArenaSource.create(budget, handles);
    private final MeteredAllocator allocator = new MeteredAllocator(PooledByteBufAllocator.DEFAULT);
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final BlockingQueue<SealedBuffer> frames = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    private volatile boolean sealFails;
    private Channel server;

    @BeforeEach
    void listen() {
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
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
        try (SocketChannel client = SocketChannel.open(server.localAddress())) {
            while (stream.hasRemaining()) {
                int step = Math.min(stream.remaining(), random.nextBoolean() ? 3 : 100_000);
                client.write(stream.slice(stream.position(), step));
                stream.position(stream.position() + step);
            }
            for (byte[] frame : sent) {
                try (SealedBuffer got = frames.poll(10, TimeUnit.SECONDS)) {
                    assertEquals(-1, got.iovec().mismatch(IoVec.of(MemorySegment.ofArray(frame))));
                    assertTrue(got.iovec().regionCount() <= 1);
                }
            }
        }
        assertEquals(0, CopyTally.snapshot().since(before).copies());
        assertEquals(0, allocator.bytes(), "no cumulation buffer");
    }

    @Test
    void lengthOverTheLimitClosesBeforeMemoryIsTaken() throws Exception {
        long before = budget.total();
        try (SocketChannel client = SocketChannel.open(server.localAddress())) {
            client.write(ByteBuffer.allocate(8).putLong(LIMIT + 1).flip());
            assertEquals("length=16777217", ends.poll(10, TimeUnit.SECONDS));
        }
        assertEquals(before, budget.total());
    }

    @Test
    void connectionLostInsideAFrameGivesTheMemoryBack() throws Exception {
        try (SocketChannel client = SocketChannel.open(server.localAddress())) {
            client.write(ByteBuffer.allocate(1008).putLong(0, 1 << 20));
        }
        assertEquals(
                "connection closed inside a frame: received=1008 announced=1048584", ends.poll(10, TimeUnit.SECONDS));
        for (int wait = 0; budget.used() > 0 && wait < 1000; wait++) {
            Thread.sleep(5);
        }
        assertEquals(0, budget.used());
    }

    @Test
    void sealThatFailsGivesTheMemoryBack() throws Exception {
        sealFails = true;
        try (SocketChannel client = SocketChannel.open(server.localAddress())) {
            client.write(ByteBuffer.allocate(8 + (1 << 20)).putLong(0, 1 << 20));
            assertEquals("cannot seal", ends.poll(10, TimeUnit.SECONDS));
        }
        for (int wait = 0; budget.used() > 0 && wait < 1000; wait++) {
            Thread.sleep(5);
        }
        assertEquals(0, budget.used());
    }

    @Test
    void channelsThatAreNotNioAreRefused() {
        EmbeddedChannel other = new EmbeddedChannel();
        assertEquals(
                "frames are read from NIO sockets only: channel=" + EmbeddedChannel.class.getName(),
                assertThrows(IllegalArgumentException.class, () -> FrameReader.install(other, source, new Lengths()))
                        .getMessage());
        other.close();
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private final class Sealing implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
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
        public void frame(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            frames.add(body);
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
