// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.security;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.NotSslRecordException;

/// Stands before the TLS handler of an accepted connection, and looks at its first byte: a TLS 1.3 connection starts
/// with a handshake record (RFC 8446, section 5.1). The TLS handler itself takes some plaintext hellos for the
/// beginning of an SSL 2 record, and waits for the rest.
final class TlsOnly extends ChannelInboundHandlerAdapter {

    private static final int HANDSHAKE_RECORD = 22;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (!bytes.isReadable()) {
            bytes.release();
        } else if (bytes.getByte(bytes.readerIndex()) == HANDSHAKE_RECORD) {
            context.fireChannelRead(message);
            context.pipeline().remove(this);
        } else {
            bytes.release();
            context.fireExceptionCaught(new NotSslRecordException("not a handshake record"));
            context.close();
        }
    }
}
