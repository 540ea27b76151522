// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.IllegalReferenceCountException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// What Netty and its users keep of a message, after the message itself was released, keeps the memory.
class KeptPartsTest extends EmbeddedSends {

    private static final int BYTES = 300_000;

    @Test
    void retainedMessageKeepsTheMemory() {
        keeps(message -> message.retain().skipBytes(4));
    }

    @Test
    void retainedDuplicateKeepsTheMemory() {
        keeps(message -> message.skipBytes(4).retainedDuplicate());
    }

    @Test
    void retainedSliceOfASliceKeepsTheMemory() {
        keeps(message -> message.slice(2, 2 + BYTES).retainedSlice(2, BYTES));
    }

    @Test
    void flattenedComponentsKeepTheMemory() {
        keeps(message -> Unpooled.compositeBuffer()
                .addFlattenedComponents(true, message.retain().skipBytes(4)));
    }

    @Test
    void retainedSliceOfTheMessageKeepsTheMemory() {
        keeps(message -> message.retainedSlice(4, BYTES));
    }

    @Test
    void readingAfterTheLastReleaseIsAnException() {
        SealedWrite.move(channel, header(), buffer());
        ByteBuf message = channel.readOutbound();
        ByteBuf part = message.slice(4, BYTES);
        ByteBuf view = part.slice(8, 100).duplicate();
        message.release();
        assertThrows(IllegalReferenceCountException.class, () -> part.getByte(0));
        assertThrows(IllegalReferenceCountException.class, () -> part.getLongLE(0));
        assertThrows(IllegalReferenceCountException.class, () -> part.nioBuffer());
        assertThrows(IllegalReferenceCountException.class, () -> part.internalNioBuffer(0, 1));
        assertThrows(IllegalReferenceCountException.class, () -> view.getByte(0));
        assertThrows(IllegalReferenceCountException.class, () -> view.getBytes(0, new byte[8]));
        assertThrows(IllegalReferenceCountException.class, () -> part.retain());
    }

    /// A decoder of the receiver cumulates the components, and releases the message.
    @Test
    void peerThatCumulatesComponentsReadsTheBytes() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, LocalIoHandler.newFactory());
        CompletableFuture<Boolean> same = new CompletableFuture<>();
        Channel server = new ServerBootstrap()
                .group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(new Cumulating(same));
                    }
                })
                .bind(LocalAddress.ANY)
                .sync()
                .channel();
        Channel client = new Bootstrap()
                .group(loops)
                .channel(LocalChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress())
                .sync()
                .channel();
        client.writeAndFlush(Unpooled.copiedBuffer(new byte[1])).sync();
        SealedWrite.move(client, header(), buffer()).sync();
        client.writeAndFlush(Unpooled.copiedBuffer(new byte[1]));
        assertTrue(same.get(60, TimeUnit.SECONDS));
        client.close().sync();
        server.close().sync();
        loops.shutdownGracefully(0, 60, TimeUnit.SECONDS).sync();
    }

    private void keeps(Function<ByteBuf, ByteBuf> keep) {
        SealedWrite.move(channel, header(), buffer());
        ByteBuf message = channel.readOutbound();
        ByteBuf kept = keep.apply(message);
        message.release();
        assertEquals(1, handles.open(), "what is kept holds the memory");
        assertEquals(Unpooled.wrappedBuffer(bytes()), kept);
        kept.release();
        assertEquals(0, handles.open());
        assertThrows(IllegalReferenceCountException.class, () -> kept.getByte(0));
    }

    /// Waits until a byte, the message and another byte have come.
    private static final class Cumulating extends ByteToMessageDecoder {

        private final CompletableFuture<Boolean> same;

        Cumulating(CompletableFuture<Boolean> same) {
            this.same = same;
            setCumulator(COMPOSITE_CUMULATOR);
        }

        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
            if (in.readableBytes() == 1 + 4 + BYTES + 1) {
                try {
                    same.complete(in.slice(1 + 4, BYTES).equals(Unpooled.wrappedBuffer(bytes())));
                } catch (Throwable failure) {
                    same.completeExceptionally(failure);
                }
                in.skipBytes(in.readableBytes());
            }
        }
    }

    private static ByteBuf header() {
        return Unpooled.directBuffer(4).writeInt(0xcafe);
    }

    private SealedBuffer buffer() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, BYTES)) {
            return builder.put(bytes()).seal();
        }
    }

    private static byte[] bytes() {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            bytes[i] = (byte) (i * 31 >> 3);
        }
        return bytes;
    }
}
