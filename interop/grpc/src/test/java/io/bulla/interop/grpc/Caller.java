// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/// A client without a stub, whose test says what it sends, asks for and keeps.
final class Caller<Q, R> extends ClientCall.Listener<R> {

    final ClientCall<Q, R> call;
    final List<R> messages = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();

    private Caller(ClientCall<Q, R> call) {
        this.call = call;
    }

    static <Q, R> Caller<Q, R> start(Channel channel, MethodDescriptor<Q, R> method) {
        return start(channel, method, CallOptions.DEFAULT);
    }

    static <Q, R> Caller<Q, R> start(Channel channel, MethodDescriptor<Q, R> method, CallOptions options) {
        Caller<Q, R> caller = new Caller<>(channel.newCall(method, options));
        caller.call.start(caller, new Metadata());
        return caller;
    }

    @Override
    public void onMessage(R message) {
        messages.add(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        end.complete(status);
    }

    Status end() throws Exception {
        return end.get(1, TimeUnit.MINUTES);
    }
}
