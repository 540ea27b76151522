// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.heap.HeapCost;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a write costs of the heap once it is compiled: handle, promise and buffer, whatever the number of regions.
class SealedWriteAllocationTest {

    private final ArenaSource memory = ArenaSource.create();

    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "2, false", "2, true"})
    void writeTakesAtMost200Bytes(int regions, boolean headed) throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel();
        // not watched for leaks, which would be most of what is measured
        ByteBuf header =
                new UnpooledByteBufAllocator(true, true).directBuffer(4).writeInt(0xcafe);
        try (SealedBuffer message = message(regions)) {
            atMost200Bytes(() -> {
                SealedWrite.share(channel, headed ? header.retain() : Unpooled.EMPTY_BUFFER, message);
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        header.release();
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "2, false", "2, true"})
    void writeThatTakesTheHandleTakesAtMost200Bytes(int regions, boolean headed) throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel();
        ByteBuf header =
                new UnpooledByteBufAllocator(true, true).directBuffer(4).writeInt(0xcafe);
        try (SealedBuffer message = message(regions)) {
            atMost200Bytes(() -> {
                SealedWrite.move(channel, headed ? header.retain() : Unpooled.EMPTY_BUFFER, message.share());
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        header.release();
        channel.finishAndReleaseAll();
    }

    /// What the caller's thread takes, and leaves to the loop; not what the transport takes there.
    @ParameterizedTest
    @CsvSource({"1, false", "1, true", "2, false", "2, true"})
    void writeFromAnotherThreadTakesAtMost200BytesThere(int regions, boolean moves) throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (SealedBuffer message = message(regions)) {
            Channel server = bound(loops);
            Channel channel = connected(loops, server.localAddress());
            atMost200Bytes(() -> {
                ChannelFuture written = moves
                        ? SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, message.share())
                        : SealedWrite.share(channel, Unpooled.EMPTY_BUFFER, message);
                while (!written.isDone()) {
                    Thread.onSpinWait();
                }
            });
            channel.close().sync();
            server.close().sync();
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static Channel bound(EventLoopGroup loops) throws InterruptedException {
        return new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext from, Object bytes) {
                        ReferenceCountUtil.release(bytes);
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
    }

    private static Channel connected(EventLoopGroup loops, SocketAddress to) throws InterruptedException {
        return new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(to)
                .sync()
                .channel();
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void writeOfAByteBufTakesAtMost200Bytes(int regions) throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel();
        try (SealedBuffer message = message(regions)) {
            atMost200Bytes(() -> {
                channel.writeAndFlush(SealedByteBuf.share(message));
                ReferenceCountUtil.release(channel.readOutbound());
            });
        }
        channel.finishAndReleaseAll();
    }

    private SealedBuffer message(int regions) {
        SealedBuffer[] parts = new SealedBuffer[regions];
        for (int i = 0; i < regions; i++) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, 1000)) {
                parts[i] = builder.put(new byte[1000]).seal();
            }
        }
        SealedBuffer all = SealedBuffer.concat(parts);
        for (SealedBuffer each : parts) {
            each.close();
        }
        return all;
    }

    /// In a thread as Netty's loops are, which have its recycled objects.
    private static void atMost200Bytes(Runnable write) throws InterruptedException {
        HeapCost.atMost(200, FastThreadLocalThread::new, write);
    }
}
