// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.nio.ByteBuffer;

/// Counts what is copied out of the messages that pass: reading them through their views is not counted.
final class Reads extends ChannelOutboundHandlerAdapter {

    // of the event loop, and after a future of it
    long copied;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        context.write(message instanceof ByteBuf bytes ? new Watched(bytes) : message, promise);
    }

    private final class Watched extends CompositeByteBuf {

        Watched(ByteBuf bytes) {
            super(bytes.alloc(), true, 2, bytes);
        }

        @Override
        public CompositeByteBuf getBytes(int index, ByteBuf target, int at, int length) {
            copied += length;
            return super.getBytes(index, target, at, length);
        }

        @Override
        public CompositeByteBuf getBytes(int index, byte[] target, int at, int length) {
            copied += length;
            return super.getBytes(index, target, at, length);
        }

        @Override
        public CompositeByteBuf getBytes(int index, ByteBuffer target) {
            copied += target.remaining();
            return super.getBytes(index, target);
        }

        @Override
        public ByteBuffer nioBuffer(int index, int length) {
            if (nioBufferCount() > 1) {
                copied += length;
            }
            return super.nioBuffer(index, length);
        }
    }
}
