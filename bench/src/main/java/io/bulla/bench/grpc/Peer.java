// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.grpc;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/// The other process: subscribers that drop what they get unread, and the origin of what is relayed. It ends with its
/// standard input.
final class Peer {

    private static final int CHANNELS = 10;

    private static final Marshaller<byte[]> DROPPED = new Marshaller<>() {
        private final byte[] nothing = new byte[0];

        @Override
        public InputStream stream(byte[] value) {
            return InputStream.nullInputStream();
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                stream.skip(stream.available());
                return nothing;
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    };

    private Peer() {}

    /// @param args the server's port, streams of each design, bytes of a message of the origin
    public static void main(String[] args) throws Exception {
        Server origin = origin(Design.message(Integer.parseInt(args[2])).toByteArray());
        System.out.println(origin.getPort());
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        List<ManagedChannel> channels = new ArrayList<>();
        for (int i = 0; i < CHANNELS; i++) {
            channels.add(NettyChannelBuilder.forAddress(server)
                    .usePlaintext()
                    .maxInboundMessageSize(Integer.MAX_VALUE)
                    .build());
        }
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            for (Design design : Design.values()) {
                subscribe(channels.get(i % CHANNELS), design);
            }
        }
        while (System.in.read() >= 0) {
            // until the parent ends
        }
        System.exit(0);
    }

    private static void subscribe(ManagedChannel channel, Design design) {
        ClientCall<byte[], byte[]> call = channel.newCall(design.method(Design.ARRAYS, DROPPED), CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(byte[] message) {
                        call.request(1);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        System.exit(1);
                    }
                },
                new Metadata());
        call.sendMessage(new byte[0]);
        call.halfClose();
        call.request(8);
    }

    /// Sends whenever its stream is ready.
    private static Server origin(byte[] message) throws IOException {
        return NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder("bulla.bench.Feed")
                        .addMethod(
                                Design.method("origin", Design.ARRAYS, Design.DRAINED),
                                ServerCalls.asyncServerStreamingCall((topic, observer) -> {
                                    ServerCallStreamObserver<byte[]> stream =
                                            (ServerCallStreamObserver<byte[]>) observer;
                                    stream.setOnReadyHandler(() -> {
                                        while (stream.isReady()) {
                                            stream.onNext(message);
                                        }
                                    });
                                }))
                        .build())
                .build()
                .start();
    }
}
