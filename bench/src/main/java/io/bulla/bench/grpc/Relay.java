// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.grpc;

import com.google.protobuf.ListValue;
import io.bulla.buffer.SealedBuffer;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.Marshaller;
import java.util.concurrent.Semaphore;

/// Subscribes to the origin and hands on what comes, one message after the other.
///
/// @param <T> as what it is received
final class Relay<T> {

    /// Sends to all streams.
    interface Onward<T> {
        void publish(T message) throws InterruptedException;
    }

    private final ClientCall<byte[], T> call;
    private final Streams streams;
    private final Semaphore done = new Semaphore(0);
    private volatile long until;
    private volatile long messages;

    private Relay(ManagedChannel origin, Marshaller<T> marshaller, Streams streams, Onward<T> onward) {
        this.streams = streams;
        call = origin.newCall(Design.method("origin", Design.ARRAYS, marshaller), CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(T message) {
                        received(message, onward);
                    }
                },
                new Metadata());
        call.sendMessage(new byte[0]);
        call.halfClose();
    }

    static Relay<ListValue> plain(ManagedChannel origin, Streams streams) {
        return new Relay<>(origin, Streams.PROTOBUF, streams, streams::publish);
    }

    static Relay<SealedBuffer> shared(ManagedChannel origin, Marshaller<SealedBuffer> sealed, Streams.Shared streams) {
        return new Relay<>(origin, sealed, streams, message -> {
            try (message) {
                streams.publish(message);
            }
        });
    }

    private void received(T message, Onward<T> onward) {
        try {
            streams.awaitReady();
            onward.publish(message);
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
        messages = messages + 1;
        if (System.nanoTime() < until) {
            call.request(1);
        } else {
            done.release();
        }
    }

    /// @return messages handed on
    long run(long nanos) throws InterruptedException {
        messages = 0;
        until = System.nanoTime() + nanos;
        call.request(1);
        done.acquire();
        return messages;
    }
}
