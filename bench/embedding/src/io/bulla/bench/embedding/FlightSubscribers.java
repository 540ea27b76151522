// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.arrow.flight.impl.Flight;
import org.apache.arrow.flight.impl.FlightServiceGrpc;

/// Many streams of a Flight server, in a process of their own, of which each message is dropped as it comes.
final class FlightSubscribers implements AutoCloseable {

    private final Process process;

    FlightSubscribers(int port, int streams, String... tickets) throws IOException {
        process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:+UseSerialGC",
                        "--sun-misc-unsafe-memory-access=allow",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FlightSubscribers.class.getName(),
                        "" + port,
                        "" + streams,
                        String.join(",", tickets))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Override
    public void close() {
        process.destroy();
    }

    /// @param args the port, how many streams for each ticket, the tickets
    public static void main(String[] args) throws IOException {
        ManagedChannel channel = Grpc.newChannelBuilder("localhost:" + args[0], InsecureChannelCredentials.create())
                .maxInboundMessageSize(64 << 20)
                .build();
        MethodDescriptor<Flight.Ticket, Integer> method = FlightServiceGrpc.getDoGetMethod().toBuilder(
                        FlightServiceGrpc.getDoGetMethod().getRequestMarshaller(), new Dropped())
                .build();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            for (String ticket : args[2].split(",")) {
                ClientCall<Flight.Ticket, Integer> call = channel.newCall(method, CallOptions.DEFAULT);
                call.start(
                        new ClientCall.Listener<>() {
                            @Override
                            public void onMessage(Integer dropped) {
                                call.request(1);
                            }
                        },
                        new Metadata());
                call.request(2);
                call.sendMessage(Flight.Ticket.newBuilder()
                        .setTicket(ByteString.copyFromUtf8(ticket))
                        .build());
                call.halfClose();
            }
        }
        while (System.in.read() >= 0) {
            // until the parent ends
        }
        System.exit(0);
    }

    private static final class Dropped implements Marshaller<Integer> {

        @Override
        public InputStream stream(Integer value) {
            return new ByteArrayInputStream(new byte[0]);
        }

        @Override
        public Integer parse(InputStream stream) {
            try {
                return stream.available();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }
}
