// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultPoints;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// A server's call that may fail; it asks for streams and closes them as gRPC does.
final class FaultyServerCall extends ServerCall<SealedBuffer, SealedBuffer> {

    /// Sends back what it gets.
    static final class Service extends Listener<SealedBuffer> {

        private final FaultPoints points;
        private final ServerCall<SealedBuffer, SealedBuffer> call;

        Service(FaultPoints points, ServerCall<SealedBuffer, SealedBuffer> call) {
            this.points = points;
            this.call = call;
        }

        @Override
        public void onMessage(SealedBuffer message) {
            try (message) {
                points.reach("ServerCall.Listener.onMessage");
                call.sendMessage(message);
            }
        }

        @Override
        public void onHalfClose() {
            call.close(Status.OK, new Metadata());
        }

        @Override
        public void onCancel() {
            points.reach("ServerCall.Listener.onCancel");
        }

        @Override
        public void onComplete() {
            points.reach("ServerCall.Listener.onComplete");
        }
    }

    private final FaultPoints points;
    private final SealedMarshaller sealed;
    int sent;
    Status closed;

    FaultyServerCall(FaultPoints points, SealedMarshaller sealed) {
        this.points = points;
        this.sealed = sealed;
    }

    @Override
    public void request(int messages) {
        points.reach("ServerCall.request");
    }

    @Override
    public void sendHeaders(Metadata headers) {
        points.reach("ServerCall.sendHeaders");
    }

    @Override
    public boolean isReady() {
        points.reach("ServerCall.isReady");
        return true;
    }

    @Override
    public void sendMessage(SealedBuffer message) {
        points.reach("ServerCall.sendMessage");
        try (InputStream stream = sealed.stream(message)) {
            stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        sent++;
        points.reach("ServerCall.sendMessage, done");
    }

    @Override
    public void close(Status status, Metadata trailers) {
        closed = status;
        points.reach("ServerCall.close, done");
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public MethodDescriptor<SealedBuffer, SealedBuffer> getMethodDescriptor() {
        return sealed.requests(sealed.responses(Feed.ECHO));
    }
}
