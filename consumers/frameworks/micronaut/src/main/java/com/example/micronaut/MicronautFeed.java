// SPDX-License-Identifier: Apache-2.0
package com.example.micronaut;

import com.example.feed.Feed;
import com.example.feed.Feed.How;
import com.example.feed.Feed.Message;
import com.example.feed.Feed.Running;
import com.example.feed.Feed.Session;
import io.bulla.interop.netty.SealedByteBuf;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.micronaut.context.ApplicationContext;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.server.netty.NettyHttpRequest;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.websocket.WebSocketSession;
import io.micronaut.websocket.annotation.OnMessage;
import io.micronaut.websocket.annotation.OnOpen;
import io.micronaut.websocket.annotation.ServerWebSocket;
import io.micronaut.websocket.exceptions.WebSocketSessionException;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** A feed of Micronaut's server. */
@ServerWebSocket("/feed")
public class MicronautFeed {

    private final Feed feed;

    MicronautFeed(Feed feed) {
        this.feed = feed;
    }

    public static void main(String[] args) throws Exception {
        Feed.run("micronaut", args, MicronautFeed::start);
    }

    private static Running start(Feed feed) {
        ApplicationContext context = ApplicationContext.builder()
                .singletons(feed)
                .properties(Map.of("micronaut.server.host", "127.0.0.1", "micronaut.server.port", -1))
                .start();
        EmbeddedServer server = context.getBean(EmbeddedServer.class).start();
        return new Running(server.getPort(), context::stop);
    }

    @OnOpen
    void onOpen(WebSocketSession session, HttpRequest<?> request) {
        Channel channel = ((NettyHttpRequest<?>) request).getChannelHandlerContext().channel();
        if (feed.how() == How.PREPARED) {
            prepared(channel);
        } else {
            session(channel, session);
        }
    }

    @OnMessage
    void onMessage(String ignored) {
        // a reader of a feed has nothing to say
    }

    private void prepared(Channel channel) {
        channel.pipeline().addLast(new PreparedMessageHandler());
        PreparedMessageHandler.of(channel).subscribe(feed.fanout()::subscribe);
        feed.joined(channel);
    }

    private void session(Channel channel, WebSocketSession session) {
        feed.joined(channel, new Session() {
            @Override
            public CompletionStage<?> send(Message message) {
                if (feed.how() == How.PLAIN) {
                    return session.sendAsync(message.text());
                }
                WebSocketFrame frame = new TextWebSocketFrame(SealedByteBuf.share(message.utf8()));
                try {
                    return session.sendAsync(frame);
                } catch (WebSocketSessionException closed) {
                    // Micronaut does not release it then
                    frame.release();
                    throw closed;
                }
            }

            @Override
            public void close() {
                session.close();
            }
        });
    }
}
