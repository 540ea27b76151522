// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.ReferenceCountUtil;
import java.nio.ReadOnlyBufferException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SealedWriteTest extends EmbeddedSends {

    @Test
    void handleIsHeldUntilThePromiseCompletedAndTheMemoryIsLetGo() {
        SealedBuffer buffer = buffer(1000);
        ChannelFuture written = SealedWrite.share(channel, header(), buffer);
        buffer.close();

        assertTrue(written.isSuccess());
        assertEquals(1, handles.open(), "accepted, but still in the outbound queue");
        ByteBuf message = channel.readOutbound();
        assertEquals(1004, message.readableBytes());
        assertEquals(0xcafe, message.getInt(0));
        assertEquals((byte) 7, message.getByte(4 + 7));
        message.release();
        assertEquals(0, handles.open());
    }

    @Test
    void twoWritesOfOneBufferHavePositionsOfTheirOwnAndCopyNothing() {
        CopyTally before = CopyTally.snapshot();
        try (SealedBuffer buffer = buffer(300)) {
            SealedWrite.share(channel, header(), buffer);
            SealedWrite.share(channel, header(), buffer);
        }
        ByteBuf first = channel.readOutbound();
        first.skipBytes(200);
        ByteBuf second = channel.readOutbound();
        assertEquals(304, second.readableBytes());
        assertEquals(new CopyTally(0, 0), CopyTally.snapshot().since(before));
        first.release();
        second.release();
    }

    @Test
    void handleIsClosedOnceWhenTheWriteFails() {
        channel.close();
        ByteBuf header = header();
        ChannelFuture written = SealedWrite.move(channel, header, buffer(10));

        assertFalse(written.isSuccess());
        assertTrue(written.isDone());
        assertEquals(0, header.refCnt());
        assertEquals(0, handles.open());
    }

    @Test
    void handleIsClosedWhenThePipelineRefuses() {
        RuntimeException refusal = new IllegalArgumentException("no");
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
                ReferenceCountUtil.release(message);
                promise.setFailure(refusal);
            }
        });
        assertSame(refusal, SealedWrite.move(channel, header(), buffer(10)).cause());
        assertEquals(0, handles.open());
    }

    @Test
    void closedHandleIsRefusedAndTheHeaderReleased() {
        SealedBuffer buffer = buffer(10);
        buffer.close();
        ByteBuf header = header();
        assertThrows(ReleasedBufferException.class, () -> SealedWrite.move(channel, header, buffer));
        assertEquals(0, header.refCnt());
    }

    @Test
    void handleIsClosedWhenTheLoopIsDown() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        NioSocketChannel down = new NioSocketChannel();
        loops.register(down).sync();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        ByteBuf header = header();
        ChannelFuture written = SealedWrite.move(down, header, buffer(10));

        assertInstanceOf(RejectedExecutionException.class, written.cause());
        assertEquals(0, header.refCnt());
        assertEquals(0, handles.open());
    }

    /// As when a queue cannot grow.
    @Test
    void handleIsClosedWhenTheLoopHasNoHeapForTheTask() throws Exception {
        AtomicBoolean full = new AtomicBoolean();
        SingleThreadIoEventLoop loop =
                new SingleThreadIoEventLoop(
                        null, (ThreadFactory) Thread.ofPlatform().daemon()::unstarted, NioIoHandler.newFactory()) {
                    @Override
                    public void execute(Runnable task) {
                        if (full.get()) {
                            throw new OutOfMemoryError("thrown by the test");
                        }
                        super.execute(task);
                    }
                };
        NioSocketChannel open = new NioSocketChannel();
        loop.register(open).sync();
        ByteBuf header = header();
        full.set(true);
        ChannelFuture written;
        try {
            written = SealedWrite.move(open, header, buffer(10));
        } catch (OutOfMemoryError notGivenUp) {
            // as it is, it would end the JVM of the tests
            throw new AssertionError(notGivenUp);
        } finally {
            full.set(false);
            loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }

        assertInstanceOf(OutOfMemoryError.class, written.cause());
        assertEquals(0, header.refCnt());
        assertEquals(0, handles.open());
    }

    @Test
    void viewsRefuseWrites() {
        SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, buffer(10));
        ByteBuf message = channel.readOutbound();
        assertThrows(ReadOnlyBufferException.class, () -> message.setByte(3, 9));
        message.release();
    }

    /// A handshake replaces handlers: the pipeline is looked at anew each time.
    @Test
    void writeIntoAWebSocketPipelineIsRefusedByNameAndLosesNothing() {
        SealedWrite.move(channel, header(), buffer(10));
        channel.<ByteBuf>readOutbound().release();
        for (ChannelHandler framing :
                new ChannelHandler[] {new WebSocket13FrameEncoder(false), new WebSocketServerProtocolHandler("/")}) {
            channel.pipeline().addFirst("ws", framing);
            ByteBuf header = header();
            SealedBuffer buffer = buffer(10);
            IllegalStateException refused =
                    assertThrows(IllegalStateException.class, () -> SealedWrite.move(channel, header, buffer));
            assertTrue(
                    refused.getMessage()
                            .startsWith("sealed bytes would go out without a frame, wrap them in one: handler=ws type="
                                    + framing.getClass().getName()),
                    refused::getMessage);
            assertEquals(0, header.refCnt());
            assertEquals(0, handles.open());
            assertNull(channel.readOutbound());
            channel.pipeline().remove("ws");
        }
        SealedWrite.move(channel, header(), buffer(10));
        channel.<ByteBuf>readOutbound().release();
        assertEquals(0, handles.open());
    }

    /// The ends of the pipeline are what they were when it was looked at.
    @Test
    void encoderThatComesBetweenOtherHandlersIsSeen() {
        channel.pipeline().addFirst("first", new ChannelOutboundHandlerAdapter());
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter());
        SealedWrite.move(channel, header(), buffer(10));
        channel.<ByteBuf>readOutbound().release();
        for (ChannelHandler framing :
                new ChannelHandler[] {new WebSocket13FrameEncoder(false), new WebSocketServerProtocolHandler("/")}) {
            channel.pipeline().addAfter("first", "ws", framing);
            SealedBuffer buffer = buffer(10);
            assertThrows(IllegalStateException.class, () -> SealedWrite.move(channel, Unpooled.EMPTY_BUFFER, buffer));
            assertNull(channel.readOutbound());
            channel.pipeline().remove("ws");
            SealedWrite.move(channel, header(), buffer(10));
            channel.<ByteBuf>readOutbound().release();
        }
    }

    private static ByteBuf header() {
        return Unpooled.directBuffer(4).writeInt(0xcafe);
    }

    private SealedBuffer buffer(int size) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            for (int i = 0; i < size; i++) {
                builder.putByte((byte) i);
            }
            return builder.seal();
        }
    }
}
