// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/// A service that sends back what it receives, as it is: it parses nothing.
final class Echo {

    private Echo() {}

    static ServerServiceDefinition service(SealedMarshaller sealed) {
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(sealed.requests(sealed.responses(Feed.ECHO)), ServerCalls.asyncUnaryCall(Echo::once))
                .addMethod(
                        sealed.requests(sealed.responses(Feed.ECHO_ALL)), ServerCalls.asyncBidiStreamingCall(Echo::all))
                .addMethod(
                        sealed.requests(sealed.responses(Feed.LAST)), ServerCalls.asyncClientStreamingCall(Echo::last))
                .build();
    }

    private static void once(SealedBuffer request, StreamObserver<SealedBuffer> responses) {
        try (request) {
            responses.onNext(request);
        }
        responses.onCompleted();
    }

    private static StreamObserver<SealedBuffer> all(StreamObserver<SealedBuffer> responses) {
        return new StreamObserver<>() {
            @Override
            public void onNext(SealedBuffer message) {
                try (message) {
                    responses.onNext(message);
                }
            }

            @Override
            public void onError(Throwable cancelled) {}

            @Override
            public void onCompleted() {
                responses.onCompleted();
            }
        };
    }

    private static StreamObserver<SealedBuffer> last(StreamObserver<SealedBuffer> responses) {
        return new StreamObserver<>() {
            private SealedBuffer last = SealedBuffer.concat();

            @Override
            public void onNext(SealedBuffer message) {
                last.close();
                last = message;
            }

            @Override
            public void onError(Throwable cancelled) {
                last.close();
            }

            @Override
            public void onCompleted() {
                responses.onNext(last);
                last.close();
                responses.onCompleted();
            }
        };
    }
}
