// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.websocket.PreparedMessage;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.bulla.interop.websocket.PreparedMessages;
import io.bulla.interop.websocket.SharedDeflate;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import java.nio.charset.StandardCharsets;

/** A prepared message for all, compressed or not, by a fan-out that bounds what waits for the slow. */
final class PreparedSending implements Sending {

    // a second
    private static final int MOST_WAITING = 20;

    private final Fanout fanout =
            Fanout.builder().slow(SlowPolicy.DROP_OLDEST).queueMessages(MOST_WAITING).build();
    private final MemorySource memory;
    private final PreparedMessages messages;
    private final boolean compressed;

    PreparedSending(MemorySource memory, boolean compressed) {
        this.memory = memory;
        this.messages = PreparedMessages.builder(memory).build();
        this.compressed = compressed;
    }

    @Override
    public void addTo(ChannelPipeline pipeline) {
        if (compressed) {
            pipeline.addLast(new WebSocketServerExtensionHandler(SharedDeflate.upTo(LONGEST)));
        }
        pipeline.addLast(
                new WebSocketServerProtocolHandler(PATH, null, true, LONGEST, false, true),
                new PreparedMessageHandler());
    }

    @Override
    public void join(Channel client) {
        PreparedMessageHandler.of(client).subscribe(fanout::subscribe);
    }

    @Override
    public void publish(String text) throws InterruptedException {
        try (PreparedMessage message = message(text);
                SealedBuffer forms = message.forms()) {
            fanout.publish(forms);
        }
    }

    private PreparedMessage message(String text) {
        if (compressed) {
            return messages.text(text);
        }
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer utf8 = builder.put(text.getBytes(StandardCharsets.UTF_8)).seal()) {
            return messages.textUncompressed(utf8);
        }
    }

    @Override
    public long sent() {
        return fanout.figures().sent();
    }

    @Override
    public long missed() {
        return fanout.figures().droppedMessages();
    }

    @Override
    public void close() {
        fanout.close();
    }
}
