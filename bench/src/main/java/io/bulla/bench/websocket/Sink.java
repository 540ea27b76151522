// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/// A client without a network, after its handshake: what is written to it is let go at once.
final class Sink extends EmbeddedChannel {

    private boolean isReady;

    private Sink() {}

    static List<Sink> all(int clients, Way way, Cell cell) {
        List<Sink> all = new ArrayList<>(clients);
        for (int i = 0; i < clients; i++) {
            Sink each = new Sink();
            way.serve(each.pipeline(), cell.isCompressed());
            each.pipeline().addLast(each.new Opened());
            each.writeInbound(Unpooled.wrappedBuffer(Cell.request(cell.kind())));
            each.runPendingTasks();
            if (!each.isReady) {
                throw new IllegalStateException(
                        "no handshake: handlers=" + each.pipeline().names());
            }
            all.add(each);
        }
        return all;
    }

    @Override
    protected void handleOutboundMessage(Object message) {
        ReferenceCountUtil.release(message);
    }

    private final class Opened extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            isReady |= Way.isReady(event);
        }
    }
}
