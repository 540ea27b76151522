// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.SendTicket;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

/// Queues a header and a sealed buffer as one outbound message, without copying the buffer.
///
/// The write owns the handle it is given. It closes it once, when the promise has completed, whatever the
/// outcome, *and* every region was released: a transport that reads the memory after it reported success
/// (zero-copy sends), and a handler that retains a part of the message, keep the handle until they are done. What
/// is read through Netty after that is an `IllegalReferenceCountException`. Each write has views of its own, so
/// any number of writes may share one buffer.
///
/// A message over 1 GiB, or of more regions than a gathering write takes, goes out in several pieces, in order,
/// without another write in between. It succeeds when all of them did. If one fails, the pieces behind it are
/// given up, and the message fails with it; if another piece was handed on by then, the stream has a hole, which
/// ends the channel: it is closed at once, past its handlers, and every later write fails.
///
/// It is not copied in NIO, epoll and io_uring channels; behind Netty's `SslHandler` it is not copied before it is
/// encrypted if that has `setWrapDataSize(0)`, else where the handler fills records with the end of one message
/// and the begin of the next. A handler that adds a component to a piece has Netty copy the piece: write a
/// trailer as a message of its own.
///
/// Not for WebSocket pipelines: their encoder frames each `WebSocketFrame` and lets bytes pass as they are, which a
/// peer cannot read. A write into one is refused; `BinaryWebSocketFrame` takes the bytes there.
public final class SealedWrite {

    private static final long MAX_PIECE = 1 << 30;
    // IOV_MAX of Linux and the BSDs: Netty's native transports copy a buffer that has more
    private static final int MAX_VIEWS = 1024;

    private SealedWrite() {}

    /// Queues and flushes `header` followed by the bytes of `handle`. Callable from any thread.
    ///
    /// @param channel where to; messages of one thread keep their order
    /// @param header a direct buffer, or an empty one; released by the write
    /// @param handle closed by the write
    /// @return completes when the transport accepted all bytes, or with the failure: the first one, which is an
    ///     `IOException` that names the piece if the channel was closed for it
    /// @throws io.bulla.buffer.ReleasedBufferException if `handle` is closed; the header is released
    /// @throws IllegalStateException if the pipeline has a WebSocket's encoder, whose peer could not read bytes
    ///     without a frame; the handle is closed and the header released
    public static ChannelFuture write(Channel channel, ByteBuf header, SealedBuffer handle) {
        Queued message;
        try {
            message = queued(channel, header, handle);
        } catch (Throwable failure) {
            ReferenceCountUtil.release(header);
            handle.close();
            throw failure;
        }
        if (channel.eventLoop().inEventLoop()) {
            message.write();
        } else {
            try {
                channel.eventLoop().execute(message::write);
            } catch (RejectedExecutionException loopIsDown) {
                message.giveUp(loopIsDown);
            }
        }
        return message.promise;
    }

    private static Queued queued(Channel channel, ByteBuf header, SealedBuffer handle) {
        Framing.check(channel);
        IoVec bytes = handle.iovec();
        // a stray close of the given handle must not let another buffer's bytes out
        SealedBuffer own = bytes.isStamped() ? handle.move(handle.tag()) : handle;
        try {
            return queued(channel, header, own, bytes);
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
    }

    private static Queued queued(Channel channel, ByteBuf header, SealedBuffer own, IoVec bytes) {
        // the ticket holds the handle until the last view is let go
        ByteBuffer[] views = bytes.lent().asByteBuffers();
        // one event for each region, and one for the promise
        SendTicket ticket = new SendTicket(own, views.length + 1);
        List<CompositeByteBuf> pieces = new ArrayList<>(1 + views.length / MAX_VIEWS);
        List<ByteBuf> piece = new ArrayList<>(Math.min(1 + views.length, MAX_VIEWS));
        long size = header.readableBytes();
        piece.add(header);
        for (ByteBuffer view : views) {
            if (size + view.remaining() > MAX_PIECE || piece.size() == MAX_VIEWS) {
                pieces.add(composite(channel, piece));
                piece.clear();
                size = 0;
            }
            size += view.remaining();
            piece.add(new RegionByteBuf(view, ticket, bytes.isStamped()));
        }
        pieces.add(composite(channel, piece));
        return new Queued(channel, channel.newPromise(), ticket, pieces);
    }

    private static CompositeByteBuf composite(Channel channel, List<ByteBuf> parts) {
        return new CompositeByteBuf(channel.alloc(), true, parts.size(), parts.toArray(ByteBuf[]::new));
    }

    /// A message on its way to the event loop. The ticket waits for its regions, and for the promise.
    private record Queued(Channel channel, ChannelPromise promise, SendTicket ticket, List<CompositeByteBuf> pieces) {

        /// On the event loop: once that is down, a promise tells its listeners nothing any more.
        void write() {
            promise.addListener(done -> ticket.happened());
            if (pieces.size() == 1) {
                channel.writeAndFlush(pieces.getFirst(), promise);
            } else {
                new Pieces(channel, promise, pieces).write();
            }
        }

        /// Whatever a release throws, all is let go, and the promise fails.
        void giveUp(Throwable why) {
            Throwable release = PartsRelease.of(pieces);
            if (release != null) {
                why.addSuppressed(release);
            }
            try {
                ticket.happened();
            } catch (Throwable memory) {
                why.addSuppressed(memory);
            } finally {
                promise.setFailure(why);
            }
        }
    }
}
