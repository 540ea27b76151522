// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A message of several pieces, of which one is refused.
class BrokenMessageTest extends EmbeddedSends {

    private static final RuntimeException REFUSAL = new IllegalArgumentException("no");

    @Test
    void messageOfManyRegionsSucceedsWhenAllOfItWentOut() {
        ChannelFuture written = SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(2500));
        assertTrue(written.isSuccess());
        assertEquals(2500 * 16, outboundBytes());
    }

    @Test
    void firstPieceRefusedAtOnceSendsNothingAndKeepsTheChannel() {
        channel.pipeline().addLast(new Refusing(0));
        ChannelFuture written = SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(1500));
        assertSame(REFUSAL, written.cause());
        assertTrue(channel.isOpen());
        assertEquals(0, outboundBytes());
    }

    /// 1500 regions go out in 2 pieces, 2500 in 3.
    @ParameterizedTest
    @CsvSource({"1500, 1", "2500, 1", "2500, 2"})
    void laterPieceRefusedAtOnceEndsTheChannel(int regions, int refused) {
        channel.pipeline().addLast(new Refusing(refused));
        ChannelFuture written = SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(regions));
        brokenOff(written, "piece=" + refused + " pieces=" + (regions + 1023) / 1024 + " accepted=0");
    }

    @ParameterizedTest
    @CsvSource({"1500, 0", "1500, 1", "2500, 1"})
    void pieceRefusedAfterOthersWereHandedOnEndsTheChannel(int regions, int refused) {
        Delaying delaying = new Delaying(refused);
        channel.pipeline().addLast(delaying);
        ChannelFuture written = SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(regions));
        assertFalse(written.isDone());
        delaying.refused.setFailure(REFUSAL);
        int pieces = (regions + 1023) / 1024;
        brokenOff(written, "piece=" + refused + " pieces=" + pieces + " accepted=" + (pieces - 1));
    }

    @Test
    void firstFailureWins() {
        Delaying delaying = new Delaying(1);
        channel.pipeline().addLast(new Refusing(1)).addLast(delaying);
        ChannelFuture written = SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(2500));
        delaying.refused.setFailure(new IllegalStateException("later"));
        assertSame(REFUSAL, written.cause().getCause());
    }

    /// No heap for the promise of a piece: before the first one nothing goes out, behind it the stream has a hole.
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void pieceThatFindsNoHeapEndsTheMessage(int which) {
        int[] left = {Integer.MAX_VALUE};
        EmbeddedChannel full = new EmbeddedChannel() {
            @Override
            public ChannelPromise newPromise() {
                if (left[0]-- == 0) {
                    throw new IllegalStateException("thrown by the test");
                }
                return super.newPromise();
            }
        };
        ByteBuf header = Unpooled.directBuffer(4).writeInt(1);
        left[0] = which;
        ChannelFuture written = SealedWrite.move(full, header, regions(2500));
        assertTrue(written.isDone());
        Throwable cause = which == 0 ? written.cause() : written.cause().getCause();
        assertEquals("thrown by the test", cause.getMessage());
        assertEquals(which == 0, full.isOpen());
        full.finishAndReleaseAll();
        assertEquals(0, header.refCnt());
        assertEquals(0, handles.open());
    }

    @Test
    void cancelledBeforeTheLoopRanSendsNothing() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        NioSocketChannel busy = new NioSocketChannel();
        loops.register(busy).sync();
        CountDownLatch cancelled = new CountDownLatch(1);
        busy.eventLoop().execute(() -> assertDoesNotThrow(() -> cancelled.await()));
        ChannelFuture written = SealedWrite.move(busy, Unpooled.EMPTY_BUFFER, regions(1500));
        assertTrue(written.cancel(false));
        cancelled.countDown();
        loops.shutdownGracefully(0, 60, TimeUnit.SECONDS).sync();
        assertInstanceOf(CancellationException.class, written.cause());
    }

    @Test
    void headerWhoseReleaseThrowsKeepsNothingOfAMessageThatIsGivenUp() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        NioSocketChannel down = new NioSocketChannel();
        loops.register(down).sync();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        ByteBuf header = new UnpooledDirectByteBuf(UnpooledByteBufAllocator.DEFAULT, 4, 4) {
            @Override
            protected void deallocate() {
                super.deallocate();
                throw new IllegalStateException("thrown by the test");
            }
        };
        ChannelFuture written = SealedWrite.move(down, header.writeInt(1), regions(1500));
        assertInstanceOf(RejectedExecutionException.class, written.cause());
        assertEquals("thrown by the test", written.cause().getSuppressed()[0].getMessage());
        assertEquals(0, handles.open());
    }

    @Test
    void writeToAClosedChannelFailsByItsName() {
        channel.close();
        ChannelFuture written = SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(1500));
        assertInstanceOf(ClosedChannelException.class, written.cause());
    }

    private void brokenOff(ChannelFuture written, String pieces) {
        assertInstanceOf(IOException.class, written.cause());
        assertEquals(
                "message broken off, its channel is closed: " + pieces,
                written.cause().getMessage());
        assertSame(REFUSAL, written.cause().getCause());
        assertFalse(channel.isOpen());
        assertInstanceOf(
                ClosedChannelException.class,
                SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, regions(1)).cause());
    }

    private long outboundBytes() {
        long bytes = 0;
        for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
            bytes += piece.readableBytes();
            piece.release();
        }
        return bytes;
    }

    private SealedBuffer regions(int count) {
        SealedBuffer[] parts = new SealedBuffer[count];
        for (int i = 0; i < count; i++) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 16)) {
                parts[i] = builder.put(new byte[16]).seal();
            }
        }
        SealedBuffer all = SealedBuffer.concat(parts);
        Arrays.stream(parts).forEach(SealedBuffer::close);
        assertEquals(count, all.iovec().regionCount());
        return all;
    }

    private static final class Refusing extends ChannelOutboundHandlerAdapter {

        private final int refused;
        private int seen;

        Refusing(int refused) {
            this.refused = refused;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            if (seen++ == refused) {
                ReferenceCountUtil.release(message);
                promise.setFailure(REFUSAL);
            } else {
                context.write(message, promise);
            }
        }
    }

    private static final class Delaying extends ChannelOutboundHandlerAdapter {

        private final int delayed;
        private int seen;
        private ChannelPromise refused;

        Delaying(int delayed) {
            this.delayed = delayed;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            if (seen++ == delayed) {
                ReferenceCountUtil.release(message);
                refused = promise;
            } else {
                context.write(message, promise);
            }
        }
    }
}
