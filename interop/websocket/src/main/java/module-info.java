// SPDX-License-Identifier: Apache-2.0
/// Prepared WebSocket messages and server-sent events: made once, written to any number of channels.
module io.bulla.interop.websocket {
    requires transitive io.bulla.buffer;
    requires transitive io.bulla.fanout;
    requires io.bulla.interop.netty;
    requires io.bulla.iovec;
    requires transitive io.netty.codec.http;
    requires transitive io.netty.transport;
    requires io.netty.buffer;
    requires io.netty.codec;
    requires io.netty.codec.http2;
    requires io.netty.common;
    requires io.netty.handler;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.interop.websocket;
}
