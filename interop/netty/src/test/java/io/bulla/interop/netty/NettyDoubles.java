// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Handlers, formats and an allocator of Netty's that may fail, and what calls back.
final class NettyDoubles {

    private NettyDoubles() {}

    /// What a call that calls back does to the channel: it closes it, or takes the reader out of it.
    static final class Ending {

        private @Nullable Channel channel;
        boolean called;
        boolean removed;

        Ending(FaultScene scene) {
            scene.callBack("channel.close", () -> {
                if (channel != null && channel.isRegistered()) {
                    called = true;
                    channel.close();
                }
            });
            scene.callBack("pipeline.remove", () -> {
                if (channel != null && channel.pipeline().get(FrameReader.class) != null) {
                    called = true;
                    removed = true;
                    channel.pipeline().remove(FrameReader.class);
                }
            });
        }

        <C extends Channel> C of(C channel) {
            this.channel = channel;
            return channel;
        }
    }

    static final class Outbound extends ChannelOutboundHandlerAdapter {

        private final FaultPoints points;

        Outbound(FaultPoints points) {
            this.points = points;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            try {
                points.reach("ChannelOutboundHandler.write");
            } catch (Throwable failure) {
                // as Netty has it: a handler that fails has released what it got
                ReferenceCountUtil.release(message);
                throw failure;
            }
            context.write(message, promise);
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            points.reach("ChannelOutboundHandler.flush");
            context.flush();
        }
    }

    static final class Errors extends ChannelInboundHandlerAdapter {

        final List<Throwable> seen = new ArrayList<>();

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            seen.add(cause);
        }
    }

    /// Four bytes of length.
    record Lengths(FaultPoints points, List<byte[]> got, boolean skips) implements FrameFormat {

        @Override
        public int headerBytes() {
            points.reach("FrameFormat.headerBytes");
            return NettyCalls.HEADER;
        }

        @Override
        public long bodyBytes(ByteBuffer header) throws IOException {
            int length = header.getInt();
            if (length < 0 || length > 100_000) {
                throw new IOException("not a header: length=" + length);
            }
            points.reachIo("FrameFormat.bodyBytes");
            return length;
        }

        @Override
        public boolean wantsBody() {
            points.reach("FrameFormat.wantsBody");
            return true;
        }

        @Override
        public boolean skipsWithoutMemory(RuntimeException why) {
            points.reach("FrameFormat.skipsWithoutMemory");
            return skips && FaultPoints.isInjected(why);
        }

        @Override
        public void frameMoved(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            try (body) {
                int length = header.getInt();
                NettyCalls.expect(
                        length == body.byteSize(), "header and body differ: length=" + length + " body=" + body);
                points.reach("FrameFormat.frameMoved");
                got.add(NettyCalls.bytesOf(body));
            }
        }
    }

    /// With what a format has by default.
    record Plain(FaultPoints points) implements FrameFormat {

        @Override
        public int headerBytes() {
            points.reach("FrameFormat.headerBytes");
            return NettyCalls.HEADER;
        }

        @Override
        public long bodyBytes(ByteBuffer header) {
            points.reach("FrameFormat.bodyBytes");
            return header.getInt();
        }

        @Override
        public void frameMoved(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            body.close();
            points.reach("FrameFormat.frameMoved, done");
        }
    }

    static final class Allocator extends AbstractByteBufAllocator {

        private final ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        private final FaultPoints points;

        Allocator(FaultPoints points) {
            this.points = points;
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            points.reach("ByteBufAllocator.heapBuffer");
            return allocator.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            points.reach("ByteBufAllocator.directBuffer");
            return allocator.directBuffer(initialCapacity, maxCapacity);
        }
    }
}
