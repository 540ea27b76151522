// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;

/// The same flow by gRPC: one call whose client sends all messages, as fast as the call is ready for them, and which
/// is answered when the server has them. Flow control as gRPC has it by default.
final class GrpcFlow implements AutoCloseable {

    /// An array as it is, without protobuf.
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try (stream) {
                return stream.readAllBytes();
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }
    };

    private static final MethodDescriptor<byte[], byte[]> FLOW = MethodDescriptor.newBuilder(BYTES, BYTES)
            .setType(MethodDescriptor.MethodType.CLIENT_STREAMING)
            .setFullMethodName(MethodDescriptor.generateFullMethodName("bulla.Distance", "Flow"))
            .build();
    private static final int LIMIT = 16 << 20;

    private final Server server;
    private final Map<String, ManagedChannel> channels = new HashMap<>();

    /// Listens.
    GrpcFlow(InetSocketAddress at) throws IOException {
        server = NettyServerBuilder.forAddress(at)
                .maxInboundMessageSize(LIMIT)
                .addService(ServerServiceDefinition.builder("bulla.Distance")
                        .addMethod(FLOW, ServerCalls.asyncClientStreamingCall(Taker::new))
                        .build())
                .build()
                .start();
    }

    /// One flow at the server.
    private static final class Taker implements StreamObserver<byte[]> {

        private final StreamObserver<byte[]> answer;
        private int next;

        Taker(StreamObserver<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(byte[] message) {
            if (message.length < BareTcp.MESSAGE && !Content.isMessage(message, next)) {
                throw new IllegalStateException("not what was sent: index=" + next);
            }
            next++;
        }

        @Override
        public void onError(Throwable gone) {
            // its sender is told by its own end of the call
        }

        @Override
        public void onCompleted() {
            answer.onNext(Content.message(next, Integer.BYTES));
            answer.onCompleted();
        }
    }

    /// Sends, and waits for the answer. A channel is kept for the next one.
    void send(String address, int port, int count, int bytes) throws InterruptedException, ExecutionException {
        ManagedChannel channel = channels.computeIfAbsent(
                address,
                name -> NettyChannelBuilder.forAddress(new InetSocketAddress(name, port))
                        .usePlaintext()
                        .build());
        Semaphore ready = new Semaphore(0);
        CompletableFuture<byte[]> answer = new CompletableFuture<>();
        ClientCall<byte[], byte[]> call = channel.newCall(FLOW, CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onReady() {
                        ready.release();
                    }

                    @Override
                    public void onMessage(byte[] message) {
                        answer.complete(message);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        if (!status.isOk()) {
                            answer.completeExceptionally(status.asException());
                        }
                        ready.release();
                    }
                },
                new Metadata());
        call.request(1);
        byte[] block = new byte[bytes];
        for (int i = 0; i < count && !answer.isDone(); i++) {
            while (!call.isReady() && !answer.isDone()) {
                ready.acquire();
            }
            call.sendMessage(bytes < BareTcp.MESSAGE ? Content.message(i, bytes) : block);
        }
        call.halfClose();
        if (!Content.isMessage(answer.get(), count)) {
            throw new IllegalStateException("not all have come: count=" + count);
        }
    }

    /// The connections end; it listens still.
    void disconnect() {
        channels.values().forEach(ManagedChannel::shutdownNow);
        channels.clear();
    }

    @Override
    public void close() {
        disconnect();
        server.shutdownNow();
    }
}
