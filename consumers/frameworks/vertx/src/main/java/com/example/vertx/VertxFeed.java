// SPDX-License-Identifier: Apache-2.0
package com.example.vertx;

import com.example.feed.Feed;
import com.example.feed.Feed.How;
import com.example.feed.Feed.Message;
import com.example.feed.Feed.Running;
import com.example.feed.Feed.Session;
import io.bulla.interop.netty.SealedByteBuf;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** A feed of Vert.x's server. */
public final class VertxFeed {

    private VertxFeed() {}

    public static void main(String[] args) throws Exception {
        Feed.run("vertx", args, VertxFeed::start);
    }

    private static Running start(Feed feed) throws Exception {
        Vertx vertx = Vertx.vertx();
        HttpServer server = vertx.createHttpServer()
                .webSocketHandler(socket -> {
                    if (feed.how() == How.PREPARED) {
                        prepared(feed, socket);
                    } else {
                        session(feed, socket);
                    }
                })
                .listen(0, "127.0.0.1")
                .await(60, TimeUnit.SECONDS);
        return new Running(server.actualPort(), () -> vertx.close().await());
    }

    private static void prepared(Feed feed, ServerWebSocket socket) {
        ChannelHandlerContext context = ((WebSocketInternal) socket).channelHandlerContext();
        context.pipeline().addBefore(context.name(), null, new PreparedMessageHandler());
        PreparedMessageHandler.of(context.channel()).subscribe(feed.fanout()::subscribe);
        feed.joined(context.channel());
    }

    private static void session(Feed feed, ServerWebSocket socket) {
        ChannelHandlerContext context = ((WebSocketInternal) socket).channelHandlerContext();
        feed.joined(context.channel(), new Session() {
            @Override
            public CompletionStage<?> send(Message message) {
                if (feed.how() == How.PLAIN) {
                    return socket.writeTextMessage(message.text()).toCompletionStage();
                }
                // Vert.x releases no buffer that it is given, and has no text message of bytes
                ByteBuf bytes = SealedByteBuf.share(message.utf8());
                return socket.writeBinaryMessage(BufferInternal.buffer(bytes))
                        .onComplete(done -> bytes.release())
                        .toCompletionStage();
            }

            @Override
            public void close() {
                socket.close();
            }
        });
    }
}
