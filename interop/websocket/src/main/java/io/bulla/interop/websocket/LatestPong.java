// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/// Of the answers to a client that pings and does not read, keeps the last: the others it may leave out (RFC 6455,
/// 5.5.3). Nearer to the socket than what answers, which is Netty's protocol handler if there is one, so it sees the
/// close frames of both.
final class LatestPong extends ChannelDuplexHandler {

    private record Kept(Object pong, ChannelPromise promise) {}

    private final Runnable onClose;

    // the event loop's
    private @Nullable Kept kept;

    private LatestPong(Runnable onClose) {
        this.onClose = onClose;
    }

    /// Adds one, on the thread of the handler that it is of, which may be another one than the channel's: a close
    /// frame ends what waits there.
    ///
    /// @param of that handler
    /// @param onClose runs before a close frame goes out
    @SuppressWarnings("deprecation") // as is what puts a handler on such a thread
    static LatestPong install(ChannelHandlerContext of, Runnable onClose) {
        LatestPong fresh = new LatestPong(onClose);
        ChannelHandlerContext answers = of.pipeline().context(WebSocketServerProtocolHandler.class);
        of.pipeline().addBefore(of.executor(), (answers == null ? of : answers).name(), null, fresh);
        return fresh;
    }

    @Override
    public void write(ChannelHandlerContext to, Object message, ChannelPromise promise) {
        if (message instanceof PongWebSocketFrame && !to.channel().isWritable()) {
            Kept before = kept;
            kept = new Kept(message, promise);
            if (before != null) {
                ReferenceCountUtil.release(before.pong);
                // it is answered by the one that took its place
                before.promise.trySuccess();
            }
            return;
        }
        if (message instanceof CloseWebSocketFrame) {
            // nothing may follow it
            try {
                drop();
                onClose.run();
            } finally {
                to.write(message, promise);
            }
            return;
        }
        to.write(message, promise);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext to) {
        Kept last = kept;
        if (last != null && to.channel().isWritable()) {
            kept = null;
            to.writeAndFlush(last.pong, last.promise);
        }
        to.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext to) {
        drop();
        to.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext to) {
        drop();
    }

    private void drop() {
        Kept last = kept;
        if (last != null) {
            kept = null;
            ReferenceCountUtil.release(last.pong);
            last.promise.tryFailure(new ClosedChannelException());
        }
    }
}
