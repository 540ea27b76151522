// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.HttpConversionUtil;

/// DATA frames, whose headers are each stream's own (RFC 9113, 6.1), with the event between its chunk's ends: those
/// are the same bytes for all clients.
final class Http2Events implements EventWire {

    static final EventWire INSTANCE = new Http2Events();

    private static final ByteBuf ALIVE = EventWire.constant(":\n\n");
    // of the length of a chunk: an int's
    private static final int MOST_DIGITS = 8;
    private static final short CR_LF = '\r' << 8 | '\n';

    private Http2Events() {}

    @Override
    public Object head(HttpHeaders all) {
        // in lower case, and without those of a connection
        Http2Headers head = HttpConversionUtil.toHttp2Headers(all, true);
        return new DefaultHttp2HeadersFrame(head.status(HttpResponseStatus.OK.codeAsText()));
    }

    @Override
    public Object event(ByteBuf bytes) {
        int start = bytes.readerIndex();
        int length = 0;
        int at = start;
        while (at < bytes.writerIndex() && at - start < MOST_DIGITS) {
            int digit = Character.digit(bytes.getByte(at), 16);
            if (digit < 0) {
                break;
            }
            length = 16 * length + digit;
            at++;
        }
        if (at == start
                || length < 0
                || bytes.writerIndex() - at != length + 4L
                || bytes.getShort(at) != CR_LF
                || bytes.getShort(at + 2 + length) != CR_LF) {
            throw new IllegalArgumentException("not an event of ServerSentEvents: bytes="
                    + ByteBufUtil.hexDump(bytes, start, Math.min(bytes.readableBytes(), 16)));
        }
        bytes.setIndex(at + 2, at + 2 + length);
        return new DefaultHttp2DataFrame(bytes);
    }

    @Override
    public Object alive() {
        return new DefaultHttp2DataFrame(ALIVE.duplicate());
    }

    @Override
    public Object last() {
        return new DefaultHttp2DataFrame(Unpooled.EMPTY_BUFFER, true);
    }

    /// What a stream is told beside data, as its priority, ends nothing.
    @Override
    public boolean says(Object message) {
        return message instanceof Http2DataFrame data && data.content().isReadable();
    }
}
