// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/// A client without a network, after its handshake: what is written to it is let go at once.
final class Sink extends EmbeddedChannel {

    private Sink() {}

    static List<Sink> all(int clients, Way way, boolean compressed) {
        List<Sink> all = new ArrayList<>(clients);
        for (int i = 0; i < clients; i++) {
            Sink each = new Sink();
            way.serve(each.pipeline(), compressed);
            each.writeInbound(Unpooled.wrappedBuffer(Way.request()));
            each.runPendingTasks();
            if (each.pipeline().get("wsencoder") == null) {
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
}
