// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.websocket.EventStream;
import io.bulla.interop.websocket.PreparedMessage;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.bulla.interop.websocket.PreparedMessages;
import io.bulla.interop.websocket.ServerSentEvents;
import io.bulla.interop.websocket.SharedDeflate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

/// A way to send one text to many channels.
enum Way {
    /// A prepared message.
    PREPARED {
        @Override
        Message message(ArenaSource memory, String text) {
            PreparedMessage message = PreparedMessages.builder(memory).build().text(text);
            return new Message() {
                @Override
                public ChannelFuture write(Channel to) {
                    return PreparedMessageHandler.of(to).write(message);
                }

                @Override
                public void close() {
                    message.close();
                }
            };
        }
    },
    /// A frame of Netty's for each channel, whose content is a retained duplicate.
    FRAME {
        @Override
        Message message(ArenaSource memory, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            return new Shared(
                    PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes)) {
                @Override
                Object of(ByteBuf duplicate) {
                    return new TextWebSocketFrame(duplicate);
                }
            };
        }
    },
    /// A retained duplicate of a frame that is made once, past Netty's encoder: what no compression can be had with.
    RAW {
        @Override
        Message message(ArenaSource memory, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            ByteBuf frame = PooledByteBufAllocator.DEFAULT
                    .directBuffer(4 + bytes.length)
                    .writeByte(0x81);
            if (bytes.length < 126) {
                frame.writeByte(bytes.length);
            } else {
                frame.writeByte(126).writeShort(bytes.length);
            }
            return new Shared(frame.writeBytes(bytes)) {
                @Override
                Object of(ByteBuf duplicate) {
                    return duplicate;
                }
            };
        }
    },
    /// A server-sent event.
    EVENT {
        @Override
        Message message(ArenaSource memory, String text) {
            SealedBuffer event = new ServerSentEvents(memory).event(null, null, text);
            return new Message() {
                @Override
                public ChannelFuture write(Channel to) {
                    return to.pipeline().get(EventStream.class).write(event);
                }

                @Override
                public void close() {
                    event.close();
                }
            };
        }
    },
    /// A chunk of Netty's for each channel, whose content is a retained duplicate of an event.
    CHUNK {
        @Override
        Message message(ArenaSource memory, String text) {
            byte[] bytes = ("data:" + text + "\n\n").getBytes(StandardCharsets.UTF_8);
            return new Shared(
                    PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes)) {
                @Override
                Object of(ByteBuf duplicate) {
                    return new DefaultHttpContent(duplicate);
                }
            };
        }
    };

    /// Those of WebSocket.
    static final List<Way> MESSAGES = List.of(PREPARED, FRAME, RAW);
    /// Those of answers that do not end.
    static final List<Way> EVENTS = List.of(EVENT, CHUNK);

    private static final Object OPEN = new Object();
    private static final int LONGEST = 1 << 20;

    /// One message on its way to all.
    interface Message extends AutoCloseable {
        ChannelFuture write(Channel to);

        @Override
        void close();
    }

    private abstract static class Shared implements Message {

        private final ByteBuf bytes;

        Shared(ByteBuf bytes) {
            this.bytes = bytes;
        }

        abstract Object of(ByteBuf duplicate);

        @Override
        public final ChannelFuture write(Channel to) {
            return to.writeAndFlush(of(bytes.retainedDuplicate()));
        }

        @Override
        public final void close() {
            bytes.release();
        }
    }

    /// Made once for all; what that takes is part of the cost.
    abstract Message message(ArenaSource memory, String text);

    /// What a server has in the pipeline of a client.
    void serve(ChannelPipeline pipeline, boolean compressed) {
        pipeline.addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16));
        if (EVENTS.contains(this)) {
            pipeline.addLast(new Answering(this));
            return;
        }
        if (compressed) {
            pipeline.addLast(
                    this == PREPARED
                            ? new WebSocketServerExtensionHandler(SharedDeflate.upTo(LONGEST))
                            : new WebSocketServerCompressionHandler(LONGEST));
        }
        pipeline.addLast(new WebSocketServerProtocolHandler("/", null, true));
        if (this == PREPARED) {
            pipeline.addLast(new PreparedMessageHandler());
        }
    }

    /// Whether a handler behind those may write: shaken hands, or the head of an answer.
    static boolean isReady(Object event) {
        return event == OPEN || event instanceof WebSocketServerProtocolHandler.HandshakeComplete;
    }

    /// Quotes as JSON, which deflate makes some three times shorter.
    static String text(int bytes) {
        StringBuilder text = new StringBuilder("[");
        Random random = new Random(bytes);
        while (text.length() < bytes) {
            text.append("{\"symbol\":\"")
                    .append((char) ('A' + random.nextInt(26)))
                    .append((char) ('A' + random.nextInt(26)))
                    .append("\",\"bid\":")
                    .append(random.nextInt(1_000_000) / 100.0)
                    .append(",\"ask\":")
                    .append(random.nextInt(1_000_000) / 100.0)
                    .append("},");
        }
        return text.substring(0, bytes);
    }

    /// Answers a request with a stream of events.
    private static final class Answering extends SimpleChannelInboundHandler<FullHttpRequest> {

        private final Way way;

        Answering(Way way) {
            this.way = way;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            if (way == EVENT) {
                EventStream.open(context.channel(), request);
            } else {
                HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
                head.headers()
                        .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream")
                        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
                context.channel().writeAndFlush(head);
            }
            context.fireUserEventTriggered(OPEN);
        }
    }
}
