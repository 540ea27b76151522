// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;

/// One call, as a broadcast sees it. `send` and `close` are called by one thread at a time.
interface Outlet extends Target<SealedBuffer> {

    boolean isReady();

    void close(Status status);

    static Outlet of(ServerCallStreamObserver<SealedBuffer> observer) {
        return new Outlet() {
            @Override
            public boolean isReady() {
                return observer.isReady();
            }

            @Override
            public void send(SealedBuffer message) {
                observer.onNext(message);
            }

            @Override
            public void close(Status status) {
                if (status.isOk()) {
                    observer.onCompleted();
                } else {
                    observer.onError(status.asRuntimeException());
                }
            }
        };
    }

    static Outlet of(ServerCall<?, SealedBuffer> call) {
        return new Outlet() {
            @Override
            public boolean isReady() {
                return call.isReady();
            }

            @Override
            public void send(SealedBuffer message) {
                call.sendMessage(message);
            }

            @Override
            public void close(Status status) {
                call.close(status, new Metadata());
            }
        };
    }
}
