// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.websocket.EventStream;
import io.bulla.interop.websocket.ServerSentEvents;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2StreamChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// Server-sent events for readers that are sent away in the middle and come back for the rest.
///
/// ```
/// 0 ..      published to all; then the streams end
/// half ..   written to each reader that comes back: MISSED events, which were made while it was away
/// .. N - 1  published to all; then the streams end, and a reader that comes back again gets 204
/// ```
final class EventFeed {

    private static final int MISSED = 10;
    private static final int COMMENT_EACH = 100;

    private final ServerSentEvents events;
    private final Texts texts;
    private final int messages;
    private final int half;
    private final Fanout first;
    private final Fanout rest;
    private final Fanout attacked =
            Fanout.builder().slow(SlowPolicy.DISCONNECT).queueMessages(8).build();
    private final AtomicInteger joined = new AtomicInteger();
    private final AtomicInteger cameBack = new AtomicInteger();
    private final AtomicInteger overHttp2 = new AtomicInteger();
    private final AtomicInteger wrongIds = new AtomicInteger();

    /// @param messages more than twice those that are missed
    /// @param patience of the publisher with a slow reader
    EventFeed(MemorySource memory, Texts texts, int messages, Duration patience) {
        this.events = new ServerSentEvents(memory);
        this.texts = texts;
        this.messages = messages;
        this.half = messages / 2;
        this.first = Fanout.builder().slow(SlowPolicy.WAIT).patience(patience).build();
        this.rest = Fanout.builder().slow(SlowPolicy.WAIT).patience(patience).build();
    }

    AtomicInteger joined() {
        return joined;
    }

    AtomicInteger cameBack() {
        return cameBack;
    }

    /// Readers that joined or came back on a stream of HTTP/2.
    int overHttp2() {
        return overHttp2.get();
    }

    /// Readers that did not say what they have got last, or not what they had got.
    int wrongIds() {
        return wrongIds.get();
    }

    /// On the event loop.
    void answer(Channel channel, HttpRequest request) {
        // the pages come from nowhere
        HttpHeaders headers = new DefaultHttpHeaders().set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        if (request.uri().startsWith("/events/attack")) {
            EventStream.open(channel, request, headers).subscribe(attacked::subscribe);
            return;
        }
        if (channel instanceof Http2StreamChannel) {
            overHttp2.incrementAndGet();
        }
        String got = EventStream.lastEventId(request);
        if (got == null) {
            EventStream.open(channel, request, headers).subscribe(first::subscribe);
            joined.incrementAndGet();
        } else if (got.equals(id(half - 1))) {
            EventStream stream = EventStream.open(channel, request, headers);
            for (int i = half; i < half + MISSED; i++) {
                try (SealedBuffer missed = event(i)) {
                    stream.write(missed);
                }
            }
            stream.subscribe(rest::subscribe);
            cameBack.incrementAndGet();
        } else {
            if (!got.equals(id(messages - 1))) {
                System.out.println("websocket: wrong Last-Event-ID: " + got);
                wrongIds.incrementAndGet();
            }
            noMore(channel, headers);
        }
    }

    private static void noMore(Channel channel, HttpHeaders headers) {
        HttpResponse none = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NO_CONTENT);
        none.headers().add(headers).set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        channel.writeAndFlush(none).addListener(ChannelFutureListener.CLOSE);
    }

    void publishFirst() throws InterruptedException {
        try (SealedBuffer soon = events.retry(Duration.ofMillis(50))) {
            first.publish(soon);
        }
        publish(first, 0, half);
    }

    void publishRest() throws InterruptedException {
        publish(rest, half + MISSED, messages);
        attacked.close();
    }

    private void publish(Fanout feed, int from, int to) throws InterruptedException {
        for (int i = from; i < to; i++) {
            try (SealedBuffer event = event(i)) {
                feed.publish(event);
                attacked.publish(event);
            }
            if (i % COMMENT_EACH == 0) {
                try (SealedBuffer comment = events.comment("data: none\n" + i)) {
                    feed.publish(comment);
                }
            }
        }
        feed.complete();
    }

    private static String id(int number) {
        return "no. " + number + " ü";
    }

    /// Of several lines, at each 0, with each kind of line break; each second one has a name.
    private SealedBuffer event(int number) {
        String end = switch (number % 3) {
            case 0 -> "\n";
            case 1 -> "\r\n";
            default -> "\r";
        };
        return events.event(
                id(number), number % 2 == 0 ? null : "odd", texts.text(number).replace("0", end));
    }
}
