// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.StatusOr;
import io.grpc.netty.NegotiationType;
import io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A channel that looks for its server until the test lets it find it.
final class LateChannel extends NameResolverProvider implements AutoCloseable {

    private final CompletableFuture<InetSocketAddress> address = new CompletableFuture<>();
    private final int port;
    final ManagedChannel channel;

    LateChannel(int port) {
        this.port = port;
        NameResolverRegistry.getDefaultRegistry().register(this);
        channel = NettyChannelBuilder.forTarget("late:///server")
                .negotiationType(NegotiationType.PLAINTEXT)
                .disableRetry()
                .build();
    }

    void found() {
        address.complete(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    @Override
    public void close() {
        channel.shutdownNow();
        NameResolverRegistry.getDefaultRegistry().deregister(this);
    }

    @Override
    protected boolean isAvailable() {
        return true;
    }

    @Override
    protected int priority() {
        return 5;
    }

    @Override
    public String getDefaultScheme() {
        return "late";
    }

    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
        return new NameResolver() {
            @Override
            public String getServiceAuthority() {
                return "server";
            }

            @Override
            public void start(Listener2 listener) {
                address.thenAccept(found -> listener.onResult(ResolutionResult.newBuilder()
                        .setAddressesOrError(StatusOr.fromValue(List.of(new EquivalentAddressGroup(found))))
                        .build()));
            }

            @Override
            public void shutdown() {}
        };
    }
}
