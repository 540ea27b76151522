// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/// The rival of [OobPipeline], Netty alone: frames with a length field, each answered, so many on their way at a
/// time; one event loop for either end. A frame of up to 1 KiB is answered by itself, a larger one by its length.
///
/// Arguments: bytes of a message; `plain` or `tls`, by the same provider and version as Bulla's; who sends,
/// `loop`, a message for each answer, or `thread`, a thread that waits for a permit. Prints nanoseconds per
/// message.
public final class NettyPipeline {

    private static final int LENGTH_BYTES = 4;
    private static final int ECHOED = 1 << 10;
    private static final int FLUSH_AFTER = 256;
    private static final String VERSION = "TLSv1.3";

    private final Pipeline shape;
    private final boolean sentByLoop;
    private final ByteBuf message;
    private final LongAdder answered = new LongAdder();
    private final Semaphore permits;

    private NettyPipeline(Pipeline shape, boolean sentByLoop) {
        this.shape = shape;
        this.sentByLoop = sentByLoop;
        this.permits = new Semaphore(shape.depth());
        byte[] content = new byte[shape.bytes()];
        ThreadLocalRandom.current().nextBytes(content);
        message = ByteBufAllocator.DEFAULT
                .directBuffer(LENGTH_BYTES + shape.bytes())
                .writeInt(shape.bytes())
                .writeBytes(content);
    }

    public static void main(String[] args) throws Exception {
        new NettyPipeline(Pipeline.of(args[0], args[1]), args[2].equals("loop")).run();
    }

    private void run() throws Exception {
        try (TrialJob trial = TrialJob.of(2)) {
            EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
            SslContext server = shape.secure() ? server(trial) : null;
            SslContext client = shape.secure() ? client(trial) : null;
            Channel listener = new ServerBootstrap()
                    .group(loops)
                    .channel(NioServerSocketChannel.class)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(pipeline(server, new Answers()))
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .sync()
                    .channel();
            ChannelFuture connected = new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .handler(pipeline(client, new Asks()))
                    .connect(listener.localAddress())
                    .sync();
            begin(connected.channel());
            System.out.println(Pipeline.nanosPerMessage(answered::sum));
        }
        // in full flight
        System.exit(0);
    }

    private void begin(Channel channel) {
        if (sentByLoop) {
            channel.eventLoop().execute(() -> {
                for (int i = 0; i < shape.depth(); i++) {
                    channel.write(message.retainedDuplicate());
                }
                channel.flush();
            });
        } else {
            Thread.ofPlatform().daemon().start(() -> {
                while (true) {
                    permits.acquireUninterruptibly();
                    channel.writeAndFlush(message.retainedDuplicate());
                }
            });
        }
    }

    private ChannelInitializer<Channel> pipeline(SslContext tls, ChannelHandler last) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (tls != null) {
                    channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                }
                if (!sentByLoop) {
                    channel.pipeline().addLast(new FlushConsolidationHandler(FLUSH_AFTER, true));
                }
                channel.pipeline()
                        .addLast(new LengthFieldBasedFrameDecoder(LENGTH_BYTES + shape.bytes(), 0, LENGTH_BYTES, 0, 0))
                        .addLast(last);
            }
        };
    }

    /// The end that is sent to.
    private static final class Answers extends SimpleChannelInboundHandler<ByteBuf> {

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
            int length = frame.getInt(frame.readerIndex());
            context.write(
                    length <= ECHOED
                            ? frame.retain()
                            : context.alloc()
                                    .directBuffer(2 * LENGTH_BYTES)
                                    .writeInt(LENGTH_BYTES)
                                    .writeInt(length));
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }
    }

    /// The end that sends.
    private final class Asks extends SimpleChannelInboundHandler<ByteBuf> {

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf answer) {
            answered.increment();
            if (sentByLoop) {
                context.write(message.retainedDuplicate());
            } else {
                permits.release();
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (sentByLoop) {
                context.flush();
            }
        }
    }

    private static SslContext server(TrialJob trial) throws IOException {
        return SslContextBuilder.forServer(trial.chain(0).toFile(), trial.key(0).toFile())
                .sslProvider(SslProvider.JDK)
                .protocols(VERSION)
                .trustManager(trial.authority().toFile())
                .clientAuth(ClientAuth.REQUIRE)
                .build();
    }

    private static SslContext client(TrialJob trial) throws IOException {
        return SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols(VERSION)
                .keyManager(trial.chain(1).toFile(), trial.key(1).toFile())
                .trustManager(trial.authority().toFile())
                .endpointIdentificationAlgorithm(null)
                .build();
    }
}
