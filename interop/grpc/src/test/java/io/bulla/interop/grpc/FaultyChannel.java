// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultPoints;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// A channel with one call, both of which may fail; it asks for streams and closes them as gRPC does.
final class FaultyChannel extends Channel {

    /// What a client gets.
    static final class Receiver extends ClientCall.Listener<SealedBuffer> {

        private final FaultPoints points;
        int got;

        Receiver(FaultPoints points) {
            this.points = points;
        }

        @Override
        public void onMessage(SealedBuffer message) {
            message.close();
            got++;
            points.reach("ClientCall.Listener.onMessage, done");
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            points.reach("ClientCall.Listener.onClose");
        }
    }

    private final FaultPoints points;
    // made beforehand: there may be no heap for it at the end
    private final Metadata trailers = new Metadata();
    private ClientCall.Listener<?> listener;

    FaultyChannel(FaultPoints points) {
        this.points = points;
    }

    @SuppressWarnings("unchecked")
    private ClientCall.Listener<SealedBuffer> listener() {
        return (ClientCall.Listener<SealedBuffer>) listener;
    }

    /// One message, as a server in the same process sends it.
    void respond(SealedMarshaller sealed, SealedBuffer message) throws IOException {
        if (listener != null) {
            try (InputStream stream = sealed.stream(message)) {
                listener().onMessage(sealed.parse(stream));
            }
        }
    }

    /// gRPC ends each call that was started, once.
    void end(Status status) {
        if (listener != null) {
            ClientCall.Listener<SealedBuffer> last = listener();
            listener = null;
            last.onClose(status, trailers);
        }
    }

    @Override
    public String authority() {
        return "server";
    }

    @Override
    public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
        points.reach("Channel.newCall");
        return new ClientCall<>() {
            @Override
            public void start(Listener<R> receiver, Metadata headers) {
                points.reach("ClientCall.start");
                listener = receiver;
            }

            @Override
            public void request(int messages) {
                points.reach("ClientCall.request");
            }

            @Override
            public void cancel(String message, Throwable cause) {
                points.reach("ClientCall.cancel");
            }

            @Override
            public void halfClose() {
                points.reach("ClientCall.halfClose");
            }

            @Override
            public void sendMessage(Q message) {
                points.reach("ClientCall.sendMessage");
                try (InputStream stream = method.streamRequest(message)) {
                    stream.readAllBytes();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                points.reach("ClientCall.sendMessage, done");
            }
        };
    }
}
