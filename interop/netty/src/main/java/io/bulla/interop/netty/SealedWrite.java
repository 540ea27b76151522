// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/// Queues a header and a sealed buffer as one outbound message, without copying the buffer: [#share] leaves the
/// caller's handle open, [#move] takes it.
///
/// The write has a handle of its own. It closes it once, when the promise has completed, whatever the outcome, *and*
/// the message was released: a transport that reads the memory after it reported success (zero-copy sends), and a
/// handler that retains a part of the message, keep the handle until they are done. What is read through Netty after
/// that is an `IllegalReferenceCountException`. Each write has views of its own, so any number of writes may share
/// one buffer. The header is released by both, as what is given to a `write` of Netty's.
///
/// A message over 1 GiB, or of more regions than a gathering write takes, goes out in several pieces, in order,
/// without another write in between. It succeeds when all of them did. If one fails, the pieces behind it are
/// given up, and the message fails with it; if another piece was handed on by then, the stream has a hole, which
/// ends the channel: it is closed at once, past its handlers, and every later write fails.
///
/// It is not copied in NIO, epoll and io_uring channels; behind Netty's `SslHandler` it is not copied before it is
/// encrypted if that has `setWrapDataSize(0)`, else where the handler fills records with the end of one message
/// and the begin of the next.
///
/// Heap, with default headers, until a transport asks for views: at most 200 bytes for promise, message and the
/// write's handle.
///
/// Not for WebSocket pipelines: their encoder frames each `WebSocketFrame` and lets bytes pass as they are, which a
/// peer cannot read. A write into one is refused; `BinaryWebSocketFrame` takes the bytes there.
public final class SealedWrite {

    private static final long MAX_PIECE = 1 << 30;
    // IOV_MAX of Linux and the BSDs: Netty's native transports copy a buffer that has more
    private static final int MAX_VIEWS = 1024;

    private SealedWrite() {}

    /// Queues and flushes `header` followed by the bytes of `buffer`. Callable from any thread.
    ///
    /// @param channel where to; messages of one thread keep their order
    /// @param header a direct buffer, or an empty one; released by the write
    /// @param buffer stays open, and the caller's: it may be closed as soon as this returns
    /// @return completes when the transport accepted all bytes, or with the failure: the first one, which is an
    ///     `IOException` that names the piece if the channel was closed for it
    /// @throws io.bulla.buffer.ReleasedBufferException if `buffer` is closed; the header is released
    /// @throws IllegalStateException if the pipeline has a WebSocket's encoder, whose peer could not read bytes
    ///     without a frame; the header is released
    public static ChannelFuture share(Channel channel, ByteBuf header, SealedBuffer buffer) {
        Sending message;
        try {
            Framing.check(channel);
            message = sending(channel, header, buffer.share());
        } catch (Throwable failure) {
            ReferenceCountUtil.release(header);
            throw failure;
        }
        message.queue();
        return message;
    }

    /// Queues and flushes `header` followed by the bytes of `handle`, which is the write's from now on. Callable from
    /// any thread.
    ///
    /// @param channel where to; messages of one thread keep their order
    /// @param header a direct buffer, or an empty one; released by the write
    /// @param handle closed when this returns, also if it fails: the write goes on with a successor, with its tag
    /// @return as [#share]
    /// @throws io.bulla.buffer.ReleasedBufferException if `handle` is closed; the header is released
    /// @throws IllegalStateException as [#share]; the handle is closed and the header released
    public static ChannelFuture move(Channel channel, ByteBuf header, SealedBuffer handle) {
        Sending message;
        try {
            Framing.check(channel);
            // a stray close of the given handle must not let another buffer's bytes out
            message = sending(channel, header, handle.move(handle.tag()));
        } catch (Throwable failure) {
            ReferenceCountUtil.release(header);
            handle.close();
            throw failure;
        }
        message.queue();
        return message;
    }

    /// @param own closed if this fails
    private static Sending sending(Channel channel, ByteBuf header, SealedBuffer own) {
        try {
            IoVec bytes = own.iovec();
            Sending message = new Sending(channel, own);
            if (bytes.regionCount() < MAX_VIEWS && header.readableBytes() + bytes.byteSize() <= MAX_PIECE) {
                message.of(new MessagePiece(header, bytes, message));
            } else {
                message.of(pieces(header, bytes, message));
            }
            return message;
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
    }

    /// As few as hold the header and all views of the regions, none of which is cut.
    private static List<MessagePiece> pieces(ByteBuf header, IoVec bytes, Sending message) {
        List<MessagePiece> pieces = new ArrayList<>(2 + bytes.regionCount() / MAX_VIEWS);
        long begun = 0;
        long end = 0;
        long size = header.readableBytes();
        int parts = 1;
        for (int i = 0; i < bytes.regionCount(); i++) {
            long regionEnd = i + 1 < bytes.regionCount() ? bytes.regionStart(i + 1) : bytes.byteSize();
            while (end < regionEnd) {
                long view = Math.min(IoVec.MAX_VIEW, regionEnd - end);
                if (size + view > MAX_PIECE || parts == MAX_VIEWS) {
                    pieces.add(piece(pieces.isEmpty() ? header : Unpooled.EMPTY_BUFFER, bytes, begun, end, message));
                    begun = end;
                    size = 0;
                    parts = 0;
                }
                size += view;
                end += view;
                parts++;
            }
        }
        pieces.add(piece(pieces.isEmpty() ? header : Unpooled.EMPTY_BUFFER, bytes, begun, end, message));
        return pieces;
    }

    private static MessagePiece piece(ByteBuf header, IoVec bytes, long from, long to, Sending message) {
        return new MessagePiece(header, bytes.slice(from, to - from), message);
    }
}
