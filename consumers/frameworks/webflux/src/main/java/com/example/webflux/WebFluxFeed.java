// SPDX-License-Identifier: Apache-2.0
package com.example.webflux;

import com.example.feed.Feed;
import com.example.feed.Feed.How;
import com.example.feed.Feed.Message;
import com.example.feed.Feed.Running;
import com.example.feed.Feed.Session;
import io.bulla.interop.netty.SealedByteBuf;
import io.bulla.interop.websocket.PreparedMessageHandler;
import java.util.concurrent.CompletionStage;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketMessage.Type;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;

/** A feed of Spring WebFlux, on Reactor Netty's server. */
public final class WebFluxFeed {

    private WebFluxFeed() {}

    public static void main(String[] args) throws Exception {
        Feed.run("webflux", args, WebFluxFeed::start);
    }

    private static Running start(Feed feed) {
        WebSocketService upgrade = new HandshakeWebSocketService();
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(exchange ->
                                upgrade.handleRequest(exchange, session -> joined(feed, exchange, session)))
                        .build()))
                .bindNow();
        return new Running(server.port(), server::disposeNow);
    }

    private static Mono<Void> joined(Feed feed, ServerWebExchange exchange, WebSocketSession session) {
        HttpServerRequest request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
        request.withConnection(connection -> {
            if (feed.how() == How.PREPARED) {
                connection.addHandlerLast(new PreparedMessageHandler());
                PreparedMessageHandler.of(connection.channel()).subscribe(feed.fanout()::subscribe);
                feed.joined(connection.channel());
            } else {
                feed.joined(connection.channel(), session(feed, session));
            }
        });
        return session.receive().then();
    }

    private static Session session(Feed feed, WebSocketSession session) {
        return new Session() {
            @Override
            public CompletionStage<?> send(Message message) {
                if (feed.how() == How.PLAIN) {
                    return session.send(Mono.just(session.textMessage(message.text()))).toFuture();
                }
                NettyDataBufferFactory buffers = (NettyDataBufferFactory) session.bufferFactory();
                // not before it is asked for: of a client that is gone, no message is
                return session.send(Mono.fromSupplier(() -> new WebSocketMessage(
                                Type.TEXT, buffers.wrap(SealedByteBuf.share(message.utf8())))))
                        .toFuture();
            }

            @Override
            public void close() {
                session.close(CloseStatus.NORMAL).subscribe();
            }
        };
    }
}
