// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.grpc;

import com.google.protobuf.ListValue;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.grpc.Broadcast;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerMethodDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/// The streams of one design. One thread publishes.
abstract class Streams {

    static final Marshaller<ListValue> PROTOBUF = ProtoUtils.marshaller(ListValue.getDefaultInstance());

    private static final long LOOK_AGAIN_NANOS = 200_000;

    private final List<ServerCallStreamObserver<?>> observers = new CopyOnWriteArrayList<>();

    static Streams of(Design design, SealedMarshaller sealed) {
        return switch (design) {
            case PLAIN ->
                new Each<>(PROTOBUF) {
                    @Override
                    void publish(ListValue message) {
                        all(message);
                    }
                };
            case ARRAY ->
                new Each<>(Design.ARRAYS) {
                    @Override
                    void publish(ListValue message) {
                        all(message.toByteArray());
                    }
                };
            case FLOOR ->
                new Each<>(Design.DRAINED) {
                    private byte[] bytes;

                    @Override
                    void publish(ListValue message) {
                        if (bytes == null || bytes.length != message.getSerializedSize()) {
                            bytes = message.toByteArray();
                        }
                        all(bytes);
                    }
                };
            case SHARED -> new Shared(sealed);
        };
    }

    /// The method that adds streams.
    abstract ServerMethodDefinition<byte[], ?> method(Design design);

    abstract void publish(ListValue message) throws InterruptedException;

    void joined(ServerCallStreamObserver<?> observer) {
        observers.add(observer);
    }

    int count() {
        return observers.size();
    }

    /// The same way of waiting for every design: until gRPC is ready for a message on each stream.
    void awaitReady() {
        for (ServerCallStreamObserver<?> observer : observers) {
            while (!observer.isReady()) {
                LockSupport.parkNanos(LOOK_AGAIN_NANOS);
            }
        }
    }

    private abstract static class Each<T> extends Streams {

        private final List<ServerCallStreamObserver<T>> mine = new CopyOnWriteArrayList<>();
        private final Marshaller<T> marshaller;

        Each(Marshaller<T> marshaller) {
            this.marshaller = marshaller;
        }

        @Override
        ServerMethodDefinition<byte[], ?> method(Design design) {
            return ServerMethodDefinition.create(
                    design.method(Design.ARRAYS, marshaller),
                    ServerCalls.asyncServerStreamingCall((topic, observer) -> {
                        ServerCallStreamObserver<T> stream = (ServerCallStreamObserver<T>) observer;
                        stream.setOnReadyHandler(() -> {});
                        mine.add(stream);
                        joined(stream);
                    }));
        }

        void all(T message) {
            for (ServerCallStreamObserver<T> stream : mine) {
                stream.onNext(message);
            }
        }
    }

    /// Of sealed messages.
    static final class Shared extends Streams {

        private final SealedMarshaller sealed;
        private final Broadcast broadcast = Broadcast.builder().build();

        Shared(SealedMarshaller sealed) {
            this.sealed = sealed;
        }

        @Override
        ServerMethodDefinition<byte[], ?> method(Design design) {
            return ServerMethodDefinition.create(
                    design.method(Design.ARRAYS, sealed), ServerCalls.asyncServerStreamingCall((topic, observer) -> {
                        ServerCallStreamObserver<SealedBuffer> stream =
                                (ServerCallStreamObserver<SealedBuffer>) observer;
                        broadcast.subscribe(stream);
                        joined(stream);
                    }));
        }

        @Override
        void publish(ListValue message) throws InterruptedException {
            try (SealedBuffer packed = sealed.pack(PROTOBUF, message)) {
                broadcast.publish(packed);
            }
        }

        void publish(SealedBuffer received) throws InterruptedException {
            broadcast.publish(received);
        }
    }
}
