// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseLedger;
import io.grpc.ForwardingServerBuilder;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;

/// gRPC's interop tests with our marshaller in place of protobuf's, at both ends.
abstract class GrpcsInteropTests extends AbstractInteropTest {

    static final LeaseLedger HANDLES = LeaseLedger.full();
    static final ArenaSource MEMORY = ArenaSource.create(MemoryBudget.unlimited(), HANDLES);
    static final SealedMarshaller SEALED = SealedMarshaller.of(MEMORY);
    static final CallHandles CALLS = CallHandles.create();

    private Sealing builder;

    @Override
    protected boolean metricsExpected() {
        return false;
    }

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        builder = new Sealing(server());
        return builder;
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        // the last one is asked first
        return client(builder.server.getPort()).disableRetry().intercept(CALLS, SealedCodec.client(SEALED));
    }

    abstract ServerBuilder<?> server();

    abstract ManagedChannelBuilder<?> client(int port);

    /// Changes the marshallers of each service that is added, and keeps the server.
    private static final class Sealing extends ForwardingServerBuilder<Sealing> {

        private final ServerBuilder<?> delegate;
        private Server server;

        Sealing(ServerBuilder<?> delegate) {
            this.delegate = delegate;
        }

        @Override
        protected ServerBuilder<?> delegate() {
            return delegate;
        }

        @Override
        public Server build() {
            server = super.build();
            return server;
        }

        @Override
        public Sealing addService(ServerServiceDefinition service) {
            delegate.addService(ServerInterceptors.intercept(SealedCodec.of(SEALED, service), CALLS));
            return this;
        }
    }

    /// Over sockets.
    public static final class OverNetty extends GrpcsInteropTests {

        @Override
        ServerBuilder<?> server() {
            return NettyServerBuilder.forPort(0, InsecureServerCredentials.create())
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        }

        @Override
        ManagedChannelBuilder<?> client(int port) {
            return NettyChannelBuilder.forAddress("localhost", port)
                    .usePlaintext()
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        }
    }

    /// Without a socket.
    public static final class InProcess extends GrpcsInteropTests {

        @Override
        ServerBuilder<?> server() {
            return InProcessServerBuilder.forName("interop");
        }

        @Override
        ManagedChannelBuilder<?> client(int port) {
            return InProcessChannelBuilder.forName("interop");
        }
    }
}
