// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.BytesValue;
import com.google.protobuf.StringValue;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import io.grpc.CallOptions;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A server that subscribes to another one and hands on what it gets, byte for byte, without parsing it.
@ExtendWith(NoOpenHandles.class)
class RelayTest {

    private static final int MESSAGES = 50;
    private static final int READERS = 10;

    @AfterAll
    static void nettyLeaksNothing() throws InterruptedException {
        assertEquals(List.of(), LeakRecorder.reports(5));
    }

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        BroadcastTest.awaitClosed(memory);
    }

    @Test
    void whatIsReceivedIsHandedOnAsItIs(MemorySource memory) throws Exception {
        SealedMarshaller origin = SealedMarshaller.of(memory);
        SealedMarshaller relay = SealedMarshaller.of(memory);
        try (Broadcast first = Broadcast.builder().build();
                Broadcast second = Broadcast.builder().build();
                Wire.Ends up = Wire.NETTY.open(service(origin, first));
                Wire.Ends down = Wire.NETTY.open(service(relay, second))) {
            List<Reader<BytesValue>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                readers.add(Reader.plain(down.channel));
            }
            Upstream upstream = new Upstream(second);
            ClientCalls.asyncServerStreamingCall(
                    up.channel.newCall(relay.responses(Feed.SUBSCRIBE), CallOptions.DEFAULT),
                    StringValue.of("topic"),
                    upstream);
            BroadcastTest.await(
                    () -> first.figures().subscribers() == 1 && second.figures().subscribers() == READERS);
            for (int i = 0; i < MESSAGES; i++) {
                try (SealedBuffer message =
                        origin.pack(Feed.SUBSCRIBE.getResponseMarshaller(), Feed.message(i, 8 + i * 700))) {
                    first.publish(message);
                }
            }
            first.complete();
            upstream.end.get(1, TimeUnit.MINUTES);
            for (Reader<BytesValue> reader : readers) {
                assertEquals(LongStream.range(0, MESSAGES).boxed().toList(), reader.read(MESSAGES).numbers);
                reader.end();
            }
            MarshallerFigures figures = relay.figures();
            // gRPC itself moves small pieces of a message to the heap now and then: that one is copied
            assertEquals(MESSAGES, figures.kept() + figures.copied());
            assertTrue(figures.kept() > 0, figures::toString);
            BroadcastTest.await(() -> relay.figures().pinned() == 0);
        }
    }

    private static ServerServiceDefinition service(SealedMarshaller sealed, Broadcast feed) {
        return ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(sealed.responses(Feed.SUBSCRIBE), feed.asHandler())
                .build();
    }

    private record Upstream(Broadcast down, CompletableFuture<Boolean> end) implements StreamObserver<SealedBuffer> {

        Upstream(Broadcast down) {
            this(down, new CompletableFuture<>());
        }

        @Override
        public void onNext(SealedBuffer message) {
            try (message) {
                down.publish(message);
            } catch (InterruptedException failure) {
                throw new AssertionError(failure);
            }
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            down.complete();
            end.complete(true);
        }
    }
}
