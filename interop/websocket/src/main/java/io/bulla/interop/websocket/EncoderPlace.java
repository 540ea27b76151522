// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.WebSocketFrameEncoder;
import org.jspecify.annotations.Nullable;

/// Where bytes go out that are frames already: at the frame encoder, since the handlers of the codec behind it would
/// each look at their type. On one handler's thread.
final class EncoderPlace {

    private @Nullable ChannelHandlerContext encoder;

    /// @param to the handler's own place
    /// @return that of the encoder; the handler's own if there is none, or another thread runs it
    ChannelHandlerContext of(ChannelHandlerContext to) {
        ChannelHandlerContext known = encoder;
        if (known != null && !known.isRemoved()) {
            return known;
        }
        ChannelHandlerContext found = to.pipeline().context(WebSocketFrameEncoder.class);
        if (found == null || found.executor() != to.executor()) {
            return to;
        }
        encoder = found;
        return found;
    }
}
