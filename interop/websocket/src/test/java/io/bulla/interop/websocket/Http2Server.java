// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// A server of HTTP/2, on the loopback address, and clients of it.
final class Http2Server implements AutoCloseable {

    /// Of a stream: one that is not read leaves most of its connection's window, of 64 KiB, to the others.
    private static final int WINDOW = 16_384;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final AtomicInteger connections = new AtomicInteger();
    private final Channel listening;
    private volatile @Nullable BiConsumer<Channel, HttpRequest> requests;
    private volatile @Nullable MemorySegment watched;
    private final AtomicInteger copied = new AtomicInteger();

    private Http2Server(@Nullable SslContext tls) throws InterruptedException {
        listening = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connections.incrementAndGet();
                        if (tls != null) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        }
                        channel.pipeline()
                                .addLast(
                                        new Watch(),
                                        Http2FrameCodecBuilder.forServer().build(),
                                        new Http2MultiplexHandler(new Streams()));
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0))
                .sync()
                .channel();
    }

    /// To a client that knows that it is one of HTTP/2.
    static Http2Server plain() throws InterruptedException {
        return new Http2Server(null);
    }

    @SuppressWarnings("deprecation") // good enough for a test
    static Http2Server tls() throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        return new Http2Server(SslContextBuilder.forServer(certificate.key(), certificate.cert())
                .sslProvider(SslProvider.JDK)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2))
                .build());
    }

    /// The JDK's, which trusts any server.
    static HttpClient client() throws Exception {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return HttpClient.newBuilder()
                .sslContext(context)
                .version(HttpClient.Version.HTTP_2)
                .build();
    }

    private int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    java.net.http.HttpRequest request(String path) {
        return java.net.http.HttpRequest.newBuilder(URI.create("https://localhost:" + port() + path))
                .build();
    }

    void onRequest(BiConsumer<Channel, HttpRequest> answers) {
        requests = answers;
    }

    int connections() {
        return connections.get();
    }

    /// From now on long pieces of what goes out are held against an event's memory.
    void watch(SealedBuffer event) {
        watched = event.iovec().region(0);
    }

    /// Long pieces that were elsewhere since it was asked last.
    int copied() {
        return copied.getAndSet(0);
    }

    Client connect() throws InterruptedException {
        return new Client();
    }

    @Override
    public void close() {
        listening.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 20, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /// Nearest to the socket: where what goes out lies.
    private final class Watch extends ChannelOutboundHandlerAdapter {

        private static final int LONG = 100;

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            MemorySegment event = watched;
            if (event != null && message instanceof ByteBuf bytes && bytes.readableBytes() > LONG) {
                for (var each : bytes.nioBuffers()) {
                    long at = each.isDirect() ? MemorySegment.ofBuffer(each).address() : 0;
                    if (at < event.address() || at >= event.address() + event.byteSize()) {
                        copied.incrementAndGet();
                    }
                }
            }
            context.write(message, promise);
        }
    }

    private final class Streams extends ChannelInitializer<Channel> {

        @Override
        protected void initChannel(Channel channel) {
            channel.pipeline()
                    .addLast(
                            new Http2StreamFrameToHttpObjectCodec(true),
                            new SimpleChannelInboundHandler<HttpRequest>() {
                                @Override
                                protected void channelRead0(ChannelHandlerContext context, HttpRequest request) {
                                    requests.accept(context.channel(), request);
                                }
                            });
        }
    }

    /// One connection.
    final class Client implements AutoCloseable {

        private final Channel channel;
        private final List<Channel> streams = new ArrayList<>();

        Client() throws InterruptedException {
            channel = new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline()
                                    .addLast(
                                            Http2FrameCodecBuilder.forClient()
                                                    .initialSettings(new Http2Settings().initialWindowSize(WINDOW))
                                                    .build(),
                                            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                        }
                    })
                    .connect(listening.localAddress())
                    .sync()
                    .channel();
        }

        /// Asks for a path on a stream of its own.
        ///
        /// @param reads whether the answer is read
        Reader get(String path, boolean reads) throws InterruptedException {
            Reader reader = new Reader();
            Http2StreamChannel stream = new Http2StreamChannelBootstrap(channel)
                    .handler(reader)
                    .open()
                    .sync()
                    .getNow();
            streams.add(stream);
            stream.config().setAutoRead(reads);
            stream.writeAndFlush(new DefaultHttp2HeadersFrame(
                            new DefaultHttp2Headers()
                                    .method("GET")
                                    .path(path)
                                    .scheme("http")
                                    .authority("localhost"),
                            true))
                    .sync();
            return reader;
        }

        /// Asks for a path, and takes it back at once.
        ///
        /// @return false if the server has ended the connection
        boolean askAndReset(String path) throws InterruptedException {
            try {
                get(path, false);
                return streams.removeLast().close().await().isSuccess() && channel.isActive();
            } catch (Exception ended) {
                if (ended instanceof InterruptedException interrupted) {
                    throw interrupted;
                }
                return false;
            }
        }

        @Override
        public void close() {
            // or what was not read is never released
            streams.forEach(stream -> stream.close().syncUninterruptibly());
            channel.close().syncUninterruptibly();
        }
    }

    /// An answer.
    static final class Reader extends ChannelInboundHandlerAdapter {

        private final ByteArrayOutputStream got = new ByteArrayOutputStream();
        private final CompletableFuture<String> all = new CompletableFuture<>();
        private final CompletableFuture<Void> reset = new CompletableFuture<>();

        /// What had come when the stream ended.
        CompletableFuture<String> all() {
            return all;
        }

        /// Waits until the server has given the stream up.
        boolean isReset() throws Exception {
            reset.get(60, TimeUnit.SECONDS);
            return true;
        }

        void awaitBytes(long count) throws InterruptedException {
            synchronized (got) {
                while (got.size() < count) {
                    got.wait();
                }
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
            try {
                if (message instanceof Http2DataFrame data) {
                    synchronized (got) {
                        data.content().readBytes(got, data.content().readableBytes());
                        got.notifyAll();
                    }
                    if (data.isEndStream()) {
                        all.complete(got.toString(StandardCharsets.UTF_8));
                    }
                }
            } finally {
                ReferenceCountUtil.release(message);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof Http2ResetFrame) {
                reset.complete(null);
            }
        }
    }
}
