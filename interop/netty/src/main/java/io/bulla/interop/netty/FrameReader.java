package io.bulla.interop.netty;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;

/// Reads frames from a NIO socket straight into a region of a `MemorySource`.
///
/// ```
/// HEADER --headerBytes() read, checked--> BODY --bodyBytes() read, sealed, delivered--> HEADER
/// ```
///
/// Netty's read loop asks for a buffer and reads the socket into it. The reader answers with a buffer whose write
/// is a call into the builder, so the bytes go from the kernel to where they stay, at most [#STEP] at a time, and
/// no writable memory is seen by anybody. A connection that ends inside a frame gives the memory back.
public final class FrameReader extends ChannelInboundHandlerAdapter {

    /// The most bytes of one read, so that one large frame does not hold up the event loop.
    public static final int STEP = 256 * 1024;

    private final MemorySource source;
    private final FrameFormat format;
    private final ByteBuffer header;
    private final Landing landing = new Landing();
    private BufferBuilder body;
    private long bodyBytes;

    private FrameReader(MemorySource source, FrameFormat format) {
        this.source = source;
        this.format = format;
        this.header = ByteBuffer.allocateDirect(format.headerBytes());
    }

    /// Makes `channel` read frames. The reader becomes the first handler of the pipeline.
    ///
    /// @param channel a NIO socket channel that has not read yet
    /// @param source where frames land
    /// @param format how frames begin, and who gets them
    /// @throws IllegalArgumentException if it is another kind of channel
    public static void install(Channel channel, MemorySource source, FrameFormat format) {
        if (!(channel instanceof NioSocketChannel)) {
            throw new IllegalArgumentException("frames are read from NIO sockets only: channel="
                    + channel.getClass().getName());
        }
        FrameReader reader = new FrameReader(source, format);
        channel.config().setRecvByteBufAllocator(reader.new LandingAllocator());
        channel.pipeline().addFirst(reader);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws IOException {
        if (message != landing) {
            context.fireChannelRead(message);
            return;
        }
        landing.release();
        if (body == null) {
            if (header.hasRemaining()) {
                return;
            }
            bodyBytes = format.bodyBytes(header.flip());
            body = BufferBuilder.ofCapacity(source, Math.max(1, bodyBytes));
        }
        if (body.byteSize() == bodyBytes) {
            // closing it afterwards gives the memory back if the source could not seal
            try (BufferBuilder whole = body) {
                body = null;
                format.frame(context, header.rewind(), whole.seal());
            }
            header.clear();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (body != null || header.position() > 0) {
            long received = body == null ? header.position() : header.capacity() + body.byteSize();
            context.fireExceptionCaught(new EOFException("connection closed inside a frame: received=" + received
                    + " announced=" + (body == null ? "?" : Long.toString(header.capacity() + bodyBytes))));
        }
        abandon();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        abandon();
    }

    private void abandon() {
        if (body != null) {
            body.close();
            body = null;
        }
        header.clear();
    }

    private int read(ScatteringByteChannel in, int length) throws IOException {
        return body == null ? in.read(header) : body.readFrom(in, length);
    }

    private int wanted() {
        return body == null ? header.remaining() : (int) Math.min(STEP, bodyBytes - body.byteSize());
    }

    private final class LandingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

        @Override
        @SuppressWarnings("deprecation") // Netty's type for it
        public Handle newHandle() {
            return new MaxMessageHandle() {
                @Override
                public int guess() {
                    return wanted();
                }

                @Override
                public ByteBuf allocate(ByteBufAllocator unused) {
                    return landing.retain();
                }
            };
        }
    }

    /// Has no memory: writing to it is reading into the builder.
    private final class Landing extends UnpooledHeapByteBuf {

        Landing() {
            super(UnpooledByteBufAllocator.DEFAULT, 0, 0);
        }

        @Override
        public int writableBytes() {
            return wanted();
        }

        @Override
        public int writeBytes(ScatteringByteChannel in, int length) throws IOException {
            return read(in, length);
        }
    }
}
