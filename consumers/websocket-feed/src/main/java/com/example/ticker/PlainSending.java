// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.concurrent.TimeUnit;

/** As Netty's examples do it: a group of channels, and a compressor in each. */
final class PlainSending implements Sending {

    private static final int PATIENCE_SECONDS = 5;

    private final ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    // the publisher's
    private volatile long sent;
    private volatile long missed;
    private volatile boolean over;

    @Override
    public void addTo(ChannelPipeline pipeline) {
        pipeline.addLast(
                new WebSocketServerCompressionHandler(LONGEST),
                new WebSocketServerProtocolHandler(PATH, null, true, LONGEST, false, true));
    }

    @Override
    public void join(Channel client) {
        clients.add(client);
        // or close has seen it
        if (over) {
            close(client);
        }
    }

    @Override
    public void publish(String text) {
        int[] count = new int[2];
        // a duplicate for each, and no unbounded queue for the slow
        clients.writeAndFlush(new TextWebSocketFrame(text), client -> {
            boolean keepsUp = client.isWritable();
            count[keepsUp ? 0 : 1]++;
            return keepsUp;
        });
        sent += count[0];
        missed += count[1];
    }

    @Override
    public long sent() {
        return sent;
    }

    @Override
    public long missed() {
        return missed;
    }

    @Override
    public void close() {
        over = true;
        clients.forEach(PlainSending::close);
    }

    private static void close(Channel client) {
        client.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.ENDPOINT_UNAVAILABLE))
                .addListener(ChannelFutureListener.CLOSE);
        // it may not read
        client.eventLoop().schedule(() -> client.close(), PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
