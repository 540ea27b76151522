// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.SendTicket;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
/// outcome, *and* Netty has released every view: a transport that reads the memory after it reported success
/// (zero-copy sends) keeps the handle until it is done. Each write has views of its own, so any number of
/// writes may share one buffer.
///
/// A message over 1 GiB, or of more regions than a gathering write takes, goes out in several pieces, in order,
/// without another write in between. It is not copied in NIO, epoll and io_uring channels; behind Netty's
/// `SslHandler` it is not copied before it is encrypted if that has `setWrapDataSize(0)`, else where the handler
/// fills records with the end of one message and the begin of the next.
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
    /// @return completes when the transport accepted all bytes, or with the failure
    /// @throws io.bulla.buffer.ReleasedBufferException if `handle` is closed; the header is released
    public static ChannelFuture write(Channel channel, ByteBuf header, SealedBuffer handle) {
        Queued message;
        try {
            message = queued(channel, header, handle);
        } catch (Throwable failure) {
            ReferenceCountUtil.release(header);
            handle.close();
            throw failure;
        }
        ChannelPromise promise = channel.newPromise();
        if (channel.eventLoop().inEventLoop()) {
            message.writeTo(channel, promise);
        } else {
            try {
                channel.eventLoop().execute(() -> message.writeTo(channel, promise));
            } catch (RejectedExecutionException loopIsDown) {
                message.giveUp();
                promise.setFailure(loopIsDown);
            }
        }
        return promise;
    }

    private static Queued queued(Channel channel, ByteBuf header, SealedBuffer handle) {
        List<List<ByteBuf>> groups = new ArrayList<>();
        long size = header.readableBytes();
        groups.add(new ArrayList<>(List.of(header)));
        for (ByteBuffer view : handle.iovec().asByteBuffers()) {
            if (size + view.remaining() > MAX_PIECE || groups.getLast().size() == MAX_VIEWS) {
                groups.add(new ArrayList<>());
                size = 0;
            }
            size += view.remaining();
            groups.getLast().add(Unpooled.wrappedBuffer(view));
        }
        SendTicket ticket = new SendTicket(handle, groups.size() + 1);
        List<ByteBuf> pieces = new ArrayList<>(groups.size());
        for (List<ByteBuf> group : groups) {
            pieces.add(new SealedByteBuf(channel.alloc(), group.toArray(ByteBuf[]::new), ticket::happened));
        }
        return new Queued(pieces, ticket);
    }

    /// The ticket waits for each piece to be let go of, and for the promise.
    private record Queued(List<ByteBuf> pieces, SendTicket ticket) {

        /// On the event loop: once that is down, a promise tells its listeners nothing any more.
        void writeTo(Channel channel, ChannelPromise promise) {
            promise.addListener(done -> ticket.happened());
            int last = pieces.size() - 1;
            for (int i = 0; i < last; i++) {
                channel.write(pieces.get(i));
            }
            channel.writeAndFlush(pieces.get(last), promise);
        }

        void giveUp() {
            pieces.forEach(ReferenceCountUtil::release);
            ticket.happened();
        }
    }
}
