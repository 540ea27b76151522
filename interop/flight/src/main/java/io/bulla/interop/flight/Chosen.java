// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.util.function.Function;

/// A call whose request says which handler serves it.
final class Chosen<Q, R> extends ServerCall.Listener<Q> {

    private final ServerCall<Q, R> call;
    private final Metadata headers;
    private final Function<Q, ServerCallHandler<Q, R>> handlers;
    private ServerCall.Listener<Q> listener = new ServerCall.Listener<>() {};
    private boolean chosen;
    private boolean ready;

    private Chosen(ServerCall<Q, R> call, Metadata headers, Function<Q, ServerCallHandler<Q, R>> handlers) {
        this.call = call;
        this.headers = headers;
        this.handlers = handlers;
    }

    static <Q, R> ServerCallHandler<Q, R> by(Function<Q, ServerCallHandler<Q, R>> handlers) {
        return (call, headers) -> {
            call.request(1);
            return new Chosen<>(call, headers, handlers);
        };
    }

    @Override
    public void onMessage(Q request) {
        if (!chosen) {
            listener = handlers.apply(request).startCall(call, headers);
            chosen = true;
            if (ready) {
                listener.onReady();
            }
        }
        listener.onMessage(request);
    }

    @Override
    public void onHalfClose() {
        if (!chosen) {
            call.close(Status.INTERNAL.withDescription("half-closed without a request"), new Metadata());
        }
        listener.onHalfClose();
    }

    @Override
    public void onReady() {
        ready = true;
        listener.onReady();
    }

    @Override
    public void onCancel() {
        listener.onCancel();
    }

    @Override
    public void onComplete() {
        listener.onComplete();
    }
}
