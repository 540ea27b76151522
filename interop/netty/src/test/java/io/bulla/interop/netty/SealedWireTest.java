// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.needs.Piece;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Sealed buffers over real sockets: the bytes that arrive, the copies that were made, the handles that came
/// back.
@ExtendWith(NoLeaks.class)
class SealedWireTest {

    // more than a gathering write takes
    private static final int MANY = 2500;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    private final MeteredAllocator allocator = new MeteredAllocator(PooledByteBufAllocator.DEFAULT);
    private final BlockingQueue<SealedBuffer> frames = new LinkedBlockingQueue<>();
    private EventLoopGroup loops;
    private Channel server;
    private Channel client;

    @AfterEach
    void nothingIsLeft() {
        if (loops != null) {
            client.close().syncUninterruptibly();
            server.close().syncUninterruptibly();
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
        assertEquals(0, handles.open());
        source.close();
    }

    @ParameterizedTest
    @EnumSource(Wires.class)
    void buffersOfAnyNumberOfRegionsLeaveWithoutACopy(Wires wire) throws Exception {
        connect(wire, null);
        CopyTally before = CopyTally.snapshot();
        send(regions(source, 1, 100_000));
        send(regions(source, 3, 70_001));
        send(regions(source, MANY, 13));
        assertEquals(0, allocator.bytes(), "buffers that Netty took to copy into");
        long landed = wire == Wires.NIO ? 0 : 100_000 + 3 * 70_001 + MANY * 13;
        assertEquals(landed, CopyTally.snapshot().since(before).bytes());
    }

    @ParameterizedTest
    @EnumSource(Wires.class)
    void guardedMemoryLeavesWithoutACopy(Wires wire) throws Exception {
        connect(wire, null);
        MemfdSource guarded = guarded();
        send(regions(guarded, 1, 1_000_000));
        send(regions(guarded, 4, 5000));
        assertEquals(0, allocator.bytes(), "buffers that Netty took to copy into");
    }

    @ParameterizedTest
    @EnumSource(Wires.class)
    void tlsEncryptsOutOfTheSealedMemoryItself(Wires wire) throws Exception {
        Reads reads = new Reads();
        SslHandler tls = Tls.clientSide(allocator);
        tls.setWrapDataSize(0);
        connect(wire, tls, reads);
        send(regions(source, 1, 65536), regions(source, 3, 20_001), regions(source, MANY, 13));
        assertEquals(0, reads.copied);
    }

    @ParameterizedTest
    @EnumSource(Wires.class)
    void tlsEncryptsOutOfGuardedMemoryItself(Wires wire) throws Exception {
        MemfdSource guarded = guarded();
        Reads reads = new Reads();
        SslHandler tls = Tls.clientSide(allocator);
        tls.setWrapDataSize(0);
        connect(wire, tls, reads);
        send(regions(guarded, 1, 500_000));
        assertEquals(0, reads.copied);
    }

    private MemfdSource guarded() {
        try {
            return MemfdSource.create(MemoryBudget.unlimited(), handles);
        } catch (UnsupportedOperationException none) {
            Piece.MEMORY_FILES.orSkip(none);
            throw none;
        }
    }

    @Test
    void tlsThatFillsRecordsCopiesTheEndsOfMessages() throws Exception {
        Reads reads = new Reads();
        connect(Wires.NIO, Tls.clientSide(allocator), reads);
        send(regions(source, 1, 65536), regions(source, 1, 65536), regions(source, 1, 65536));
        assertTrue(reads.copied > 0, "the check above would see a copy");
    }

    private void connect(Wires wire, SslHandler tls, Reads... reads) throws Exception {
        loops = new MultiThreadIoEventLoopGroup(1, wire.loops());
        server = wire.server()
                .group(loops)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls != null) {
                            channel.pipeline().addLast(Tls.serverSide(channel.alloc()));
                        }
                        FrameReader.install(channel, source, new Lengths());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        client = wire.client()
                .group(loops)
                .option(ChannelOption.ALLOCATOR, allocator)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls != null) {
                            channel.pipeline().addLast(tls);
                        }
                        channel.pipeline().addLast(reads);
                    }
                })
                .connect(server.localAddress())
                .sync()
                .channel();
        if (tls != null) {
            tls.handshakeFuture().sync();
        }
    }

    /// Sends all at once, so that they meet in the outbound queue, and compares what arrives.
    private void send(SealedBuffer... messages) throws Exception {
        client.eventLoop()
                .submit(() -> {
                    for (SealedBuffer message : messages) {
                        ByteBuf header = Unpooled.directBuffer(8).writeLong(message.byteSize());
                        SealedWrite.share(client, header, message);
                    }
                })
                .sync();
        for (SealedBuffer message : messages) {
            try (SealedBuffer got = frames.poll(20, TimeUnit.SECONDS)) {
                assertEquals(-1, got.iovec().mismatch(message.iovec()));
            }
            message.close();
        }
    }

    private static SealedBuffer regions(MemorySource source, int count, int bytesEach) {
        SealedBuffer[] parts = new SealedBuffer[count];
        Random random = new Random(count);
        byte[] bytes = new byte[bytesEach];
        for (int i = 0; i < count; i++) {
            random.nextBytes(bytes);
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytesEach)) {
                parts[i] = builder.put(bytes).seal();
            }
        }
        SealedBuffer all = SealedBuffer.concat(parts);
        for (SealedBuffer part : parts) {
            part.close();
        }
        assertEquals(count, all.iovec().regionCount());
        return all;
    }

    private final class Lengths implements FrameFormat {

        @Override
        public int headerBytes() {
            return 8;
        }

        @Override
        public long bodyBytes(ByteBuffer header) {
            return header.getLong(0);
        }

        @Override
        public void frameMoved(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            frames.add(body);
        }
    }
}
