// SPDX-License-Identifier: Apache-2.0
package com.example.reactor;

import com.example.feed.Feed;
import com.example.feed.Feed.How;
import com.example.feed.Feed.Message;
import com.example.feed.Feed.Running;
import com.example.feed.Feed.Session;
import io.bulla.interop.netty.SealedByteBuf;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.concurrent.CompletionStage;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;

/** A feed of Reactor Netty's server. */
public final class ReactorNettyFeed {

    private ReactorNettyFeed() {}

    public static void main(String[] args) throws Exception {
        Feed.run("reactor-netty", args, ReactorNettyFeed::start);
    }

    private static Running start(Feed feed) {
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes.ws("/feed", (in, out) -> feed.how() == How.PREPARED
                        ? prepared(feed, in)
                        : session(feed, in, out)))
                .bindNow();
        return new Running(server.port(), server::disposeNow);
    }

    private static Publisher<Void> prepared(Feed feed, WebsocketInbound in) {
        in.withConnection(connection -> {
            connection.addHandlerLast(new PreparedMessageHandler());
            PreparedMessageHandler.of(connection.channel()).subscribe(feed.fanout()::subscribe);
            feed.joined(connection.channel());
        });
        return in.receive().then();
    }

    private static Publisher<Void> session(Feed feed, WebsocketInbound in, WebsocketOutbound out) {
        in.withConnection(connection -> feed.joined(connection.channel(), new Session() {
            @Override
            public CompletionStage<?> send(Message message) {
                if (feed.how() == How.PLAIN) {
                    return out.sendString(Mono.just(message.text())).then().toFuture();
                }
                WebSocketFrame frame = new TextWebSocketFrame(SealedByteBuf.share(message.utf8()));
                return out.sendObject(frame).then().toFuture();
            }

            @Override
            public void close() {
                out.sendClose(1000, "").subscribe();
            }
        }));
        return in.receive().then();
    }
}
