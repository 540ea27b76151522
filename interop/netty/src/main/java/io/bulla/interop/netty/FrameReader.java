// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.internal.Failures;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.util.Deque;
import java.util.LinkedList;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads frames from a channel into regions of a `MemorySource`, each frame's body whole in one region.
///
/// ```
/// HEADER --headerBytes() read, checked--> BODY --bodyBytes() read, sealed, delivered--> HEADER
///                                         +-- the format does not want it, or has no memory: SKIP, then HEADER
///        any failure, or the end of the connection --> ENDED: memory given back, channel closed
/// ```
///
/// How the bytes land
/// - *Straight*, no copy: in a NIO socket whose pipeline has no handler yet. Netty's read loop asks for a buffer
///   and reads the socket into it; the reader answers with a buffer whose write is a call into the builder. So
///   the bytes go from the kernel to where they stay, at most [#STEP] at a time.
/// - *With one copy*, out of the `ByteBuf` that arrives: behind handlers such as Netty's `SslHandler`, which
///   decrypts into buffers of its own, and in channels of other kinds. The native transports (epoll, io_uring)
///   read by address, and a builder gives none away: what could write by it could write after the seal. The
///   copies of bodies are counted in [io.bulla.iovec.CopyTally].
///
/// In both there is no cumulation buffer, and no writable memory is seen by anybody.
public final class FrameReader extends ChannelInboundHandlerAdapter {

    /// The most bytes of one read that lands straight, so that one large frame does not hold up the event loop.
    public static final int STEP = 256 * 1024;

    /// The most reads in a row, before the event loop has other work again: so that many short frames are read,
    /// and perhaps answered, in one go. A frame needs two of them if it lands straight.
    public static final int READS = 64;

    private static final int SKIP = 16 * 1024;

    private final MemorySource source;
    private final FrameFormat format;
    private final ByteBuffer header;
    private final Landing landing = new Landing();
    private @Nullable ByteBuffer skipped;

    @SuppressWarnings("NullAway.Init") // set as the handler is added, before anything is read
    private ChannelHandlerContext context;

    private @Nullable BufferBuilder body;
    private long bodyBytes;
    // bytes of an unwanted body, still to come
    private long skipping;
    private boolean ended;
    private boolean copying;
    // what arrives while a frame is delivered, as where that asks for more behind a handler that keeps some; links:
    // an add that finds no heap leaves the others
    private final Deque<ByteBuf> arrived = new LinkedList<>();

    private FrameReader(MemorySource source, FrameFormat format) {
        this.source = source;
        this.format = format;
        this.header = ByteBuffer.allocateDirect(format.headerBytes());
    }

    /// Makes `channel` read frames. The reader becomes the last handler of the pipeline: those that change bytes,
    /// such as TLS, are added before, those that want to know of exceptions and of the end of the connection
    /// afterwards. Without the former, a NIO socket is read without a copy. The channel is set to up to [#READS]
    /// reads in a row.
    ///
    /// @param channel one that has not read yet
    /// @param source where frames land
    /// @param format how frames begin, and who gets them
    public static void install(Channel channel, MemorySource source, FrameFormat format) {
        FrameReader reader = new FrameReader(source, format);
        if (channel instanceof NioSocketChannel && isFirst(channel)) {
            channel.config().setRecvByteBufAllocator(reader.new LandingAllocator());
        }
        readManyInARow(channel);
        channel.pipeline().addLast(reader);
    }

    @SuppressWarnings("deprecation") // Netty's type for it
    private static void readManyInARow(Channel channel) {
        if (channel.config().getRecvByteBufAllocator() instanceof MaxMessagesRecvByteBufAllocator reads) {
            reads.maxMessagesPerRead(READS);
        }
    }

    private static boolean isFirst(Channel channel) {
        for (Map.Entry<String, ChannelHandler> handler : channel.pipeline()) {
            // an initializer is about to leave
            if (!(handler.getValue() instanceof ChannelInitializer)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        this.context = context;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message == landing) {
            landing.release();
            received();
        } else if (message instanceof ByteBuf bytes) {
            inOrder(bytes);
        } else {
            context.fireChannelRead(message);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!ended && (body != null || skipping > 0 || header.position() > 0)) {
            long received = body != null
                    ? header.capacity() + body.byteSize()
                    : skipping > 0 ? header.capacity() + bodyBytes - skipping : header.position();
            boolean announced = body != null || skipping > 0;
            context.fireExceptionCaught(new EOFException("connection closed inside a frame: received=" + received
                    + " announced=" + (announced ? Long.toString(header.capacity() + bodyBytes) : "?")));
        }
        try {
            end();
        } catch (Throwable release) {
            context.fireExceptionCaught(release);
        } finally {
            context.fireChannelInactive();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        end();
    }

    /// A call from within a delivery waits for its turn.
    private void inOrder(ByteBuf bytes) {
        if (copying) {
            arriveLater(bytes);
            return;
        }
        copying = true;
        try {
            for (@Nullable ByteBuf next = bytes; next != null; next = arrived.pollFirst()) {
                try {
                    copy(next);
                } finally {
                    next.release();
                }
            }
        } catch (Throwable release) {
            fail(release);
        } finally {
            copying = false;
        }
    }

    private void arriveLater(ByteBuf bytes) {
        boolean waits = false;
        try {
            waits = !ended && arrived.add(bytes);
        } catch (Throwable noHeap) {
            // what is missing here is missing in the stream
            fail(noHeap);
        } finally {
            if (!waits) {
                bytes.release();
            }
        }
    }

    /// Takes what a handler before this one, or a transport that reads by address, has for us.
    private void copy(ByteBuf bytes) {
        // not open: who got the last frame wants no more
        while (!ended && bytes.isReadable() && context.channel().isOpen()) {
            try {
                if (skipping > 0) {
                    int length = (int) Math.min(skipping, bytes.readableBytes());
                    bytes.skipBytes(length);
                    skipping -= length;
                    continue;
                }
                if (body == null) {
                    int length = Math.min(header.remaining(), bytes.readableBytes());
                    bytes.readBytes(header.limit(header.position() + length));
                    header.limit(header.capacity());
                } else {
                    int length = (int) Math.min(bodyBytes - body.byteSize(), bytes.readableBytes());
                    for (ByteBuffer part : bytes.nioBuffers(bytes.readerIndex(), length)) {
                        body.put(IoVec.of(MemorySegment.ofBuffer(part)));
                    }
                    bytes.skipBytes(length);
                }
            } catch (RuntimeException noMemory) {
                if (!skipsRest(noMemory)) {
                    return;
                }
                continue;
            } catch (Error error) {
                fail(error);
                return;
            }
            received();
        }
    }

    private void received() {
        if (ended || skipping > 0 || body == null && header.hasRemaining()) {
            return;
        }
        try {
            if (body == null) {
                bodyBytes = format.bodyBytes(header.flip());
                if (!begin()) {
                    skipping = bodyBytes;
                    header.clear();
                    return;
                }
                if (bodyBytes == 0) {
                    // no memory is needed, so none can be missing
                    format.frameMoved(context, header.rewind(), SealedBuffer.concat());
                    header.clear();
                    return;
                }
            }
            BufferBuilder landed = body;
            if (landed != null && landed.byteSize() == bodyBytes) {
                deliver(landed);
            }
        } catch (IOException | RuntimeException | Error refused) {
            // an error too: who was called may have read the header, and where the next one begins would be guessed
            fail(refused);
        }
    }

    /// @return false if the body is to be skipped
    private boolean begin() {
        if (!format.wantsBody()) {
            return false;
        }
        body = bodyBytes == 0 ? null : BufferBuilder.expecting(source, bodyBytes);
        return true;
    }

    /// Gives up a body for which there is no memory, or the channel, whatever the format throws when it is asked.
    ///
    /// @return false if the channel has ended
    private boolean skipsRest(RuntimeException noMemory) {
        Throwable why = noMemory;
        try {
            BufferBuilder landed = body;
            if (landed != null && format.skipsWithoutMemory(noMemory) && !ended) {
                skipping = bodyBytes - landed.byteSize();
                body = null;
                header.clear();
                landed.close();
                return true;
            }
        } catch (Throwable another) {
            why = Failures.join(noMemory, another);
        }
        if (!ended) {
            fail(why);
        }
        return false;
    }

    private void deliver(BufferBuilder landed) {
        SealedBuffer sealed;
        // closing it afterwards gives the memory back if the source could not seal
        try (BufferBuilder whole = landed) {
            body = null;
            sealed = whole.seal();
        } catch (RuntimeException noMemory) {
            if (!format.skipsWithoutMemory(noMemory)) {
                throw noMemory;
            }
            header.clear();
            return;
        }
        format.frameMoved(context, header.rewind(), sealed);
        header.clear();
    }

    private void fail(Throwable why) {
        try {
            end();
        } catch (Throwable release) {
            Failures.join(why, release);
        } finally {
            context.fireExceptionCaught(why);
            context.close();
        }
    }

    private void end() {
        ended = true;
        header.clear();
        BufferBuilder landed = body;
        body = null;
        @Nullable Throwable failure = landed == null ? null : Failures.close(landed, null);
        for (ByteBuf each = arrived.pollFirst(); each != null; each = arrived.pollFirst()) {
            try {
                each.release();
            } catch (Throwable release) {
                failure = Failures.join(failure, release);
            }
        }
        Failures.rethrow(failure);
    }

    /// Reads the socket once; to Netty, a connection that this reader has given up has ended.
    private int read(ScatteringByteChannel in, int length) throws IOException {
        if (ended) {
            return -1;
        }
        try {
            if (skipping > 0) {
                return skip(in);
            }
            return body == null ? in.read(header) : body.readFrom(in, length);
        } catch (RuntimeException noMemory) {
            return skipsRest(noMemory) ? skip(in) : -1;
        } catch (Error error) {
            fail(error);
            return -1;
        }
    }

    private int skip(ScatteringByteChannel in) throws IOException {
        if (skipped == null) {
            skipped = ByteBuffer.allocateDirect(SKIP);
        }
        int read = in.read(skipped.clear().limit((int) Math.min(SKIP, skipping)));
        skipping -= Math.max(read, 0);
        return read;
    }

    private int wanted() {
        if (skipping > 0) {
            return (int) Math.min(SKIP, skipping);
        }
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
