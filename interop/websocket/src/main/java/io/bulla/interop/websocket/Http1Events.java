// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// A chunk for each event, the same bytes for all clients (RFC 9112, 7.1).
final class Http1Events implements EventWire {

    static final EventWire INSTANCE = new Http1Events();

    private static final ByteBuf ALIVE = EventWire.constant("3\r\n:\n\n\r\n");
    private static final ByteBuf LAST = EventWire.constant("0\r\n\r\n");

    private Http1Events() {}

    @Override
    public Object head(HttpHeaders all) {
        StringBuilder head = new StringBuilder("HTTP/1.1 200 OK\r\n");
        for (Map.Entry<String, String> each : all) {
            head.append(each.getKey()).append(": ").append(each.getValue()).append("\r\n");
        }
        head.append("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
        return Unpooled.wrappedBuffer(head.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public Object event(ByteBuf bytes) {
        return bytes;
    }

    @Override
    public Object alive() {
        return ALIVE.duplicate();
    }

    @Override
    public Object last() {
        return LAST.duplicate();
    }

    @Override
    public boolean says(Object message) {
        return !(message instanceof ByteBuf bytes) || bytes.isReadable();
    }
}
