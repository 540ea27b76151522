// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import com.google.protobuf.StringValue;
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
import java.util.function.Function;

/// A subscriber that asks for as many messages as a test says, and remembers their numbers.
final class Reader<T> extends ClientCall.Listener<T> {

    final List<Long> numbers = new CopyOnWriteArrayList<>();
    final ClientCall<StringValue, T> call;
    private final Function<T, Long> check;
    private final CompletableFuture<Status> end = new CompletableFuture<>();
    private final java.util.concurrent.Semaphore arrived = new java.util.concurrent.Semaphore(0);

    private Reader(ClientCall<StringValue, T> call, Function<T, Long> check) {
        this.call = call;
        this.check = check;
    }

    static <T> Reader<T> start(
            Channel channel, MethodDescriptor<StringValue, T> method, CallOptions options, Function<T, Long> check) {
        Reader<T> reader = new Reader<>(channel.newCall(method, options), check);
        reader.call.start(reader, new Metadata());
        reader.call.sendMessage(StringValue.of("topic"));
        reader.call.halfClose();
        return reader;
    }

    static Reader<com.google.protobuf.BytesValue> plain(Channel channel) {
        return start(channel, Feed.SUBSCRIBE, CallOptions.DEFAULT, Feed::check);
    }

    @Override
    public void onMessage(T message) {
        numbers.add(check.apply(message));
        arrived.release();
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        end.complete(status);
    }

    /// Asks for messages and waits for them.
    Reader<T> read(int messages) throws InterruptedException {
        call.request(messages);
        if (!arrived.tryAcquire(messages, 1, TimeUnit.MINUTES)) {
            throw new AssertionError("messages missing: wanted=" + messages + " got=" + numbers + " " + end);
        }
        return this;
    }

    Status end() throws Exception {
        return end.get(1, TimeUnit.MINUTES);
    }
}
