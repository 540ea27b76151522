// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// How a stream of events lies on a version of HTTP. Each of these is what the next handler towards the socket takes.
/// Has no state: any thread.
interface EventWire {

    /// @param codec a handler of a pipeline
    /// @return `null` if it is none of HTTP, that is nearest to the socket
    static @Nullable EventWire of(ChannelHandler codec) {
        if (codec instanceof HttpServerCodec
                || codec instanceof HttpRequestDecoder
                || codec instanceof HttpResponseEncoder) {
            return Http1Events.INSTANCE;
        }
        return codec instanceof Http2StreamFrameToHttpObjectCodec ? Http2Events.INSTANCE : null;
    }

    /// @return of all channels, never released
    static ByteBuf constant(String text) {
        return Unpooled.unreleasableBuffer(Unpooled.directBuffer()
                .writeBytes(text.getBytes(StandardCharsets.US_ASCII))
                .asReadOnly());
    }

    /// The answer before the first event.
    ///
    /// @param all with what the stream needs
    Object head(HttpHeaders all);

    /// @param bytes of an event of [ServerSentEvents]; goes with what is returned, and stays the caller's if this
    ///     throws
    /// @throws IllegalArgumentException if it is none, where that can be seen
    Object event(ByteBuf bytes);

    /// An empty comment.
    Object alive();

    /// The end behind the last event.
    Object last();

    /// @param message from the client, behind its request
    /// @return whether it says something
    boolean says(Object message);
}
