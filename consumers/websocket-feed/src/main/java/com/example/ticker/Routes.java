// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler.HandshakeComplete;
import java.util.Optional;

/** What a request asks for: the page, its figures, the feed, another way of sending. */
final class Routes extends SimpleChannelInboundHandler<FullHttpRequest> {

    private static final String MODE = "/mode/";

    private final Page page;
    private final Ticker ticker;
    private final Figures figures;

    Routes(Page page, Ticker ticker, Figures figures) {
        this.page = page;
        this.ticker = ticker;
        this.figures = figures;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        String path = request.uri();
        if (HttpMethod.POST.equals(request.method())) {
            answer(context, request, change(path, request), Unpooled.EMPTY_BUFFER);
        } else if (!HttpMethod.GET.equals(request.method())) {
            answer(context, request, HttpResponseStatus.METHOD_NOT_ALLOWED, Unpooled.EMPTY_BUFFER);
        } else if (path.equals(Sending.PATH) && request.headers().contains(HttpHeaderNames.UPGRADE)) {
            upgrade(context, request);
        } else if (path.equals("/figures") && HttpVersion.HTTP_1_1.equals(request.protocolVersion())) {
            figures.open(context.channel(), request);
        } else if (path.equals("/")) {
            answer(context, request, HttpResponseStatus.OK, page.html().duplicate());
        } else {
            answer(context, request, HttpResponseStatus.NOT_FOUND, Unpooled.EMPTY_BUFFER);
        }
    }

    /** What is in the pipeline from here on is that of the way of sending. */
    private void upgrade(ChannelHandlerContext context, FullHttpRequest request) {
        Sending sending = ticker.sending();
        sending.addTo(context.pipeline());
        context.pipeline().addLast(new Client(ticker, sending));
        context.fireChannelRead(request.retain());
        context.pipeline().remove(this);
    }

    private HttpResponseStatus change(String path, FullHttpRequest request) {
        if (!isOfThePage(request)) {
            return HttpResponseStatus.FORBIDDEN;
        }
        if (path.equals("/drop")) {
            ticker.drop();
            return HttpResponseStatus.NO_CONTENT;
        }
        Optional<Mode> mode = path.startsWith(MODE) ? Mode.of(path.substring(MODE.length())) : Optional.empty();
        mode.ifPresent(ticker::use);
        return mode.isPresent() ? HttpResponseStatus.NO_CONTENT : HttpResponseStatus.NOT_FOUND;
    }

    /** Or a page of another server that is open in the same browser could ask. */
    private static boolean isOfThePage(FullHttpRequest request) {
        String host = request.headers().get(HttpHeaderNames.HOST, "");
        return host.matches("(127\\.0\\.0\\.1|localhost)(:\\d+)?")
                && ("http://" + host).equals(request.headers().get(HttpHeaderNames.ORIGIN));
    }

    private static void answer(
            ChannelHandlerContext context, FullHttpRequest request, HttpResponseStatus status, ByteBuf body) {
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, "text/html; charset=utf-8")
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, Page.POLICY);
        if (status != HttpResponseStatus.NO_CONTENT) {
            HttpUtil.setContentLength(response, body.readableBytes());
        }
        HttpUtil.setKeepAlive(response, HttpUtil.isKeepAlive(request));
        context.writeAndFlush(response).addListener(done -> {
            if (!done.isSuccess() || !HttpUtil.isKeepAlive(response)) {
                context.close();
            }
        });
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    /** The last handler of a client, which says nothing that is asked for. */
    private static final class Client extends SimpleChannelInboundHandler<WebSocketFrame> {

        private final Ticker ticker;
        private final Sending sending;

        Client(Ticker ticker, Sending sending) {
            this.ticker = ticker;
            this.sending = sending;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof HandshakeComplete) {
                ticker.join(context.channel(), sending);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
            // dropped
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            // a connection that was reset
            context.close();
        }
    }
}
