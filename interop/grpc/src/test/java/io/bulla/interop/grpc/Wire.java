// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerServiceDefinition;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NegotiationType;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// What gRPC's messages go through, and a server with a channel to it.
enum Wire {
    IN_PROCESS,
    NETTY,
    TLS;

    private static final int WINDOW = 64 * 1024;

    static final class Ends implements AutoCloseable {

        private final Wire wire;
        private final String name;
        final Server server;
        final ManagedChannel channel;

        Ends(Wire wire, String name, Server server) {
            this.wire = wire;
            this.name = name;
            this.server = server;
            this.channel = newChannel();
        }

        ManagedChannel newChannel() {
            return newChannel(16 << 20);
        }

        ManagedChannel newChannel(int largestMessage) {
            return wire.channel(name, server.getPort())
                    .disableRetry()
                    .maxInboundMessageSize(largestMessage)
                    .build();
        }

        /// Tries a call three times. Its test shuts it down.
        ManagedChannel retryingChannel() {
            return wire.channel(name, server.getPort())
                    .enableRetry()
                    .defaultServiceConfig(Map.of(
                            "methodConfig",
                            List.of(Map.of(
                                    "name",
                                    List.of(Map.of()),
                                    "retryPolicy",
                                    Map.of(
                                            "maxAttempts",
                                            3.0,
                                            "initialBackoff",
                                            "0.01s",
                                            "maxBackoff",
                                            "0.01s",
                                            "backoffMultiplier",
                                            1.0,
                                            "retryableStatusCodes",
                                            List.of("UNAVAILABLE"))))))
                    .build();
        }

        @Override
        public void close() {
            channel.shutdownNow();
            server.shutdownNow();
            try {
                // without a limit: a test that hangs says so
                while (!server.awaitTermination(1, TimeUnit.MINUTES)
                        || !channel.awaitTermination(1, TimeUnit.MINUTES)) {
                    System.err.println("gRPC does not end: " + name);
                }
            } catch (InterruptedException failure) {
                throw new AssertionError(failure);
            }
        }
    }

    /// A channel that calls nothing and keeps gRPC's event loops: they end a second after their last user, and a call
    /// that has not been asked for all its messages by then never ends.
    static ManagedChannel keeper() {
        return NettyChannelBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
                .negotiationType(NegotiationType.PLAINTEXT)
                .build();
    }

    Ends open(ServerServiceDefinition service) throws Exception {
        return open(service, server -> {});
    }

    Ends open(ServerServiceDefinition service, Consumer<ServerBuilder<?>> settings) throws Exception {
        String name = UUID.randomUUID().toString();
        ServerBuilder<?> builder = server(name).addService(service).maxInboundMessageSize(16 << 20);
        settings.accept(builder);
        return new Ends(this, name, builder.build().start());
    }

    @SuppressWarnings("deprecation") // good enough for a test
    private ServerBuilder<?> server(String name) throws Exception {
        if (this == IN_PROCESS) {
            return InProcessServerBuilder.forName(name);
        }
        NettyServerBuilder builder = NettyServerBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .flowControlWindow(WINDOW);
        if (this == TLS) {
            SelfSignedCertificate certificate = new SelfSignedCertificate();
            builder.sslContext(GrpcSslContexts.configure(
                            GrpcSslContexts.forServer(certificate.certificate(), certificate.privateKey()),
                            SslProvider.JDK)
                    .build());
        }
        return builder;
    }

    private ManagedChannelBuilder<?> channel(String name, int port) {
        if (this == IN_PROCESS) {
            return InProcessChannelBuilder.forName(name);
        }
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .flowControlWindow(WINDOW);
        return this == TLS ? builder.sslContext(trusting()) : builder.negotiationType(NegotiationType.PLAINTEXT);
    }

    private static io.netty.handler.ssl.SslContext trusting() {
        try {
            return GrpcSslContexts.configure(GrpcSslContexts.forClient(), SslProvider.JDK)
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .endpointIdentificationAlgorithm(null)
                    .build();
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }
}
