// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.runtime.oob.security.Security;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.atomic.LongAdder;

/// Counts the bytes that nodes read on the connections that they have opened: in a job in which one node sends, what
/// the others answer. No protection.
final class BytesBack implements Security {

    private final LongAdder bytes = new LongAdder();

    long bytes() {
        return bytes.sum();
    }

    @Override
    public void secure(Channel channel, boolean connecting, int expectedPeer) {
        if (connecting) {
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object read) {
                    if (read instanceof ByteBuf some) {
                        bytes.add(some.readableBytes());
                    }
                    context.fireChannelRead(read);
                }
            });
        }
    }

    @Override
    public int peerOf(Channel channel) {
        return UNKNOWN;
    }

    @Override
    public String name() {
        return "counted";
    }
}
