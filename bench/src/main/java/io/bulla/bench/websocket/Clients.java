// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/// The other process: clients that ask for a WebSocket, or for events, and drop all that comes. It ends with its
/// standard input.
final class Clients {

    private Clients() {}

    /// @param ports of the servers that each get 1,000
    static Process start(Cell cell, List<String> ports) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Clients.class.getName(),
                cell.kind(),
                Integer.toString(WebSocketCost.CLIENTS)));
        command.addAll(ports);
        return new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /// @param args the cell's kind, clients of each server, the servers' ports
    public static void main(String[] args) throws Exception {
        SslContext tls = args[0].equals("tls")
                ? SslContextBuilder.forClient()
                        .sslProvider(SslProvider.JDK)
                        .trustManager(InsecureTrustManagerFactory.INSTANCE)
                        .endpointIdentificationAlgorithm(null)
                        .protocols("TLSv1.3")
                        .build()
                : null;
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        for (int server = 2; server < args.length; server++) {
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                Channel client = new Bootstrap()
                        .group(loop)
                        .channel(NioSocketChannel.class)
                        .handler(new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel channel) {
                                if (tls != null) {
                                    channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                                }
                                channel.pipeline().addLast(new Dropping(args[0]));
                            }
                        })
                        .connect(InetAddress.getLoopbackAddress(), Integer.parseInt(args[server]))
                        .sync()
                        .channel();
                if (tls != null) {
                    // one at a time: a server that shakes hands with all at once is too late for some
                    client.pipeline().get(SslHandler.class).handshakeFuture().sync();
                }
            }
        }
        while (System.in.read() >= 0) {
            // until the parent ends
        }
        System.exit(0);
    }

    private static final class Dropping extends ChannelInboundHandlerAdapter {

        private final String kind;

        Dropping(String kind) {
            this.kind = kind;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.wrappedBuffer(Cell.request(kind)));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            // a server that has ended
            System.exit(0);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            cause.printStackTrace();
            System.exit(1);
        }
    }
}
